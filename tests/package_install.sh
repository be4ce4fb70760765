#!/bin/sh
# Installs into the build folder and builds an example against the result, by
# pkg-config and by find_package(), shared and static. Each must run and print
# the version. Manual pages and completions must be there and not be empty.
#   package_install.sh CMAKE BUILD_DIR EXAMPLE.c CC VERSION
set -eu
cmake=$1 build=$2 example=$3 cc=$4 version=$5
work=$build/package
prefix=$work/prefix
rm -rf "$work"
mkdir -p "$work/consumer"
"$cmake" --install "$build" --prefix "$prefix" >"$work/install.log"

# Runs PROGRAM; KIND tells whether it may need libcrossbayes.so.
check() {
    kind=$1 program=$2
    out=$("$program") || { echo "$program failed" >&2; exit 1; }
    case $out in
    "crossbayes $version"*) ;;
    *) echo "$program printed: $out" >&2; exit 1 ;;
    esac
    needs=$(ldd "$program" | grep -c libcrossbayes || true)
    if [ "$kind" = shared ]; then want=1; else want=0; fi
    [ "$needs" = "$want" ] || { echo "$program is not $kind" >&2; exit 1; }
    echo "$(basename "$program"): $out" | head -n 1
}

for file in man/man1/crossbayes.1 man/man1/crossbayes-fit.1 man/man1/crossbayes-study.1 \
    bash-completion/completions/crossbayes zsh/site-functions/_crossbayes; do
    [ -s "$prefix/share/$file" ] || { echo "$file is not installed" >&2; exit 1; }
done
bash -n "$prefix/share/bash-completion/completions/crossbayes"

pc=$(find "$prefix" -name crossbayes.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
lib=$(pkg-config --variable=libdir crossbayes)
[ "$(pkg-config --modversion crossbayes)" = "$version" ]

# shellcheck disable=SC2046
$cc -std=c17 "$example" $(pkg-config --cflags --libs crossbayes) \
    -Wl,-rpath,"$lib" -o "$work/pkgconfig_shared"
check shared "$work/pkgconfig_shared"

static=$(pkg-config --static --libs crossbayes | sed 's/-lcrossbayes/-l:libcrossbayes.a/')
# shellcheck disable=SC2046,SC2086
$cc -std=c17 "$example" $(pkg-config --cflags crossbayes) $static -o "$work/pkgconfig_static"
check static "$work/pkgconfig_static"

cat >"$work/consumer/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C)
find_package(crossbayes $version REQUIRED)
foreach(kind IN ITEMS shared static)
  add_executable(cmake_\${kind} $example)
  target_link_libraries(cmake_\${kind} PRIVATE crossbayes::\${kind})
endforeach()
END
"$cmake" -S "$work/consumer" -B "$work/consumer/build" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_COMPILER="$cc" >"$work/configure.log"
"$cmake" --build "$work/consumer/build" >"$work/build.log" ||
    { cat "$work/build.log" >&2; exit 1; }
check shared "$work/consumer/build/cmake_shared"
check static "$work/consumer/build/cmake_static"

#!/bin/sh
# Installs into the build folder and builds an example against the core, and a program that
# asks for a study against both libraries, by pkg-config and by find_package(), shared and
# static. Each must run and print the version. Manual pages and completions must be there
# and not be empty.
#   package_install.sh CMAKE BUILD_DIR EXAMPLE.c CC VERSION
set -eu
cmake=$1 build=$2 example=$3 cc=$4 version=$5
work=$build/package
prefix=$work/prefix
rm -rf "$work"
mkdir -p "$work/consumer"
"$cmake" --install "$build" --prefix "$prefix" >"$work/install.log"

# Runs PROGRAM; KIND tells whether it needs the shared libraries, COUNT of them.
check() {
    kind=$1 count=$2 program=$3
    out=$("$program") || { echo "$program failed" >&2; exit 1; }
    case $out in
    "crossbayes $version"*) ;;
    *) echo "$program printed: $out" >&2; exit 1 ;;
    esac
    needs=$(ldd "$program" | grep -c libcrossbayes || true)
    if [ "$kind" = shared ]; then want=$count; else want=0; fi
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
for name in crossbayes crossbayes-studies; do
    soname=$(readelf -d "$lib/lib$name.so" | sed -n 's/.*SONAME.*\[\(.*\)\].*/\1/p')
    [ "$soname" = "lib$name.so.1" ] || { echo "the soname is $soname" >&2; exit 1; }
    [ -e "$lib/$soname" ] || { echo "$soname is not installed" >&2; exit 1; }
done
[ "$(pkg-config --modversion crossbayes)" = "$version" ]

cat >"$work/studies.c" <<END
#include <crossbayes/crossbayes.h>
#include <crossbayes/studies.h>
#include <stdio.h>
int main(void)
{
    xb_ctx *ctx = NULL;
    xb_study *study = NULL;
    xb_study_options quick = xb_study_options_default();
    quick.quick = true;
    if (xb_ctx_create(&ctx) != XB_OK ||
        xb_study_run(ctx, &study, "quadrature", &quick) != XB_OK)
        return 1;
    printf("crossbayes %s, %d facts\\n", xb_version(), xb_study_fact_count(study));
    xb_study_destroy(study);
    xb_ctx_destroy(ctx);
    return 0;
}
END

# NAME SOURCE PACKAGE COUNT: by pkg-config, in both forms.
by_pkgconfig() {
    name=$1 source=$2 package=$3 count=$4
    # shellcheck disable=SC2046
    $cc -std=c17 "$source" $(pkg-config --cflags --libs "$package") \
        -Wl,-rpath,"$lib" -o "$work/${name}_shared"
    check shared "$count" "$work/${name}_shared"
    static=$(pkg-config --static --libs "$package" |
        sed -E 's/-l(crossbayes[a-z-]*)/-l:lib\1.a/g')
    # shellcheck disable=SC2046,SC2086
    $cc -std=c17 "$source" $(pkg-config --cflags "$package") $static -o "$work/${name}_static"
    check static "$count" "$work/${name}_static"
}
by_pkgconfig pkgconfig "$example" crossbayes 1
by_pkgconfig pkgconfig_studies "$work/studies.c" crossbayes-studies 2

cat >"$work/consumer/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C)
find_package(crossbayes $version REQUIRED)
find_package(crossbayes-studies $version REQUIRED)
foreach(kind IN ITEMS shared static)
  add_executable(cmake_\${kind} $example)
  target_link_libraries(cmake_\${kind} PRIVATE crossbayes::\${kind})
  add_executable(cmake_studies_\${kind} $work/studies.c)
  target_link_libraries(cmake_studies_\${kind} PRIVATE crossbayes::studies_\${kind})
endforeach()
END
"$cmake" -S "$work/consumer" -B "$work/consumer/build" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_COMPILER="$cc" >"$work/configure.log"
"$cmake" --build "$work/consumer/build" >"$work/build.log" ||
    { cat "$work/build.log" >&2; exit 1; }
for kind in shared static; do
    check $kind 1 "$work/consumer/build/cmake_$kind"
    check $kind 2 "$work/consumer/build/cmake_studies_$kind"
done

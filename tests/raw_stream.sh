#!/bin/sh
# raw_stream.sh RAW_STREAM: dieharder (Brown, Eddelbuettel, Bauer) on the raw words, in
# every order of addresses, and on a broken stream, which must fail. Runs with XB_LONG=1
# where dieharder is installed; some minutes. A FAILED is p < 1e-6 by dieharder's own
# measure (0.000001 of either end): with some 60 p-values one run in 10^4 of a good
# generator. The seed is fixed, so a pass stays one.
set -eu
raw=$1
long=${XB_LONG:-0}
if [ -z "$long" ] || [ "$long" = 0 ]; then
    echo "skipped: dieharder on the raw words (XB_LONG=1)"
    exit 77
fi
command -v dieharder > /dev/null || {
    echo "skipped: dieharder is not installed"
    exit 77
}
results=$(mktemp)
trap 'rm -f "$results"' EXIT

# battery KIND TESTS...: numbers of dieharder's list (dieharder -l)
battery() {
    kind=$1
    shift
    for test in "$@"; do
        "$raw" "$kind" | dieharder -g 200 -d "$test" -D test_name -D ntuple -D pvalues \
            -D assessment | grep '|' | sed "s/^/$kind: /" >> "$results"
    done
}

full="0 2 3 8 9 10 11 12 13 15 16 17 100 101 102 200 205 206 207 208 209"
few="2 8 15 100 101 205"
# shellcheck disable=SC2086
battery elements ${XB_DIEHARDER:-$full}
for kind in tensors samples steps seeds; do
    # shellcheck disable=SC2086
    battery $kind ${XB_DIEHARDER:-$few}
done
cat "$results"
weak=$(grep -c WEAK "$results" || true)
count=$(grep -c . "$results")
failed=$(grep -c FAILED "$results" || true)
echo "raw_stream: $count p-values, $weak weak, $failed failed"
[ "$failed" = 0 ] && [ "$count" -gt 10 ]

: > "$results"
battery broken 15 100 205
grep -q FAILED "$results" || {
    cat "$results"
    echo "raw_stream: a broken stream is not noticed" >&2
    exit 1
}
echo "raw_stream: a broken stream fails, as it must"

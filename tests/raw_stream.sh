#!/bin/sh
# raw_stream.sh RAW_STREAM: dieharder (Brown, Eddelbuettel, Bauer) on the raw words, in
# every order of addresses, and on a broken stream, which must fail. XB_LONG=1 runs two tests
# on each order, XB_LONG=2 all of them, which takes 19 minutes ($XB_DIEHARDER runs the tests
# that it names instead). Skips itself where dieharder is not installed.
#
# The rule: FAILED decides, nothing else. That is a p-value within 1e-6 of either end: with
# some hundred of them, one run in 5000 of a good generator. One in a hundred is WEAK
# (within 0.005); dieharder itself then goes on with 100 more samples at a time until the
# test passes or fails (-Y 1 -k 2), so nobody has to judge it. Of tests that give many
# p-values the first decides that, and others may stay WEAK; the script prints their count. The
# words are the same every time, so a pass stays one.
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

# battery KIND TESTS...: numbers of dieharder's list (dieharder -l), with :N where a test
# wants to know how many bits are a symbol; each must give p-values
battery() {
    kind=$1
    shift
    for test in "$@"; do
        before=$(wc -l < "$results")
        case $test in *:*) bits="-n ${test#*:}" ;; *) bits= ;; esac
        # shellcheck disable=SC2086
        "$raw" "$kind" | dieharder -g 200 -d "${test%:*}" $bits -Y 1 -k 2 -D test_name \
            -D ntuple -D pvalues -D assessment | grep '|' | sed "s/^/$kind: /" |
            tee -a "$results"
        if [ "$(wc -l < "$results")" = "$before" ]; then
            echo "raw_stream: no p-value of test $test on $kind" >&2
            exit 1
        fi
    done
}

full="0 2 3 8 9 10 11 12 13 15 16 17 100 101 102 200:8 205 206 207 208 209"
few="2 8 15 100 101 205"
if [ "$long" != 2 ]; then
    full="15 100" few="15 100"
fi
# shellcheck disable=SC2086
battery elements ${XB_DIEHARDER:-$full}
for kind in tensors samples steps seeds; do
    # shellcheck disable=SC2086
    battery $kind ${XB_DIEHARDER:-$few}
done
weak=$(grep -c WEAK "$results" || true)
count=$(grep -c . "$results")
failed=$(grep -c FAILED "$results" || true)
echo "raw_stream: $count p-values, $weak weak, $failed failed"
if [ "$failed" != 0 ]; then exit 1; fi

: > "$results"
battery broken 15 100 205
grep -q FAILED "$results" || {
    echo "raw_stream: a broken stream is not noticed" >&2
    exit 1
}
echo "raw_stream: a broken stream fails, as it must"

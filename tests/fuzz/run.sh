#!/bin/sh
# Runs every fuzz target for some seconds, two at a time, each from its seeds; stops with
# an error if one of them broke. What broke it is left beside the program and belongs
# into the seeds once it is mended.
#   run.sh BUILD_DIR SECONDS [TARGET...]
set -u
build=$(cd "$1/tests/fuzz" && pwd) seconds=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)

run_one() {
    target=$1
    mkdir -p "$build/corpus/$target"
    if "$build/fuzz_$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 \
        -malloc_limit_mb=1024 -dict="$here/words.dict" \
        -artifact_prefix="$build/broken-$target-" "$build/corpus/$target" \
        "$here/seeds/$target" >"$build/$target.log" 2>&1; then
        echo "$target: $(grep -o 'Done [0-9]* runs' "$build/$target.log")"
    else
        echo "$target: BROKEN, see $build/$target.log" >&2
        return 1
    fi
}

failed=0
if [ $# -eq 0 ]; then
    for target in "$here"/seeds/*; do set -- "$@" "$(basename "$target")"; done
fi
while [ $# -gt 0 ]; do
    run_one "$1" &
    first=$!
    second=
    if [ $# -gt 1 ]; then
        run_one "$2" &
        second=$!
        shift
    fi
    shift
    wait "$first" || failed=1
    [ -z "$second" ] || wait "$second" || failed=1
done
exit $failed

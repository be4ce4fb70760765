#!/bin/sh
# The tests of a build with XB_TSAN under ThreadSanitizer.
#   run.sh BUILD_DIR [ctest's options]
#
# Other people's code is not instrumented (OpenBLAS, jansson, libjpeg): what happens within
# it is not judged. There are no suppressions. tsan_race shows that a race of ours is found,
# tsan_lock and tsan_slots that what is shared soundly is not called one.
set -eu
build=$1
shift
export TSAN_OPTIONS="ignore_noninstrumented_modules=1 halt_on_error=1 exitcode=66"
cd "$build"
exec ctest --output-on-failure --timeout 3600 "$@"

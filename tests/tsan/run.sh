#!/bin/sh
# The tests of a build with XB_TSAN under ThreadSanitizer.
#   run.sh BUILD_DIR [ctest's options]
#
# GNU's OpenMP is not instrumented: every barrier and lock of it would look like a race.
# LLVM's tells the sanitizer of them through Archer, a tool that libomp loads here. Other
# people's code is not instrumented either (OpenBLAS, jansson, libjpeg): what happens
# within it is not judged. There are no suppressions. tsan_race shows that a race of ours
# is found, tsan_lock and tsan_slots that what is shared soundly is not called one.
set -eu
build=$1
shift
archer=$(find /usr/lib/llvm-*/lib -name libarcher.so | sort | tail -n 1)
[ -n "$archer" ] || { echo "no libarcher.so; tools/install-deps.sh fuzz" >&2; exit 1; }
export OMP_TOOL_LIBRARIES="$archer"
export TSAN_OPTIONS="ignore_noninstrumented_modules=1 halt_on_error=1 exitcode=66"
cd "$build"
exec ctest --output-on-failure --timeout 3600 "$@"

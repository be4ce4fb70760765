#!/bin/sh
# Every public header compiles alone, as C17 and as C++17, without a warning.
#   package_headers.sh CC CXX INCLUDE_DIR...
set -eu
cc=$1 cxx=$2
shift 2
flags="-Wall -Wextra -Wpedantic -Werror -fsyntax-only"
for include in "$@"; do flags="$flags -I$include"; done
count=0
for include in "$@"; do
    for header in "$include"/crossbayes/*.h; do
        line="#include \"crossbayes/$(basename "$header")\""
        # shellcheck disable=SC2086
        echo "$line" | $cc -std=c17 $flags -x c - || { echo "$header: not C17" >&2; exit 1; }
        # shellcheck disable=SC2086
        echo "$line" | $cxx -std=c++17 $flags -x c++ - ||
            { echo "$header: not C++17" >&2; exit 1; }
        count=$((count + 1))
    done
done
[ "$count" -ge 10 ] || { echo "only $count headers in $*" >&2; exit 1; }
echo "$count headers, C17 and C++17"

#!/bin/sh
# Every public header compiles alone, and all of them together in both orders, as C11,
# C17 and C++17, by every compiler there is, without a warning.
#   package_headers.sh "CC CXX" ... -- INCLUDE_DIR...
set -eu
compilers=
while [ "$1" != -- ]; do
    compilers="$compilers
$1"
    shift
done
shift
flags="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wcast-qual -Werror -fsyntax-only"
headers=
for include in "$@"; do
    flags="$flags -I$include"
    for header in "$include"/crossbayes/*.h; do headers="$headers $(basename "$header")"; done
done
backwards=
for header in $headers; do backwards="$header $backwards"; done

# compile WHAT HEADER...
compile() {
    what=$1
    shift
    text=$(for header in "$@"; do echo "#include \"crossbayes/$header\""; done)
    for language in c11 c17 c++17; do
        case $language in
        c++*) compiler=$cxx type=c++ ;;
        *) compiler=$cc type=c ;;
        esac
        # shellcheck disable=SC2086
        echo "$text" | $compiler -std=$language $flags -x $type - ||
            { echo "$what: not $language for $compiler" >&2; exit 1; }
    done
}

count=0 pairs=0
while read -r cc cxx; do
    [ -n "$cc" ] || continue
    pairs=$((pairs + 1)) count=0
    for header in $headers; do
        compile "$header" "$header"
        count=$((count + 1))
    done
    # shellcheck disable=SC2086
    compile "all headers" $headers
    # shellcheck disable=SC2086
    compile "all headers, last first" $backwards
done <<LIST
$compilers
LIST
[ "$count" -ge 10 ] || { echo "only $count headers in $*" >&2; exit 1; }
[ "$pairs" -ge 1 ] || { echo "no compiler to try" >&2; exit 1; }
echo "$count headers, C11, C17 and C++17, $pairs compilers"
[ "$pairs" -ge 2 ] || echo "skipped: there is one compiler only, not GCC and clang"

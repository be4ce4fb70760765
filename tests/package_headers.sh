#!/bin/sh
# Every public header compiles alone as C17 by the first compiler, and all of them together in
# both orders as C11, C17 and C++17 by every compiler there is, without a warning. With
# XB_LONG=1 each alone, too, in every language by every compiler.
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

# compile WHAT "LANGUAGE ..." HEADER...
compile() {
    what=$1 languages=$2
    shift 2
    text=$(for header in "$@"; do echo "#include \"crossbayes/$header\""; done)
    for language in $languages; do
        case $language in
        c++*) compiler=$cxx type=c++ ;;
        *) compiler=$cc type=c ;;
        esac
        # shellcheck disable=SC2086
        echo "$text" | $compiler -std=$language $flags -x $type - ||
            { echo "$what: not $language for $compiler" >&2; exit 1; }
    done
}

every="c11 c17 c++17"
alone=c17
[ "${XB_LONG:-0}" = 0 ] || alone=$every
pairs=0
while read -r cc cxx; do
    [ -n "$cc" ] || continue
    pairs=$((pairs + 1))
    for header in $headers; do
        [ "$pairs" = 1 ] || [ "$alone" = "$every" ] || continue
        compile "$header" "$alone" "$header"
    done
    # shellcheck disable=SC2086
    compile "all headers" "$every" $headers
    # shellcheck disable=SC2086
    compile "all headers, last first" "$every" $backwards
done <<LIST
$compilers
LIST
tried=$(echo "$headers" | wc -w)
[ "$tried" -ge 10 ] || { echo "only $tried headers in $*" >&2; exit 1; }
[ "$pairs" -ge 1 ] || { echo "no compiler to try" >&2; exit 1; }
echo "$tried headers, C11, C17 and C++17, $pairs compilers"
[ "$pairs" -ge 2 ] || echo "skipped: there is one compiler only, not GCC and clang"

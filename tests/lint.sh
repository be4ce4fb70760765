#!/bin/sh
# clang-tidy (checks in .clang-tidy) and cppcheck over every C file that git knows; fails
# if either has a word to say.
#   lint.sh BUILD_DIR [FILE...]
#
# cppcheck: warnings, performance and portability. Left out, each for its reason:
#   missingIncludeSystem, toomanyconfigs   it need not read the system's headers
#   unknownMacro         cmocka's and jansson's loops
#   uninitvar, legacyUninitvar   it does not follow arrays that a loop fills; clang's analyser,
#                        the compiler and valgrind look for the same
#   invalidFunctionArg   log(0) is -inf, and meant
#   ignoredReturnValue   it takes a compound literal's value for a statement
#   one of each: a cast between parts of one block, all of whole cache lines (pass.c); a
#   buffer's address that came in a local struct, taken for the struct's (pass.c); the
#   address of a local in a job that ends with it (draws.c); an
#   index that the table's length bounds in another file (cmd_eval.c); a count of digits
#   that the caller bounds by the length of the table (number.c)
set -eu
build=$1
shift
[ $# -gt 0 ] || set -- $(git ls-files 'src/*.c' 'studies/*.c' 'cli/*.c' 'examples/*.c' 'tests/*.c')

cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 --language=c -j2 \
    --enable=warning,performance,portability --suppress=missingIncludeSystem \
    --suppress=toomanyconfigs --suppress=unknownMacro --suppress=uninitvar --suppress=legacyUninitvar \
    --suppress=invalidFunctionArg --suppress=ignoredReturnValue \
    --suppress=invalidPointerCast:src/run/pass.c \
    --suppress=returnDanglingLifetime:src/run/pass.c \
    --suppress=autoVariables:src/predict/draws.c \
    --suppress=arrayIndexOutOfBoundsCond:cli/cmd_eval.c \
    --suppress=arrayIndexOutOfBoundsCond:src/data/number.c \
    -D__x86_64__ -DXB_SOURCE_DIR='""' -DXB_FIXTURES='""' -Iinclude -Isrc -Istudies/include -Istudies -Icli -Itests "$@"

# Only what is compiled has a command line for clang-tidy to go by; some flags are GCC's.
mkdir -p "$build/lint"
sed 's/-fno-thread-jumps//; s/-fno-var-tracking//' "$build/compile_commands.json" >"$build/lint/compile_commands.json"
for file in "$@"; do
    grep -q "\"file\": \".*/$file\"" "$build/compile_commands.json" && echo "$file"
done | xargs -n1 -P2 clang-tidy -p "$build/lint" --quiet
echo "lint: $# files"

#!/bin/sh
# The program and the shared libraries are hardened as cmake/flags.cmake has it: read from
# the files themselves. A program built without any of it must be caught.
#   package_hardening.sh READELF CC WORK_DIR PROGRAM LIBRARY...
set -eu
readelf=$1 cc=$2 work=$3
shift 3

# Prints what FILE lacks.
lacks() {
    file=$1
    header=$("$readelf" -hW "$file")
    segments=$("$readelf" -lW "$file")
    dynamic=$("$readelf" -dW "$file")
    symbols=$("$readelf" --dyn-syms -W "$file")
    echo "$header" | grep -q 'Type: *DYN' || echo "position-independent code"
    echo "$segments" | grep -q GNU_RELRO || echo "relocations read-only (RELRO)"
    echo "$dynamic" | grep -Eq 'BIND_NOW|Flags:.*NOW' || echo "all symbols bound at start"
    echo "$segments" | grep 'GNU_STACK' | grep -q 'RW ' || echo "a stack without code"
    echo "$dynamic" | grep -q TEXTREL && echo "code without relocations"
    echo "$symbols" | grep -q __stack_chk_fail || echo "stack canaries"
    echo "$symbols" | grep -Eq '__[a-z]+_chk' || echo "checked copies (_FORTIFY_SOURCE)"
    return 0
}

for file in "$@"; do
    missing=$(lacks "$file")
    [ -z "$missing" ] || { echo "$file lacks:"; echo "$missing"; exit 1; }
done

mkdir -p "$work"
echo 'int main(void) { return 0; }' >"$work/bare.c"
"$cc" -no-pie -fno-stack-protector -U_FORTIFY_SOURCE \
    -Wl,-z,norelro,-z,lazy,-z,execstack "$work/bare.c" -o "$work/bare"
count=$(lacks "$work/bare" | wc -l)
[ "$count" -eq 6 ] || { echo "a bare program lacks $count of 6"; lacks "$work/bare"; exit 1; }
echo "program and libraries: PIE, RELRO, now, stack without code, canaries, checked copies"

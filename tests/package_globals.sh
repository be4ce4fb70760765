#!/bin/sh
# The libraries have no variables: nothing of them lies in memory that can be written to, or
# in memory of a thread. Tables of constants with addresses in them are written by the
# loader and then read-only (.data.rel.ro). A library with a variable must be caught.
#   package_globals.sh OBJDUMP CC WORK_DIR LIBRARY...
set -eu
objdump=$1 cc=$2 work=$3
shift 3

# What the compiler's own start and end files bring along:
#   completed.0, __dso_handle, __TMC_END__ and the names of the sections themselves;
#   __cpu_model and __cpu_features2, which libgcc fills once, before main, for
#   __builtin_cpu_supports().
allowed='^(completed\.[0-9]+|__dso_handle|__TMC_END__|__bss_start|_edata|_end|__cpu_(model|features2)|\.[a-z.]+)$'

variables() {
    "$objdump" -t "$1" | awk -F '\t' '
        { n = split($1, left, " "); m = split($2, right, " ") }
        left[n] ~ /^\.(data|bss|tdata|tbss)$/ { print right[m] }' |
        grep -Ev "$allowed" || true
}

for library in "$@"; do
    found=$(variables "$library")
    [ -z "$found" ] || { echo "variables in $library:"; echo "$found"; exit 1; }
    total=$("$objdump" -t "$library" | grep -c ' xb_')
    [ "$total" -ge 100 ] || { echo "$library has only $total symbols"; exit 1; }
    echo "no variables among $total symbols of $(basename "$library")"
done

mkdir -p "$work"
cat >"$work/planted.c" <<END
static int zero, one = 1;
_Thread_local int own;
int all(void);
int all(void) { static int inner; return zero++ + one++ + own++ + inner++; }
END
"$cc" -shared -fPIC "$work/planted.c" -o "$work/planted.so"
count=$(variables "$work/planted.so" | wc -l)
[ "$count" -eq 4 ] || { echo "$count of 4 planted variables found"; exit 1; }

#!/bin/sh
# The shared libraries export xb_ names and no others, and ask for nothing that prints,
# ends the process, catches its signals or changes what belongs to all of it.
#   package_symbols.sh NM LIBRARY...
set -eu
nm=$1
shift
for library in "$@"; do
    names=$("$nm" -D --defined-only "$library" | awk '{ print $3 }' | sed 's/@.*//')
    others=$(echo "$names" | grep -v '^xb_' || true)
    # What the sanitisers put into every library they instrument.
    others=$(echo "$others" | grep -Ev '^(__asan|__odr_asan|__ubsan|__lsan|___asan)' || true)
    [ -z "$others" ] || { echo "$library exports:" $others >&2; exit 1; }
    count=$(echo "$names" | grep -c '^xb_')
    [ "$count" -ge 20 ] || { echo "$library exports only $count xb_ names" >&2; exit 1; }

    wanted=$("$nm" -D --undefined-only "$library" | awk '{ print $2 }' | sed 's/@.*//')
    prints='v?printf|__v?printf_chk|puts|putchar|perror|stdout|stderr|v?syslog'
    ends='_?exit|_Exit|quick_exit|abort|raise|kill|signal|sigaction|sigprocmask|alarm'
    shares='umask|setlocale|chdir|setenv|putenv|s?random|s?rand|system|popen|tmpnam|strtok'
    loud=$(echo "$wanted" | grep -Ex "$prints|$ends|$shares" || true)
    [ -z "$loud" ] || { echo "$library calls:" $loud >&2; exit 1; }
    echo "$wanted" | grep -qx free || { echo "$library asks for nothing?" >&2; exit 1; }
    echo "$count symbols, all xb_; no printing, no exit, no signals"
done

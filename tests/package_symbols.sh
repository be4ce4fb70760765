#!/bin/sh
# The shared library exports xb_ names and no others.
#   package_symbols.sh NM LIBRARY
set -eu
nm=$1 library=$2
names=$("$nm" -D --defined-only "$library" | awk '{ print $3 }' | sed 's/@.*//')
others=$(echo "$names" | grep -v '^xb_' || true)
# What the sanitisers put into every library they instrument.
others=$(echo "$others" | grep -Ev '^(__asan|__odr_asan|__ubsan|__lsan|___asan)' || true)
[ -z "$others" ] || { echo "$library exports:" $others >&2; exit 1; }
count=$(echo "$names" | grep -c '^xb_')
[ "$count" -ge 20 ] || { echo "$library exports only $count xb_ names" >&2; exit 1; }
echo "$count symbols, all xb_"

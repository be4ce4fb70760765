#!/bin/sh
# A GPU that is missing, too old, too small, or breaks down at any call: one clear line, the
# program's code, and no file half written. The module is the emulated one, whose driver
# fails as the environment says (cuda_emulated.cpp).
#   cuda_faults.sh PROGRAM MODULE WORK_DIR
set -eu
program=$1 module=$2 work=$3
rm -rf "$work" && mkdir -p "$work" && cd "$work"

awk 'BEGIN { print "x,y"; for (i = 0; i < 60; i++) print i / 60 "," (i % 7) / 7 }' >d.csv

fail() { echo "$*"; cat err; exit 1; }

# train NAME=VALUE...: with these in the environment; its code in $code, stderr in err
train() {
    code=0
    env CROSSBAYES_CUDA="$module" "$@" "$program" train d.csv --target y -o m.safetensors -q \
        --net 'dense 4, elu, dense 1' --mle-epochs 1 --epochs 1 --backend cuda \
        >out 2>err || code=$?
}

# refused CODE TEXT: one line that has TEXT, and nothing else is left
refused() {
    [ "$code" -eq "$1" ] || fail "ended with $code, expected $1"
    [ "$(wc -l <err)" -eq 1 ] || fail "expected one line"
    grep -q "$2" err || fail "expected: $2"
    left=$(ls -A | grep -v -e '^d.csv$' -e '^out$' -e '^err$' -e '^m.checkpoint$' || true)
    [ -z "$left" ] || fail "left behind: $left"
}

train CROSSBAYES_CUDA=/nowhere.so
refused 2 'nowhere.so cannot be loaded'
train XB_EMULATED_DEVICES=0
refused 2 'there is no GPU to use: the driver finds no device'
train XB_EMULATED_DEVICES=-1
refused 2 'there is no GPU to use: no CUDA-capable device'
train XB_EMULATED_MAJOR=7
refused 2 'there is no GPU to use: the device is of generation 7, expected 8 or later'
train XB_EMULATED_MEMORY=4096
refused 1 'the GPU has no .* bytes of memory left'

# It trains when nothing fails, and then at call after call that does.
train XB_EMULATED_FAIL=0
[ "$code" -eq 0 ] || fail "does not train"
[ -s m.safetensors ] || fail "no model"
rm -f m.safetensors m.checkpoint
call=1 tried=0
while [ "$call" -lt 100000 ]; do
    train XB_EMULATED_FAIL=$call
    [ "$code" -ne 0 ] || break
    case $code in
    2) refused 2 'there is no GPU to use: unspecified launch failure' ;;
    *) refused 1 'the GPU failed while ' ;;
    esac
    rm -f m.checkpoint
    tried=$((tried + 1)) call=$((call + 1 + call / 6))
done
[ "$tried" -gt 20 ] || fail "only $tried calls failed"
[ -s m.safetensors ] || fail "no model after the last call"
echo "$tried calls that failed, up to number $call"

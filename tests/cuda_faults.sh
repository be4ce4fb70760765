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
    left=$(ls -A | grep -v -e '^d.csv$' -e '^out$' -e '^err$' -e '^m.safetensors.checkpoint$' || true)
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

# `sample` has the bytes of the CPU, or one line and no file.
sample() {
    code=0
    env CROSSBAYES_CUDA="$module" "$@" "$program" sample mtj:B=0.15,w=0.5 -n 1000 -q -o z.npy \
        --backend cuda >out 2>err || code=$?
}
"$program" sample mtj:B=0.15,w=0.5 -n 1000 -q -o here.npy
sample XB_EMULATED_FAIL=0
[ "$code" -eq 0 ] || fail "does not sample"
cmp here.npy z.npy || fail "other bytes than on the CPU"
rm here.npy z.npy
sample XB_EMULATED_DEVICES=0
refused 2 'there is no GPU to use: the driver finds no device'
sample XB_EMULATED_MEMORY=2048
refused 1 'the GPU has no .* bytes of memory left'
sample XB_EMULATED_FAIL=12
refused 1 'the GPU failed while '
code=0
env CROSSBAYES_CUDA=/nowhere.so "$program" sample mtj -n 5 -q -o - --backend cuda \
    >out 2>err || code=$?
refused 2 'nowhere.so cannot be loaded'
[ ! -s out ] || fail "the text was begun"

# `auto` takes the GPU for a net that is large enough, quietly the CPU where there is none;
# a net this large takes the emulation minutes, so that the GPU is one that fails at once.
auto() {
    code=0
    env CROSSBAYES_CUDA="$module" "$@" "$program" train d.csv --target y -o m.safetensors -q \
        --net "$net" --mle-epochs 0 --epochs 1 --threads 1 --backend auto >out 2>err || code=$?
}
net='dense 500, relu, dense 500, relu, dense 1'
auto XB_EMULATED_DEVICES=0
[ "$code" -eq 0 ] || fail "auto does not train without a GPU"
rm m.safetensors
auto XB_EMULATED_FAIL=12
refused 1 'the GPU failed while '
rm -f m.safetensors.checkpoint
net='dense 4, elu, dense 1'
auto XB_EMULATED_FAIL=12
[ "$code" -eq 0 ] || fail "auto gives a small net to the GPU"
rm -f m.safetensors m.safetensors.checkpoint

# Ctrl-C: one line, a checkpoint and no model; from there it goes on.
endless() {
    code=0
    env CROSSBAYES_CUDA="$module" timeout --preserve-status --foreground -s INT 0.7 "$program" \
        train d.csv --target y -o m.safetensors -q --net 'dense 4, elu, dense 1' \
        --mle-epochs 1 --epochs "$1" --backend cuda $2 >out 2>err || code=$?
}
endless 100000 ''
refused 130 'stopped'
[ -s m.safetensors.checkpoint ] || fail "no checkpoint"
endless 100000 --resume
refused 130 'stopped'
rm -f m.safetensors.checkpoint

# It trains when nothing fails, and then at call after call that does.
train XB_EMULATED_FAIL=0
[ "$code" -eq 0 ] || fail "does not train"
[ -s m.safetensors ] || fail "no model"
rm -f m.safetensors m.safetensors.checkpoint
call=1 tried=0
while [ "$call" -lt 100000 ]; do
    train XB_EMULATED_FAIL=$call
    [ "$code" -ne 0 ] || break
    case $code in
    2) refused 2 'there is no GPU to use: unspecified launch failure' ;;
    *) refused 1 'the GPU failed while ' ;;
    esac
    rm -f m.safetensors.checkpoint
    tried=$((tried + 1)) call=$((call + 1 + call / 12))
done
[ "$tried" -gt 20 ] || fail "only $tried calls failed"
[ -s m.safetensors ] || fail "no model after the last call"
echo "$tried calls that failed, up to number $call"

#!/bin/bash
# ranks_hosts.sh PROGRAM SWITCH DELAY_MS: ranks of Open MPI on hosts of their own, as network
# namespaces with TCP between them, each frame delayed by DELAY_MS (SWITCH, built from
# tests/delayed_switch.c): the bytes of one process, and how long it took. Needs root, ip and
# the kernel's tap devices; says "skipped" and exits 77 without them.
# With RANKS_RUN="RANKS ARGS..." it runs that command on as many hosts instead and prints
# its seconds (bench/bench_ranks.py).
set -u
program=$(realpath "$1")
switch=$(realpath "$2")
delay=${3:-0}
hosts=${HOSTS:-4}
tag=xb$$
work=$(mktemp -d)

skip() { echo "skipped: $1"; rm -rf "$work"; exit 77; }
command -v ip >/dev/null || skip "ip (iproute2) is not installed"
command -v mpirun.openmpi >/dev/null || skip "Open MPI is not installed"
[ "${XB_LONG:-0}" != 0 ] || [ -n "${RANKS_RUN:-}" ] || skip "XB_LONG is not set (make check-long)"
[ -c /dev/net/tun ] || skip "the kernel has no tap devices"
[ "$(id -u)" = 0 ] || skip "network namespaces need root"
ip netns add "$tag-0" 2>/dev/null || skip "network namespaces cannot be made here"
ip netns del "$tag-0"

switch_pid=
tidy() {
    [ -z "$switch_pid" ] || kill "$switch_pid" 2>/dev/null
    for h in $(seq 0 "$hosts"); do ip netns del "$tag-$h" 2>/dev/null; done
    rm -rf "$work"
}
trap tidy EXIT

# Host 0 starts the job; hosts 1 to N have one rank each.
names=
for h in $(seq 0 "$hosts"); do
    ip netns add "$tag-$h"
    names="$names $tag-$h"
done
# shellcheck disable=SC2086
"$switch" "$(awk -v ms="$delay" 'BEGIN { printf "%d", 1000 * ms }')" $names > "$work/switch" &
switch_pid=$!
for _ in $(seq 100); do
    grep -qs ready "$work/switch" && break
    kill -0 "$switch_pid" 2>/dev/null || skip "the switch cannot attach to tap devices"
    sleep 0.05
done
for h in $(seq 0 "$hosts"); do
    [ "$h" = 0 ] && address=10.77.0.254/24 || address=10.77.0.$h/24
    ip -n "$tag-$h" link set lo up
    ip -n "$tag-$h" link set xb0 mtu 60000 up
    ip -n "$tag-$h" addr add "$address" dev xb0
done
# Each daemon of Open MPI with a folder of its own: on one file system they would make the same.
cat > "$work/agent" <<AGENT
#!/bin/sh
host=\${1##*.}
shift
mkdir -p "$work/tmp-\$host"
TMPDIR="$work/tmp-\$host" exec ip netns exec $tag-\$host sh -c "\$*"
AGENT
chmod +x "$work/agent"

on_hosts() { # RANKS ARGS...
    local ranks=$1 list=
    shift
    for h in $(seq 1 "$ranks"); do list=$list,10.77.0.$h:1; done
    # the hosts share the cores of one machine, and all ranks are to work
    CROSSBAYES_OVERSUBSCRIBE=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 300 \
        ip netns exec "$tag-0" mpirun.openmpi --mca plm rsh --mca plm_rsh_agent "$work/agent" \
        --mca btl tcp,self --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 \
        --bind-to none --host "${list#,}" --wdir "$PWD" -x PATH -x CROSSBAYES_OVERSUBSCRIBE "$program" "$@"
}

if [ -n "${RANKS_RUN:-}" ]; then
    eval "set -- $RANKS_RUN"
    begin=$(date +%s.%N)
    on_hosts "$@" > "$work/out" 2> "$work/err" || { cat "$work/err" >&2; exit 1; }
    echo "$(date +%s.%N) $begin" | awk '{print $1 - $2}'
    exit 0
fi

cd "$work" || exit 1
python3 - <<'PY'
import struct
n, side = 60, 28
state = 7
pixels = bytearray()
for _ in range(n * side * side):
    state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
    pixels.append(state >> 56)
open("i-images-idx3-ubyte", "wb").write(struct.pack(">IIII", 0x803, n, side, side) + bytes(pixels))
open("i-labels-idx1-ubyte", "wb").write(struct.pack(">II", 0x801, n) + bytes(i % 3 for i in range(n)))
with open("t.csv", "w") as f:
    f.write("a,y\n" + "".join(f"{i / 10},{i % 7}\n" for i in range(80)))
PY
net='conv 32, relu, maxpool 2, batchnorm, conv 8, relu, batchnorm, flatten, dense 3'
"$program" train t.csv -t y --net 'dense 8, relu, dense 1' --epochs 9 --mle-epochs 9 -q -o m.safetensors
failed=0
check() { # NAME ARGS..., which end in -o OUTPUT
    local name=$1 output=${*: -1}
    shift
    "$program" "$@" -q > out || { echo "$name: one process failed"; failed=1; return; }
    mv "$output" whole
    for ranks in 2 3 4; do
        begin=$(date +%s.%N)
        if on_hosts "$ranks" "$@" -q > out 2> err && diff -r "$output" whole > /dev/null; then
            echo "$name on $ranks hosts, ${delay} ms: the same bytes, $(echo "$(date +%s.%N) $begin" | awk '{printf "%.2f", $1 - $2}') s"
        else
            echo "$name on $ranks hosts, ${delay} ms: FAILED"
            cat err
            failed=1
        fi
        rm -rf "$output"
    done
    rm -rf whole
}
check train train i-images-idx3-ubyte --net "$net" --batch 48 --epochs 2 --mle-epochs 1 --threads 1 -o n.safetensors
check predict predict m.safetensors t.csv --draws 400 --threads 1 -o p.csv
check study study energy --quick --widths 1,2,3,4 --depths 1 --seeds 1 --format svg -o nets
exit $failed

#!/usr/bin/env python3
"""Seconds of a training step that ranks share, on hosts of their own (network namespaces,
tests/ranks_hosts.sh) with a delay on every frame, the model M3 of docs/maths.md fitted to some
of the points and compared with the others, and what it says of many cores.
    bench_ranks.py PROGRAM SWITCH [OUT] [--points FILE]
SWITCH is tests/delayed_switch of the build. Needs root, for the namespaces; --points takes measurements of an earlier run instead. Writes
ranks.json, ranks.dat, ranks.gp and ranks.svg into OUT [.]."""

import argparse
import json
import math
import os
import struct
import subprocess
import tempfile

from figure import run_gnuplot

BATCH, IMAGES, SIDE = 48, 480, 28
NET = "conv 32, relu, maxpool 2, batchnorm, conv 8, relu, batchnorm, flatten, dense 3"
NORMS = 2  # of NET's dealt layers
WEIGHTS = 32 * 9 + 32 + 8 * 32 * 9 + 8  # of these layers
EDGE = 14 * 14 * 8  # numbers an example at the last dealt layer
FITTED = [(1, 0), (2, 0), (2, 2), (2, 5), (4, 0), (4, 2), (4, 5)]  # ranks, ms
HELD_OUT = [(2, 1), (3, 0), (3, 2), (8, 0), (8, 2)]
HERE = os.path.dirname(os.path.abspath(__file__))


# ---- the model (M3)

def blocks_of(batch):
    per = min(-(-batch // 16), 16)
    return per, -(-batch // per)


def cuts_of(batch, ranks):
    per, count = blocks_of(batch)
    cut = [min(max((r * batch + ranks * per // 2) // (ranks * per), r > 0), count)
           for r in range(ranks + 1)]
    cut[ranks] = count
    return per, cut


def largest_share(batch, ranks):
    per, cut = cuts_of(batch, ranks)
    rows = [min(cut[r + 1] * per, batch) - min(cut[r] * per, batch) for r in range(ranks)]
    return max(rows) / batch


def sum_swaps(batch, ranks):
    """Swaps one after the other until the tree's root has all parts."""
    _, cut = cuts_of(batch, ranks)
    count = cut[-1]
    owner = [next(r for r in range(ranks) if p < cut[r + 1]) for p in range(count)]
    late = [0] * count
    step = 1
    while step < count:
        for at in range(0, count - step, 2 * step):
            late[at] = max(late[at], late[at + step] + (owner[at] != owner[at + step]))
        step *= 2
    return late[0]


def rounds(ranks):
    return math.ceil(math.log2(ranks)) if ranks > 1 else 0


def terms(net, ranks, cores=None):
    """Of T = S + C share + l swaps + bytes/B: share, swaps, bytes on the longest way."""
    gathers, deep = 3 * net["norms"] + net["nets"], sum_swaps(net["batch"], ranks)
    swaps = gathers * rounds(ranks) + net["nets"] * (deep + rounds(ranks))
    moved = 4 * net["weights"] * (deep + rounds(ranks))
    if ranks > 1:
        moved += 4 * net["edge"] * net["batch"] * (1 - 1 / ranks)
    share = largest_share(net["batch"], ranks)
    return max(share, 1 / cores if cores else 0), swaps, moved


def solve(rows, values):
    """Least squares by the normal equations."""
    n = len(rows[0])
    a = [[sum(r[i] * r[j] for r in rows) for j in range(n)] + [
        sum(r[i] * v for r, v in zip(rows, values))] for i in range(n)]
    for i in range(n):
        p = max(range(i, n), key=lambda k: abs(a[k][i]))
        a[i], a[p] = a[p], a[i]
        for k in range(n):
            if k != i:
                f = a[k][i] / a[i][i]
                a[k] = [x - f * y for x, y in zip(a[k], a[i])]
    return [a[i][n] / a[i][i] for i in range(n)]


NET_HERE = {"batch": BATCH, "nets": 1, "norms": NORMS, "weights": WEIGHTS, "edge": EDGE}


def fit(points, cores):
    """S, C, l and f, how often a swap waits for the delay; weights make it relative errors. A
    part S that comes out below 0 cannot be told from 0."""
    rows = []
    for ranks, ms, seconds in points:
        share, swaps, _ = terms(NET_HERE, ranks, cores)
        rows.append([v / seconds for v in (1, share, swaps, swaps * ms / 1000)])
    ones = [1] * len(rows)
    found = solve(rows, ones)
    if found[0] < 0:
        found = [0] + solve([row[1:] for row in rows], ones)
    return dict(zip("SClf", found))


def predicted(model, net, ranks, ms, cores=None, bandwidth=None):
    share, swaps, moved = terms(net, ranks, cores)
    time = model["S"] + model["C"] * share + swaps * (model["l"] + model.get("f", 1) * ms / 1000)
    return time + (moved / bandwidth if bandwidth else 0)


# ---- measuring

def write_images(folder):
    state, pixels = 7, bytearray()
    for _ in range(IMAGES * SIDE * SIDE):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        pixels.append(state >> 56)
    with open(os.path.join(folder, "i-images-idx3-ubyte"), "wb") as f:
        f.write(struct.pack(">IIII", 0x803, IMAGES, SIDE, SIDE) + bytes(pixels))
    with open(os.path.join(folder, "i-labels-idx1-ubyte"), "wb") as f:
        f.write(struct.pack(">II", 0x801, IMAGES) + bytes(i % 3 for i in range(IMAGES)))


def seconds_of(programs, folder, ranks, ms, epochs):
    words = (f"{ranks} train i-images-idx3-ubyte --net '{NET}' --batch {BATCH} --epochs 0"
             f" --mle-epochs {epochs} --threads 1 -q -o m.safetensors")
    env = {**os.environ, "RANKS_RUN": words, "HOSTS": str(ranks)}
    ran = subprocess.run(["bash", os.path.join(HERE, "../tests/ranks_hosts.sh"),
                          *programs, str(ms)], cwd=folder, env=env, capture_output=True, text=True,
                         check=False)
    if ran.returncode:
        raise SystemExit(f"bench_ranks: {ran.stdout}{ran.stderr}")
    return float(ran.stdout)


def measure(programs, folder, ranks, ms):
    """A step: the difference of a long and a short run, without what starting costs."""
    short, long = (2, 12) if ms == 0 else (1, 4)
    steps = (long - short) * IMAGES // BATCH
    return (seconds_of(programs, folder, ranks, ms, long) -
            seconds_of(programs, folder, ranks, ms, short)) / steps


# ---- many cores

# The dealt layers of the UTKFace net and of its noise net: 7 and 3 convolutions.
FACES = {"batch": 100, "nets": 2, "norms": 9, "edge": 128 + 784,
         "weights": 448 + 2320 + 4640 + 9248 + 18496 + 36928 + 73856 + 608 + 1168 + 2320}


SWEEP = {"alone": 2.0, "each": 1.0, "items": 720, "bytes": 1e4}  # seconds; chips
DRAWS = {"alone": 0.3, "all": 23.0, "bytes": 4e8}  # 1e6 draws of 100 rows, 0.23 us each


def sweep_time(ranks, latency, bandwidth):
    """M1: items of equal cost, handed out by one rank."""
    t = SWEEP
    return (t["alone"] + t["each"] * math.ceil(t["items"] / ranks) +
            t["items"] * (latency + t["bytes"] / bandwidth) * (ranks > 1))


def draws_time(ranks, latency, bandwidth):
    """M1: a run of draws for each rank, whose outputs all go to rank 0."""
    t = DRAWS
    return (t["alone"] + t["all"] / ranks +
            (ranks * latency + t["bytes"] * (1 - 1 / ranks) / bandwidth) * (ranks > 1))


def carry(latency, bandwidth, faces):
    """Seconds against cores: a shared training step, a sweep, a prediction (M1, M3)."""
    cores = [1 << k for k in range(0, 15)]
    large = {**FACES, "batch": 16 * 1024}
    step = {**faces, "l": latency}
    wide = {**step, "C": faces["C"] * large["batch"] / FACES["batch"]}
    most, widest = blocks_of(FACES["batch"])[1], blocks_of(large["batch"])[1]
    return {
        "cores": cores,
        "train": [predicted(step, FACES, min(r, most), 0, None, bandwidth) for r in cores],
        "train_large": [predicted(wide, large, min(r, widest), 0, None, bandwidth)
                        for r in cores],
        "sweep": [sweep_time(r, latency, bandwidth) for r in cores],
        "predict": [draws_time(r, latency, bandwidth) for r in cores]}


GNUPLOT = """set terminal svg size 860,420 font 'DejaVu Sans,11'
set output '{svg}'
set logscale xy
set xlabel 'cores, a rank each'
set ylabel 'times as fast as one'
set key left top
set grid
set xrange [1:16384]
plot x with lines dt 3 lc rgb '#888888' title 'perfect', \\
     '{dat}' using 1:2 with linespoints pt 7 ps 0.4 lc rgb '#1f5fa8' title 'UTKFace net, batch 100', \\
     '' using 1:3 with linespoints pt 7 ps 0.4 lc rgb '#2e8b57' title 'the same, batch 16,384', \\
     '' using 1:4 with linespoints pt 7 ps 0.4 lc rgb '#c0392b' title 'sweep of 720 chips', \\
     '' using 1:5 with linespoints pt 7 ps 0.4 lc rgb '#8e44ad' title 'a million draws of 100 rows'
"""


def draw(out, carried):
    base = os.path.join(out, "ranks")
    with open(base + ".dat", "w", encoding="utf-8") as f:
        for i, cores in enumerate(carried["cores"]):
            f.write(" ".join(str(v) for v in [cores] + [
                carried[k][0] / carried[k][i] for k in ("train", "train_large", "sweep",
                                                        "predict")]) + "\n")
    with open(base + ".gp", "w", encoding="utf-8") as f:
        f.write(GNUPLOT.format(svg=base + ".svg", dat=base + ".dat"))
    run_gnuplot(base + ".gp")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("switch")
    parser.add_argument("out", nargs="?", default=".")
    parser.add_argument("--points")
    parser.add_argument("--latency", type=float, default=5e-6, help="seconds a swap")
    parser.add_argument("--bandwidth", type=float, default=1e10, help="bytes a second")
    parser.add_argument("--faces", default="0.01,0.33", help="S,C of a step of the net")
    given = parser.parse_args()
    if given.points:
        with open(given.points, encoding="utf-8") as f:
            points = json.load(f)["points"]
    else:
        with tempfile.TemporaryDirectory() as folder:
            write_images(folder)
            programs = [os.path.abspath(path) for path in (given.program, given.switch)]
            points = [[r, ms, measure(programs, folder, r, ms)]
                      for r, ms in FITTED + HELD_OUT]
    cores = os.cpu_count()
    model = fit([p for p in points if (p[0], p[1]) in FITTED], cores)
    print(f"S {1e3 * model['S']:.2f} ms, C {1e3 * model['C']:.2f} ms,"
          f" l {1e6 * model['l']:.0f} us a swap and {model['f']:.2f} delays")
    print("ranks  delay/ms  measured/ms  model/ms  ratio")
    for ranks, ms, seconds in points:
        guess = predicted(model, NET_HERE, ranks, ms, cores)
        held = "" if (ranks, ms) in FITTED else "  held out"
        print(f"{ranks:5d} {ms:9g} {1e3 * seconds:12.2f} {1e3 * guess:9.2f}"
              f" {seconds / guess:6.2f}{held}")
    s, c = (float(v) for v in given.faces.split(","))
    carried = carry(given.latency, given.bandwidth, {"S": s, "C": c})
    with open(os.path.join(given.out, "ranks.json"), "w", encoding="utf-8") as f:
        json.dump({"points": points, "model": model, "carried": carried}, f, indent=1)
    draw(given.out, carried)


if __name__ == "__main__":
    main()

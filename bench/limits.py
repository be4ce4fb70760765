"""What one core of this machine can do at most, into BUILD/limits.json: bytes stored and
read a second (in the second cache and beyond all caches), multiply-adds a second, and
our own draws a second, which no product with fresh noise can outrun."""

import json
import os

from bench_draw import SMALL, Drawer
from timing import Bench, seconds

CACHE, BEYOND = 1 << 18, 1 << 28
DRAW_REPEATS, DRAW_TIMES = 15, 100


def main():
    bench = Bench(__doc__)
    peers = bench.xb.peers
    drawer = Drawer(bench, bench.xb.law("gaussian"), SMALL)
    drawer.check()
    draw = min(seconds(drawer, DRAW_TIMES) for _ in range(DRAW_REPEATS))
    limits = {"store": peers.limit_store(CACHE, 400),
              "store beyond caches": peers.limit_store(BEYOND, 1),
              "read": peers.limit_read(CACHE, 400),
              "read beyond caches": peers.limit_read(BEYOND, 1),
              "fma": peers.limit_fma(), "draw": SMALL / draw}
    with open(os.path.join(bench.build, "limits.json"), "w") as file:
        json.dump(limits, file, indent=1)


if __name__ == "__main__":
    main()

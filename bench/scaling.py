#!/usr/bin/env python3
"""How time and memory grow with width, depth, draws, inputs, batch and rows, and what a
second thread brings.
    scaling.py BUILD [FIGURES] [--quick] [--data FOLDER]
Every point is a process of its own (xb_scale), the best of its repeats. Processor time on
one thread, against size, on logarithmic axes, with the exponent of a power law fitted to
the upper half of the sizes (below it, what a call costs anyway shows). Threads: wall time
of one and of two, on work that is independent; a busy machine makes that worse, so its
load is written down. Writes scaling.json into BUILD, and scaling.svg and
scaling_memory.svg into FIGURES, which is BUILD unless given."""

import argparse
import json
import math
import os
import shutil
import subprocess
import sys

from figure import run_gnuplot

CASES = {  # sizes, what one is, and what time and memory should grow like
    "width": ([16, 32, 64, 128, 256, 512], "width of two hidden layers", 2, 0),
    "depth": ([1, 2, 4, 8, 16, 32], "hidden layers of 32", 1, 0),
    "draws": ([64, 256, 1024, 4096, 16384], "weight draws of a prediction", 1, 0),
    "inputs": ([256, 1024, 4096, 16384], "inputs of a prediction", 1, 1),
    "batch": ([16, 64, 256, 1024, 4096], "examples a training step", 1, 1),
    "rows": ([1000, 4000, 16000, 64000], "rows of training data", 1, 1),
    "product": ([64, 128, 256, 512, 1024, 2048], "n of a product x (mu + sigma z)", 2, 2),
    "fit": ([1000, 4000, 16000, 64000, 256000], "samples of a fit", 1, 1),
}
THREADS = {"draws": 4096, "fill": 1 << 23, "fit": 64000, "energy": 4, "images": 100}
IMAGES = 400  # copied, so that nothing is written beside the originals
TRIES = 3


def measure(build, case, size, threads, *path):
    ran = subprocess.run([os.path.join(build, "xb_scale"), case, str(size), str(threads),
                          *path], capture_output=True, text=True, check=False,
                         env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    if ran.returncode:
        raise SystemExit(f"scaling: {case} {size}: {ran.stderr.strip()}")
    wall, cpu, memory = ran.stdout.split()
    return float(wall), float(cpu), int(memory) / 1024


def exponent(sizes, values):
    """Slope of the logarithms over the upper half, by least squares."""
    half = len(sizes) // 2 - (len(sizes) % 2 == 0)
    x, y = ([math.log(v) for v in part[half:]] for part in (sizes, values))
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx)**2 for a in x)


def grow(build, case, quick):
    sizes, what, *expected = CASES[case]
    sizes = sizes[:-1] if quick else sizes
    points = [measure(build, case, n, 1) for n in sizes]
    cpu, memory = [p[1] for p in points], [p[2] for p in points]
    found = {"what": what, "sizes": sizes, "seconds": cpu, "megabytes": memory,
             "exponent": exponent(sizes, cpu), "expected": expected[0],
             "memory_exponent": exponent(sizes, memory), "memory_expected": expected[1]}
    print(f"{case:8} time ~ size^{found['exponent']:.2f} (expected at most {expected[0]}),"
          f" memory {memory[0]:.0f} to {memory[-1]:.0f} MB: {what}", flush=True)
    return found


def some_images(build, data):
    """A folder of images of the build's own; None: there are none."""
    source = os.path.join(data or "", "utkface")
    names = sorted(n for n in os.listdir(source) if n.endswith(".jpg"))[:IMAGES] \
        if os.path.isdir(source) else []
    folder = os.path.join(build, "scale_images")
    os.makedirs(folder, exist_ok=True)
    for name in names:
        shutil.copy(os.path.join(source, name), folder)
    return folder if names else None


def speedup(build, case, size, path):
    """(wall of one thread, of two, processor time of both), the best of TRIES."""
    one = [measure(build, case, size, 1, *path) for _ in range(TRIES)]
    two = [measure(build, case, size, 2, *path) for _ in range(TRIES)]
    best = {"one": min(p[0] for p in one), "two": min(p[0] for p in two),
            "cpu_one": min(p[1] for p in one), "cpu_two": min(p[1] for p in two)}
    best["speedup"] = best["one"] / best["two"]
    # what two threads would bring with two cores to themselves: none of the work grew
    best["work_ratio"] = best["cpu_two"] / best["cpu_one"]
    print(f"{case:8} 2 threads: {best['speedup']:.2f} x by the wall clock, processor time "
          f"{best['work_ratio']:.2f} x", flush=True)
    return best


PANEL = """set title '{title}'
set xlabel '{what}'
set ylabel '{unit}'
plot '{dat}' index {index} using 1:{column} with linespoints pt 7 ps 0.5 lc rgb '#1f5fa8' \\
    notitle
"""


def write_figure(build, svg, results, column, unit, exponents, log_y):
    dat, gp = (os.path.join(build, f"scaling.{end}") for end in ("dat", "gp"))
    with open(dat, "w") as file:
        for r in results.values():
            file.writelines(f"{n} {s:.6g} {m:.6g}\n" for n, s, m in
                            zip(r["sizes"], r["seconds"], r["megabytes"]))
            file.write("\n\n")
    with open(gp, "w") as file:
        file.write(f"set terminal svg size 900,480 font 'DejaVu Sans,10'\n"
                   f"set output '{svg}'\nset logscale x\nset format x '%g'\n"
                   f"{'set logscale y' if log_y else 'set yrange [0:*]'}\nset grid\n"
                   f"set multiplot layout 2,4\n")
        for i, (case, r) in enumerate(results.items()):
            file.write(PANEL.format(title=f"{case}: {exponents[case]}", what=r["what"],
                                    unit=unit, dat=dat, index=i, column=column))
        file.write("unset multiplot\n")
    return run_gnuplot(gp)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("figures", nargs="?")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--data", default=os.environ.get("CROSSBAYES_DATA"))
    options = parser.parse_args()
    build, figures = options.build, options.figures or options.build
    grown = {case: grow(build, case, options.quick) for case in CASES}
    threads, folder = {}, some_images(build, options.data)
    for case, size in THREADS.items():
        if case == "images" and not folder:
            print("images   missing: no utkface in --data", flush=True)
            continue
        threads[case] = speedup(build, case, size, [folder] if case == "images" else [])
    write_figure(build, os.path.join(figures, "scaling.svg"), grown, 2, "s",
                 {c: f"size^{{{r['exponent']:.2f}}}" for c, r in grown.items()}, True)
    write_figure(build, os.path.join(figures, "scaling_memory.svg"), grown, 3, "MB",
                 {c: f"{r['megabytes'][-1]:.0f} MB" for c, r in grown.items()}, False)
    with open(os.path.join(build, "scaling.json"), "w") as file:
        json.dump({"load": os.getloadavg(), "growth": grown, "threads": threads}, file,
                  indent=1)
    print(f"load {os.getloadavg()[0]:.1f} of {os.cpu_count()} cores; "
          f"{build}/scaling.json, figures in {figures}")


if __name__ == "__main__":
    sys.exit(main())

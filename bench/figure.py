"""The benchmarks as one figure, BUILD/bench.svg: for every workload with a peer the
ratio of times on a logarithmic axis, a bar over its quartiles, and a tick where the
target is. The data (bench.dat) and the commands (bench.gp) stay beside it."""

import os
import subprocess
import sys

STYLE = """set terminal svg size 900,{height} font 'DejaVu Sans,11'
set output '{svg}'
set logscale x
set xrange [0.03:3000]
set yrange [{low}:0.5]
set format x '%g'
set xlabel 'times as fast as the peer'
set grid xtics
set arrow from 1, graph 0 to 1, graph 1 nohead lc rgb '#888888'
set key outside top center horizontal
set lmargin 60
set ytics ({labels})
"""
PLOT = """plot '{dat}' using 2:1:3:4 with xerrorbars pt 7 ps 0.5 lc rgb '#1f5fa8' \\
         title 'measured, quartiles', \\
     '' using ($6 == 1 ? $5 : NaN):1 with points pt 2 ps 0.8 lw 2 lc rgb '#2e8b57' \\
         title 'target, met', \\
     '' using ($6 == 0 ? $5 : NaN):1 with points pt 2 ps 0.8 lw 2 lc rgb '#c0392b' \\
         title 'target, missed'
"""
ROW_HEIGHT, MARGIN = 15, 110


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def run_gnuplot(path):
    """Whether gnuplot made it; what it says goes to stderr."""
    try:
        return subprocess.run(["gnuplot", path], check=False).returncode == 0
    except OSError as error:
        print(f"no figure: {error}", file=sys.stderr)
        return False


def target_of(row):
    target = row.get("target")
    if not target or target["of"] != "ratio":
        return "NaN NaN"
    return f"{target['at_least']} {int(row['ratio']['median'] >= target['at_least'])}"


def draw_figure(build, rows):
    rows = [row for row in rows if "ratio" in row]
    dat, gp, svg = (os.path.join(build, "bench." + end) for end in ("dat", "gp", "svg"))
    with open(dat, "w") as file:
        for i, row in enumerate(rows):
            r = row["ratio"]
            file.write(f"{-i} {r['median']:.6g} {r['q1']:.6g} {r['q3']:.6g} "
                       f"{target_of(row)}\n")
    names = [f"{row['workload']}: {row['case']} / {row['peer']}" for row in rows]
    labels = ", ".join(f"{quoted(name)} {-i}" for i, name in enumerate(names))
    with open(gp, "w") as file:
        file.write(STYLE.format(height=MARGIN + ROW_HEIGHT * len(rows), svg=svg,
                                low=0.5 - len(rows) - 0.5, labels=labels))
        file.write(PLOT.format(dat=dat))
    return bool(rows) and run_gnuplot(gp)

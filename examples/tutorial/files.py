#!/usr/bin/env python3
"""files.py TSDATA YACHT: makes the tutorial's files in this folder from the published ones.

TSDATA is data/techA/tsdata.min.tsv.gz of akashlevy/RRAM-Relaxation-Master-Model: one row for
each cell, with its level, a number and 100,000 conductances in siemens. Levels 0, 8 and 16
become rram_level00.csv, rram_level08.csv and rram_level16.csv. Values are kept to seven
digits of their single-precision value, since the tutorial's numbers were computed from these.

YACHT is yacht_hydrodynamics.data of the UCI repository: six numbers of a hull and its
resistance, without a header. Every fifth row goes to test.txt, the others to train.txt.
"""
import gzip
import pathlib
import struct
import sys

LEVELS = (0, 8, 16)
COLUMNS = "position prismatic length_displacement beam_draught length_beam froude resistance"


def single(text):
    return struct.unpack("f", struct.pack("f", float(text)))[0]


def traces(archive):
    with gzip.open(archive, "rt") as rows:
        for row in rows:
            level, _, *values = row.split()
            if int(level) in LEVELS:
                lines = [f"{single(value):.6e}\n" for value in values]
                pathlib.Path(f"rram_level{int(level):02}.csv").write_text(
                    "conductance_S\n" + "".join(lines))


def table(yacht):
    rows = [line.strip() for line in pathlib.Path(yacht).read_text().splitlines() if line.strip()]
    lines = [COLUMNS, *rows]  # the header is line 1; every fifth line is for testing
    test = [line for number, line in enumerate(lines, 1) if number == 1 or number % 5 == 0]
    train = [line for number, line in enumerate(lines, 1) if number == 1 or number % 5 != 0]
    pathlib.Path("train.txt").write_text("\n".join(train) + "\n")
    pathlib.Path("test.txt").write_text("\n".join(test) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: files.py tsdata.min.tsv.gz yacht_hydrodynamics.data")
    try:
        traces(sys.argv[1])
        table(sys.argv[2])
    except (OSError, EOFError, ValueError) as error:
        sys.exit(f"files.py: {error}")

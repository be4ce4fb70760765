"""Two processes write the same output at once: in the end every file is whole, and one of
the two's.

    two.py PROGRAM

The two have different seeds where their results may differ, and start together. Each pair
runs twice, 10 times with XB_LONG=1, and 20 times with XB_LONG=2."""
import sys

from cases import make_inputs
from kill import make_many
from program import LONG, Program, Wrong, files

TIMES = (2, 10, 20)[LONG]

TRAIN = ["train", "rows.csv", "--target", "y", "-o", "model.safetensors", "--net",
         "dense 4, relu, dense 1", "--epochs", "10", "--mle-epochs", "10",
         "--checkpoint-seconds", "0", "--history", "trace.csv", "-q", "--seed"]
STUDY = ["study", "--quick", "--format", "svg", "-o", "results", "-q"]
ENERGY = STUDY + ["energy", "--widths", "1", "--depths", "1", "--seeds", "1", "--seed"]
CACHE = ["predict", "model.safetensors", "many", "--draws", "2", "--cache", "many.images",
         "-q", "-o"]
PAIRS = [
    ("one model file", TRAIN + ["1"], TRAIN + ["2"]),
    ("one cache", CACHE + ["one.csv"], CACHE + ["two.csv"]),
    ("one folder of a study", ENERGY + ["1"], ENERGY + ["2"]),
    ("one study twice", ENERGY + ["1"], ENERGY + ["1"]),
]


def alone(program, args, start):
    folder = program.folder(start)
    program.must(args, folder)
    return files(folder)


def together(program, pair, start, known):
    folder = program.folder(start)
    both = [program.start(args, folder) for args in pair]
    for process in both:
        _, err = process.communicate(timeout=program.timeout)
        if process.returncode != 0:
            raise Wrong("status %d: %s" % (process.returncode, err.decode()))
    there = files(folder)
    for name, data in there.items():
        if data not in (one.get(name) for one in known):
            raise Wrong("%s is neither one's nor the other's" % name)
    for name in known[0].keys() | known[1].keys():
        if name not in there:
            raise Wrong("%s is missing" % name)


def main():
    with Program(sys.argv[1]) as program:
        start = program.folder()
        make_inputs(program, start)
        make_many(program, start)
        for name, one, two in PAIRS:
            known = [alone(program, args, start) for args in (one, two)]
            try:
                for _ in range(TIMES):
                    together(program, (one, two), start, known)
            except Wrong as problem:
                print("WRONG %s: %s" % (name, problem))
                return 1
            print("%-24s %d times" % (name, TIMES), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Reading one column of a million numbers from a text file, against one peer:
numpy (loadtxt) or pandas (read_csv)."""

import ctypes as c
import os

from crossbayes_ctypes import pointer
from timing import Bench, WrongResult, ratio_at_least

N, N_QUICK = 1_000_000, 100_000
REPEATS = 5
TARGET = {"numpy": None, "pandas": ratio_at_least(3)}


def write_file(bench, n):
    """n draws with seven digits, as instruments write them; the path."""
    xb = bench.xb
    values = (c.c_double * n)()
    sampler = xb.sampler(xb.law("gaussian"))
    xb.lib.xb_sampler_fill_double(sampler, pointer(values), n, c.byref(xb.stream(4)), 0)
    path = os.path.join(bench.build, "bench_noise.csv")
    with open(path, "w") as file:
        file.write("conductance_S\n")
        file.writelines(f"{1e-5 * v:.6e}\n" for v in values)
    return path


def main():
    bench = Bench(__doc__)
    n = N_QUICK if bench.quick else N
    case = f"{n} rows"
    try:
        if bench.peer == "pandas":
            import pandas
            peer, read = "pandas read_csv", lambda: pandas.read_csv(path).iloc[:, 0]
        else:
            import numpy
            peer, read = "numpy loadtxt", lambda: numpy.loadtxt(path, skiprows=1)
    except ImportError as error:
        return bench.missing("CSV", case, bench.peer, error)
    path = write_file(bench, n)
    ours = bench.xb.column(path)
    if len(ours) != n or any(a != b for a, b in zip(ours, read())):
        raise WrongResult("the two sides read different numbers")
    free = c.CDLL(None).free
    data, length, name = c.POINTER(c.c_double)(), c.c_int64(), os.fsencode(path)

    def read_ours():
        bench.xb.check(bench.xb.lib.xb_column_read(
            bench.xb.ctx, c.byref(data), c.byref(length), name, None))
        free(data)

    bench.compare("CSV", case, read_ours, peer, read, check="equal to the last bit",
                  repeats=REPEATS, target=TARGET[bench.peer])
    return os.remove(path)


if __name__ == "__main__":
    main()

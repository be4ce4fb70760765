"""Training on a table of UCI's size: 1000 rows of 8 features, dense 50, relu, dense 1,
random kernels under N(0, 1), learned noise, batches of 32, 40 epochs, Adam. Ours is a
whole xb_train with its set-up; the peer steps through batches prepared beforehand, in
PyTorch, eager or compiled, whichever is faster.

Check: given the very draws ours took, the peer arrives at our weights after some steps of
all rows (shared), or at our F at the end of a run (local)."""

import numpy as np

from bench_vi import ADAM, SIGMA, same_f, same_weights, started, torch_makers
from timing import Bench, WrongResult, fastest_run, ratio_at_least
from vi_ctypes import Trainer

ROWS, FEATURES, BATCH, EPOCHS = 1024, 8, 32, 40
NET = "dense 50, relu, dense 1"
STEPS = EPOCHS * ROWS // BATCH
F_EPOCHS = 200
REPEATS = 5
TARGET = ratio_at_least(20)


def table():
    random = np.random.default_rng(3)
    x = random.standard_normal((ROWS, FEATURES))
    y = np.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.2 * random.standard_normal(ROWS)
    return x, y


def check(bench, trainer, estimator, makers, x, y):
    if estimator == "shared":
        return same_weights(bench, lambda *a: torch_makers(*a, act="relu"), x, y, net=NET)
    return same_f(trainer, estimator, F_EPOCHS, makers[1][1](), F_EPOCHS * ROWS // BATCH)


def main():
    bench = Bench(__doc__)
    x, y = table()
    trainer = Trainer(bench.xb, x, y, BATCH, ADAM, SIGMA, net=NET)
    for estimator in ("shared", "local"):
        case = f"{ROWS} x {FEATURES}, {EPOCHS} epochs of {ROWS // BATCH}, {estimator}"
        try:
            start, rows, _ = started(trainer, x, y)
            makers = torch_makers(start, *rows, ROWS, estimator, act="relu", batch=BATCH)
            same = check(bench, trainer, estimator, makers, x, y)
            name, form = fastest_run(bench, "UCI training", case, makers, STEPS // 4)
        except ImportError as error:
            bench.missing("UCI training", case, "PyTorch", error)
            continue
        except WrongResult as error:
            bench.wrong("UCI training", case, "PyTorch", error)
            continue
        bench.compare("UCI training", case, lambda e=estimator: trainer.run(e, EPOCHS),
                      name, lambda f=form: f.run(STEPS), target=TARGET, check=same,
                      repeats=3 if bench.quick else REPEATS)


if __name__ == "__main__":
    main()

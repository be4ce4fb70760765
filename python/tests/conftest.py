"""What tests share: the program, where it was built, and a small data set."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import crossbayes as xb
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def program():
    """Runs the command line; $CROSSBAYES_PROGRAM or the build's."""
    found = os.environ.get("CROSSBAYES_PROGRAM") or shutil.which("crossbayes")
    for folder in ("build/check", "build"):
        if not found and (ROOT / folder / "crossbayes").exists():
            found = str(ROOT / folder / "crossbayes")
    if not found:
        pytest.skip("skipped: the program crossbayes was not built")

    def run(*args):
        done = subprocess.run(
            [found, *map(str, args)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def made_data(rows=120, seed=3, features=3):
    """Rows of a smooth function with noise, by the library's own stream."""
    g = xb.Generator(seed, "data")
    x = g.uniform(rows * features).reshape(rows, features) * 4 - 2
    noise = g.draw("gaussian", rows, tensor=1, dtype=np.float64)
    return x, np.sin(x[:, 0]) + 0.5 * x[:, 1] + 0.1 * noise


@pytest.fixture(scope="session")
def data():
    return made_data()


@pytest.fixture(scope="session")
def model(data):
    return xb.train(*data, net="dense 8, relu, dense 1", epochs=300, mle_epochs=300)

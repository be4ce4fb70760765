"""When two sets of draws agree: means and standard deviations within their errors."""

from __future__ import annotations

import numpy as np

# 2 statistics of at most 9 numbers in some 40 comparisons, each beyond 4.5 errors with
# probability 7e-6: one false alarm in 200 runs of all of them, and seeds are fixed.
WORST = 4.5


def moments(draws):
    """Mean, standard deviation and their errors; draws [n][...]."""
    draws = np.asarray(draws, np.float64)
    n = len(draws)
    mean, sd = draws.mean(0), draws.std(0)
    z = (draws - mean) / np.where(sd > 0, sd, 1)
    kurtosis = (z**4).mean(0)
    return mean, sd, sd / np.sqrt(n), sd * np.sqrt(np.maximum(kurtosis - 1, 0.1) / (4 * n))


def distance(ours, theirs):
    """The largest difference of means and of standard deviations, in errors of both."""
    floor = 1e-6 * np.abs(theirs[0]).max() + 1e-9  # float32
    by_mean = np.abs(ours[0] - theirs[0]) / np.hypot(np.hypot(ours[2], theirs[2]), floor)
    by_sd = np.abs(ours[1] - theirs[1]) / np.hypot(np.hypot(ours[3], theirs[3]), floor)
    return float(by_mean.max()), float(by_sd.max())


def outputs(model, x, draws, seed=21):
    """The model's draws as [draws][rows][outputs]."""
    values = model.draws(x, draws, seed=seed)
    return values[..., None] if values.ndim == 2 else values

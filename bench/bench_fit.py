"""The fit of a million samples: ours (all families with goodness of fit, or mtj
alone) against SciPy minimising the same negative log likelihood of mtj, with the
gradient written out, in vectorised numpy."""

from ctypes import byref, c_double

from crossbayes_ctypes import pointer
from timing import Bench, WrongResult, ours_at_most, ratio_at_least

LAW = "mtj:B=0.15,w=0.5"
N, N_QUICK = 1_000_000, 100_000
LIMIT = 0.5         # seconds
SAME = 2e-4         # w and B of both sides, relative; the standard errors are 2e-3
REPEATS = 5
TARGET = ratio_at_least(10)


def negative_log_likelihood(np, y, parameters):
    """Mean over y = x - mean of -log q(y / S) + log S, and its gradient in
    (logit w, log B, log S); maths L1, L4."""
    w, b, s = 1 / (1 + np.exp(-parameters[0])), *np.exp(parameters[1:])
    t = np.abs(y) / s
    e = np.exp(-1 / b)
    z = 2 * b * (1 - e) - 2 * e
    z_b = 2 * (1 - e) - 2 * e / b - 2 * e / b**2
    peak = np.exp(-t / b)
    narrow, broad = (peak - e) / z, 0.75 * (1 - t * t)
    q = w * narrow + (1 - w) * broad
    slope = -w * peak / (b * z) - 1.5 * (1 - w) * t
    narrow_b = (peak * t - e) / (b * b * z) - narrow * z_b / z
    gradient = [np.mean((narrow - broad) / q) * w * (1 - w),
                np.mean(narrow_b / q) * w * b,
                np.mean(slope * -t / q) - 1]
    return -np.mean(np.log(q)) + parameters[2], -np.array(gradient)


def scipy_fit(np, minimize, x):
    y = x - x.mean()
    widest = np.abs(y).max()
    start = [0.0, np.log(0.3), np.log(1.02 * widest)]
    bounds = [(-12, 12), (np.log(1e-3), np.log(1e3)),
              (np.log(widest * (1 + 1e-12)), np.log(10 * widest))]
    found = minimize(lambda p: negative_log_likelihood(np, y, p), start, jac=True,
                     method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-13})
    w, b = 1 / (1 + np.exp(-found.x[0])), np.exp(found.x[1])
    return w, b, -found.fun * len(x)


def same_optimum(ours, theirs):
    family, named, likelihood = ours
    worst = max(abs(named["w"] / theirs[0] - 1), abs(named["B"] / theirs[1] - 1))
    if family != "mtj" or not worst < SAME:
        raise WrongResult(f"ours w {named.get('w')}, B {named.get('B')}; "
                          f"SciPy {theirs[0]}, {theirs[1]}")
    return f"w, B within {worst:.0e}, log L {likelihood - theirs[2]:+.3f}"


def main():
    bench = Bench(__doc__)
    xb = bench.xb
    n = N_QUICK if bench.quick else N
    x = (c_double * n)()
    sampler = xb.sampler(xb.law(LAW), standardise=False)
    xb.lib.xb_sampler_fill_double(sampler, pointer(x), n, byref(xb.stream(3)), 0)

    def ours(family):
        return lambda: xb.lib.xb_fit_destroy(xb.fit(x, n, family))

    case = f"mtj, {n} samples"
    target = None if bench.quick else ours_at_most(LIMIT)
    bench.alone("fit", f"all families, {n} samples", ours(None), target=target,
                repeats=REPEATS)
    try:
        import numpy as np
        from scipy.optimize import minimize
    except ImportError as error:
        bench.missing("fit", case, "SciPy L-BFGS-B", error)
        return bench.alone("fit", case, ours("mtj"), repeats=REPEATS)
    theirs = np.frombuffer(x)
    check = same_optimum(xb.fit_result(xb.fit(x, n, "mtj")),
                         scipy_fit(np, minimize, theirs))
    return bench.compare("fit", case, ours("mtj"), "SciPy L-BFGS-B",
                         lambda: scipy_fit(np, minimize, theirs), check=check, target=TARGET,
                         repeats=REPEATS)


if __name__ == "__main__":
    main()

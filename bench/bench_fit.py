"""The fit of 100,000 and of a million samples: ours (all families with goodness of fit, or mtj
alone) against SciPy minimising the same negative log likelihood of mtj, with the
gradient written out, in vectorised numpy; and the same with the two statistics of
goodness of fit that ours computes (Kolmogorov-Smirnov, Anderson-Darling). Ours has
standard errors, their p-values and the autocorrelation of the samples besides.

The C library is told to keep what is freed: left to itself it hands numpy's temporary
arrays back to the system and gets them anew, page by page, for each of them, which makes
SciPy two to four times slower."""

from ctypes import CDLL, byref, c_double

from crossbayes_ctypes import pointer
from timing import Bench, WrongResult, ours_at_most, ratio_at_least

LAW = "mtj:B=0.15,w=0.5"
SIZES, SIZES_QUICK = (100_000, 1_000_000), (100_000,)
KEEP = {-3: 1 << 30, -1: (1 << 31) - 1} # mallopt: no maps of their own below, no trimming
LIMIT = 0.5         # seconds, of all families at the largest size
SAME = 2e-4         # w and B of both sides, relative; the standard errors are 2e-3
SAME_GOODNESS = 0.02 # of both statistics: the optima differ by a few 1e-6
REPEATS = 9
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
    return w, b, -found.fun * len(x), np.exp(found.x[2])


def distribution(np, t, w, b):
    """Of |y| / S = t: the mass beyond it on one side; maths L4."""
    e, rest = np.exp(-1 / b), 1 - t
    z = 2 * b * (1 - e) - 2 * e
    return w * (b * (np.exp(-t / b) - e) - e * rest) / z + (1 - w) * rest**2 * (3 - rest) / 4


def scipy_whole(np, minimize, x):
    """The fit with KS and AD statistics, (D, A^2), at the end."""
    w, b, likelihood, s = scipy_fit(np, minimize, x)
    y = np.sort(x - x.mean()) / s
    beyond = distribution(np, np.abs(y), w, b)
    low, n = y <= 0, len(x)
    below, above = np.where(low, beyond, 1 - beyond), np.where(low, 1 - beyond, beyond)
    i = np.arange(n)
    ks = max(np.max(below - i / n), np.max((i + 1) / n - below))
    ad = -n - np.mean((2 * i + 1) * (np.log(below) + np.log(above[::-1])))
    return w, b, likelihood, (ks, ad)


def same_optimum(ours, theirs):
    family, named, likelihood = ours
    worst = max(abs(named["w"] / theirs[0] - 1), abs(named["B"] / theirs[1] - 1))
    if family != "mtj" or not worst < SAME:
        raise WrongResult(f"ours w {named.get('w')}, B {named.get('B')}; "
                          f"SciPy {theirs[0]}, {theirs[1]}")
    return f"w, B within {worst:.0e}, log L {likelihood - theirs[2]:+.3f}"


def same_goodness(xb, fit, theirs):
    at = xb.lib.xb_fit_family_at(fit, xb.lib.xb_fit_chosen(fit))
    ks, ad = xb.lib.xb_fit_family_ks(at), xb.lib.xb_fit_family_ad(at)
    worst = max(abs(ks / theirs[0] - 1), abs(ad / theirs[1] - 1))
    if not worst < SAME_GOODNESS:
        raise WrongResult(f"KS and AD {ks:.4g}, {ad:.4g}; "
                          f"SciPy {theirs[0]:.4g}, {theirs[1]:.4g}")
    return f"KS, AD within {worst:.0e}"


def keep_memory():
    try:
        mallopt = CDLL(None).mallopt
    except AttributeError:  # not glibc: as it is
        return
    for option, value in KEEP.items():
        mallopt(option, value)


def run(bench, n):
    xb = bench.xb
    x = (c_double * n)()
    sampler = xb.sampler(xb.law(LAW), standardise=False)
    xb.lib.xb_sampler_fill_double(sampler, pointer(x), n, byref(xb.stream(3)), 0)

    def ours(family):
        return lambda: xb.lib.xb_fit_destroy(xb.fit(x, n, family))

    case = f"mtj, {n} samples"
    target = ours_at_most(LIMIT) if n == SIZES[-1] else None
    bench.alone("fit", f"all families, {n} samples", ours(None), target=target,
                repeats=REPEATS)
    try:
        import numpy as np
        from scipy.optimize import minimize
    except ImportError as error:
        bench.missing("fit", case, "SciPy L-BFGS-B", error)
        bench.alone("fit", case, ours("mtj"), repeats=REPEATS)
        return
    theirs = np.frombuffer(x)
    fit = xb.fit(x, n, "mtj")
    check = same_optimum(xb.fit_result(fit), scipy_fit(np, minimize, theirs))
    bench.compare("fit", case, ours("mtj"), "SciPy L-BFGS-B",
                  lambda: scipy_fit(np, minimize, theirs), check=check, repeats=REPEATS,
                  target=TARGET)
    check = same_goodness(xb, fit, scipy_whole(np, minimize, theirs)[3])
    bench.compare("fit", case, ours("mtj"), "SciPy L-BFGS-B, KS, AD",
                  lambda: scipy_whole(np, minimize, theirs), check=check,
                  repeats=REPEATS, target=TARGET)


def main():
    keep_memory()
    bench = Bench(__doc__)
    for n in SIZES_QUICK if bench.quick else SIZES:
        run(bench, n)


if __name__ == "__main__":
    main()

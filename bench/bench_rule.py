"""The Gauss rule of 64 points with a law as weight, against one peer:
numpy (discretised Stieltjes on Gauss-Legendre panels, then the eigenvalues of the
Jacobi matrix) or chaospy (its own Stieltjes and Golub-Welsch)."""

from timing import Bench, ratio_at_least

LAW, W, B = "mtj:B=0.15,w=0.5", 0.5, 0.15
SIZES = {"numpy": (64,), "chaospy": (16, 64)}
TARGET = {"numpy": None, "chaospy": ratio_at_least(50)}
SAME = 1e-10      # nodes of both sides
PANELS = (-1, -0.6, 0, 0.6, 1)
POINTS = 80       # a panel; exact to rounding for N = 64


def density(np, x):
    e = np.exp(-1 / B)
    z = 2 * B * (1 - e) - 2 * e
    return W * (np.exp(-np.abs(x) / B) - e) / z + (1 - W) * 0.75 * (1 - x * x)


def distribution(np, x):
    t = 1 - np.abs(x)
    e = np.exp(-1 / B)
    z = 2 * B * (1 - e) - 2 * e
    mass = W * (B * (np.exp(-np.abs(x) / B) - e) - e * t) / z + (1 - W) * t * t * (3 - t) / 4
    return np.where(x <= 0, mass, 1 - mass)


def numpy_rule(np, n):
    nodes, weights = np.polynomial.legendre.leggauss(POINTS)
    edges = np.array(PANELS)
    middle, half = (edges[1:] + edges[:-1]) / 2, (edges[1:] - edges[:-1]) / 2
    x = (middle[:, None] + half[:, None] * nodes).ravel()
    w = (half[:, None] * weights).ravel() * density(np, x)
    alpha, beta = np.zeros(n), np.zeros(n)
    older, p, last = np.zeros_like(x), np.ones_like(x), 1.0
    for k in range(n):
        norm = np.sum(w * p * p)
        alpha[k] = np.sum(w * x * p * p) / norm
        beta[k] = norm / last
        older, p, last = p, (x - alpha[k]) * p - beta[k] * older, norm
    off = np.sqrt(beta[1:])
    found, vectors = np.linalg.eigh(np.diag(alpha) + np.diag(off, 1) + np.diag(off, -1))
    return found, beta[0] * vectors[0] ** 2


def with_numpy(np, n):
    return "numpy Stieltjes + eigh", lambda: numpy_rule(np, n)


def with_chaospy(np, n):
    import chaospy

    law = chaospy.UserDistribution(cdf=lambda x: distribution(np, x),
                                   pdf=lambda x: density(np, x),
                                   lower=lambda: -1.0, upper=lambda: 1.0)
    return "chaospy gaussian rule", lambda: chaospy.generate_quadrature(
        n - 1, law, rule="gaussian")


def one_size(bench, np, n):
    xb, case = bench.xb, f"{LAW}, N = {n}"
    law = xb.law(LAW)
    peer, theirs = {"numpy": with_numpy, "chaospy": with_chaospy}[bench.peer](np, n)
    rule = xb.gauss_rule(law, n)
    worst = np.max(np.abs(np.sort(np.ravel(theirs()[0])) - xb.lib.xb_rule_nodes(rule)[:n]))
    xb.lib.xb_rule_destroy(rule)
    if not worst < SAME:
        return bench.wrong("Gauss rule", case, peer, f"nodes off by {worst:.2g}")
    return bench.compare("Gauss rule", case,
                         lambda: xb.lib.xb_rule_destroy(xb.gauss_rule(law, n)), peer,
                         theirs, check=f"nodes within {worst:.0e}",
                         target=TARGET[bench.peer])


def main():
    bench = Bench(__doc__)
    try:
        import numpy as np
        for n in SIZES[bench.peer]:
            one_size(bench, np, n)
    except ImportError as error:
        bench.missing("Gauss rule", LAW, bench.peer, error)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Coefficients of the short polynomials in the vector kernels, by Remez's exchange.

    minimax.py expm1   (exp(r) - 1 - r) / r^2, |r| <= log(2) / 2, least error of exp(r) - 1
                       relative to it (src/base/expseries.h)

Prints them as C floats, lowest power first, with the error before they are rounded.
Needs mpmath.
"""

import struct
import sys

import mpmath as mp

mp.mp.dps = 40


def remez(function, weight, lower, upper, degree, rounds=12):
    """Polynomial p of least max |weight (p - function)|, and that maximum."""
    count = degree + 2
    middle, half = (lower + upper) / 2, (upper - lower) / 2
    at = [middle - half * mp.cos(mp.pi * i / (count - 1)) for i in range(count)]
    grid = [lower + (upper - lower) * mp.mpf(i) / 4000 for i in range(4001)]
    for _ in range(rounds):
        rows = [[x**k for k in range(degree + 1)] + [(-1)**i / weight(x)]
                for i, x in enumerate(at)]
        solved = mp.lu_solve(mp.matrix(rows), mp.matrix([function(x) for x in at]))
        p = [solved[k] for k in range(degree + 1)]
        error = [weight(x) * (mp.polyval(p[::-1], x) - function(x)) for x in grid]
        cuts = ([0] + [i for i in range(1, len(grid)) if error[i] * error[i - 1] < 0]
                + [len(grid)])
        peaks = [max(range(a, b), key=lambda i: abs(error[i]))
                 for a, b in zip(cuts, cuts[1:])]
        if len(peaks) < count:
            break
        at = [grid[i] for i in peaks[:count]]
    return p, max(abs(e) for e in error)


def series(r):
    """(exp(r) - 1 - r) / r^2 without cancellation."""
    return sum(r**k / mp.factorial(k + 2) for k in range(25))


def expm1():
    reach = mp.log(2) / 2
    return remez(series, lambda r: abs(r) / (1 + r / 2), -reach, reach, 4)


def main():
    if sys.argv[1:] != ["expm1"]:
        sys.exit(__doc__)
    p, error = expm1()
    for c in p:
        print(float.hex(struct.unpack("f", struct.pack("f", float(c)))[0]) + "f")
    print(f"error {float(error):.2g}")


if __name__ == "__main__":
    main()

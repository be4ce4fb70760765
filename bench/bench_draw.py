"""Draws per second, and the set-up of samplers, against one peer:
self (our own Gaussian, the store bandwidth, every instruction-set level), gsl,
unuran, numpy or torch."""

import ctypes as c

from bench_laws import laws
from crossbayes_ctypes import aligned_floats, pointer
from timing import Bench, WrongResult, ours_at_most, ratio_at_least

BIG, SMALL = 1_000_000, 65_536  # 4 MB; 256 kB, which stay in the second-level cache
CHECKED = 100_000               # draws that the judge looks at
U_RESOLUTION = 1e-10            # asked of PINV; ours is 2.5e-7 in float, 1e-14 in double
REFERENCE = "mtj:B=0.15,w=0.5"
REFERENCE_SECONDS = 1e-9        # what a draw of it may take with AVX-512
SETUP_SECONDS = 5e-3


class Drawer:
    """One law's sampler with a buffer, as work to be timed."""

    def __init__(self, bench, law, n, standardise=True):
        self.bench, self.law, self.standardise = bench, law, standardise
        self.lib = bench.xb.lib
        self.sampler = bench.xb.sampler(law, standardise)
        self.stream = bench.xb.stream(1)
        self.n = n
        self.buffer = aligned_floats(max(n, CHECKED))
        self.fill = self.lib.xb_sampler_fill
        self.arguments = (self.sampler, pointer(self.buffer), n, c.byref(self.stream), 0)

    def __call__(self):
        self.fill(*self.arguments)

    def clear(self):
        c.memset(self.arguments[1], 0, 4 * self.n)

    def level(self, level):
        return self.bench.xb.levels.levels_fill(
            self.sampler, level.encode(), pointer(self.buffer), self.n,
            c.byref(self.stream), 0)

    def check(self):
        self.fill(self.sampler, pointer(self.buffer), CHECKED, c.byref(self.stream), 0)
        return self.bench.judge("ours", self.bench.xb.ks(self.law, self.buffer, CHECKED,
                                                         self.standardise))

    def __del__(self):
        self.lib.xb_sampler_destroy(self.sampler)


def size(n):
    return f"{n // 1000}k" if n < BIG else "1M"


def describe(ours, theirs=None):
    return f"KS {ours:.2f}" + ("" if theirs is None else f", {theirs:.2f}")


def within_ourselves(bench):
    """Each law against our Gaussian and the store bandwidth; every level."""
    made = laws(bench)
    gaussian = {n: Drawer(bench, made["gaussian"], n) for n in (SMALL, BIG)}
    drawers = [(f"{name}, {size(n)}", name, Drawer(bench, law, n))
               for name, law in made.items() for n in (SMALL, BIG)]
    for case, name, ours in drawers:
        check = describe(ours.check())
        if name in ("gaussian", REFERENCE):
            fast = name == REFERENCE and bench.xb.levels.levels_best() == b"v4"
            bench.alone("draws", case, ours, ours.n,
                        ours_at_most(REFERENCE_SECONDS) if fast else None, check)
        if name != "gaussian":
            bench.compare("draws", case, ours, "our gaussian", gaussian[ours.n], ours.n,
                          ratio_at_least(0.5), check)
    for case, _, ours in drawers:
        bench.compare("share of store bandwidth", case, ours, "memset", ours.clear, ours.n)
    for name in ("gaussian", REFERENCE, "mtj:B=0.003,w=0.5"):
        for level in ("ref", "v2", "v3", "v4"):
            one_level(bench, name, Drawer(bench, made[name], SMALL), level)


def one_level(bench, name, ours, level):
    case = f"{name}, level {level}"
    if ours.level(level):
        bench.alone("levels", case, lambda: ours.level(level), SMALL)
    else:
        bench.missing("levels", case, None, "not on this machine")


def draws_against(bench, peer, cases, fill):
    """cases: (name, n, target). `fill(n)` is the peer's work, n Gaussian draws, and
    its buffer."""
    made = laws(bench)
    for name, n, target in cases:
        ours = Drawer(bench, made[name], n)
        work, theirs = fill(n)
        work()
        ks = bench.judge(peer, bench.xb.ks(made["gaussian"], theirs, min(n, CHECKED),
                                           True))
        bench.compare("draws", f"{name}, {size(n)}", ours, peer, work, n,
                      target, describe(ours.check(), ks))


def gaussian_cases(target=None):
    return [("gaussian", SMALL, target), ("gaussian", BIG, target)]


def gsl(bench):
    peers = bench.xb.peers
    if not peers.peer_has_gsl():
        return bench.missing("draws", "gaussian", "GSL ziggurat", "not installed")
    generator = peers.gsl_peer_new()

    def fill(n):
        buffer = aligned_floats(n)
        return lambda: peers.gsl_peer_fill(generator, pointer(buffer), n), buffer

    return draws_against(bench, "GSL ziggurat", gaussian_cases(), fill)


def numpy(bench):
    import numpy as np
    generator = np.random.Generator(np.random.SFC64(1))

    def fill(n):
        buffer = np.empty(n, np.float32)
        return lambda: generator.standard_normal(dtype=np.float32, out=buffer), buffer

    draws_against(bench, "numpy standard_normal", gaussian_cases(), fill)


def torch(bench):
    import torch as th
    th.set_num_threads(1)
    th.manual_seed(1)

    class Buffer:  # what pointer() takes
        def __init__(self, tensor):
            self.tensor, self.ctypes = tensor, self
            self.data = tensor.data_ptr()

    def fill(n):
        tensor = th.empty(n)
        return tensor.normal_, Buffer(tensor)

    target = ratio_at_least(4, 6)
    # there is no other law in torch: its Gaussian is what ours are measured by
    cases = gaussian_cases(target) + [(REFERENCE, SMALL, target), (REFERENCE, BIG, target)]
    cases += [(name, BIG, target) for name in laws(bench)
              if name not in ("gaussian", REFERENCE)]
    draws_against(bench, "torch normal_", cases, fill)


class Pinv:
    def __init__(self, bench, law, from_cdf):
        self.peers = bench.xb.peers
        self.generator = self.peers.pinv_peer_new(law, U_RESOLUTION, from_cdf)
        if not self.generator:
            raise WrongResult("set-up failed")

    def fill(self, buffer, n):
        self.peers.pinv_peer_fill(self.generator, pointer(buffer), n)

    def __del__(self):
        if self.generator:
            self.peers.pinv_peer_free(self.generator)


def working_pinv(bench, law, buffer):
    """From the density; where that goes wrong, from the distribution function."""
    wrong = []
    for from_cdf, name in ((0, "UNU.RAN PINV"), (1, "UNU.RAN PINV, cdf")):
        try:
            pinv = Pinv(bench, law, from_cdf)
            pinv.fill(buffer, CHECKED)
            ks = bench.judge("peer", bench.xb.ks(law, buffer, CHECKED, False))
            return pinv, from_cdf, name, ks
        except WrongResult as error:
            wrong.append(f"{name}: {error}")
    raise WrongResult("; ".join(wrong))


def unuran(bench):
    peers, xb = bench.xb.peers, bench.xb
    if not peers.peer_has_unuran():
        return bench.missing("draws", "every law", "UNU.RAN", "not installed")
    for name, law in laws(bench).items():
        ours = Drawer(bench, law, SMALL, standardise=False)
        buffer = aligned_floats(CHECKED)
        try:
            pinv, from_cdf, peer, ks = working_pinv(bench, law, buffer)
        except WrongResult as error:
            bench.wrong("draws", name, "UNU.RAN PINV", error)
            bench.alone("set-up", name, lambda: xb.lib.xb_sampler_destroy(
                xb.sampler(law)), target=ours_at_most(SETUP_SECONDS))
            continue
        bench.compare("draws", f"{name}, {size(SMALL)}", ours, peer,
                      lambda: pinv.fill(buffer, SMALL), SMALL, ratio_at_least(10),
                      describe(ours.check(), ks))
        bench.compare("set-up", name, lambda: xb.lib.xb_sampler_destroy(
            xb.sampler(law)), peer, lambda: peers.pinv_peer_free(
                peers.pinv_peer_new(law, U_RESOLUTION, from_cdf)),
            target=ours_at_most(SETUP_SECONDS))


def main():
    bench = Bench(__doc__)
    run = {"self": within_ourselves, "gsl": gsl, "numpy": numpy, "torch": torch, "unuran": unuran}
    try:
        run[bench.peer](bench)
    except ImportError as error:
        bench.missing("draws", "gaussian", bench.peer, error)


if __name__ == "__main__":
    main()

"""The stochastic matrix product: y = x (mu + sigma z), x [inputs][n], a new draw z of all
n x n weights for every product, as a layer under Monte Carlo prediction does it. The
peer: PyTorch, eager with buffers that are used again (normal_, addcmul, mm, each with
out=), or compiled, whichever is faster.

Check: under the very draw ours took, the outputs must be those of a product in double.
"""

import numpy as np

from net_ctypes import Net, PREDICT
from timing import Bench, WrongResult, fastest, ratio_at_least

SIZES = (64, 128, 256, 512, 1024, 2048)
SIZES_QUICK = (64, 512, 2048)
INPUTS = (1, 16, 256)
SIGMA = 0.05
SAME = 1e-5          # of the largest output
REPEATS = 7
TARGET = {1: ratio_at_least(5), 256: ratio_at_least(1.3)}
WEIGHTS_A_TURN = 1 << 18  # small products are done several times in one call


class Ours:
    def __init__(self, xb, n, inputs):
        self.net = Net(xb, f"dense {n} nobias", (1, 1, n), SIGMA)
        self.x = np.random.default_rng(1).standard_normal((inputs, n), np.float32)
        self.y = np.empty((inputs, n), np.float32)
        self.made = self.net.workspace(inputs, False)
        self.count = max(1, WEIGHTS_A_TURN // (n * n))
        self.work = self.net.draws(self.made, self.y, self.x, self.count)

    def check(self):
        self.net.forward(self.made, self.y, self.x, 7, PREDICT)
        mu, sigma, z = (a.astype(np.float64) for a in (
            *self.net.cut(self.net.mu), *self.net.cut(self.net.sigma),
            *self.net.noise(7)))
        exact = self.x.astype(np.float64) @ (mu + sigma * z)
        off = np.abs(self.y - exact).max() / np.abs(exact).max()
        if not off < SAME:
            raise WrongResult(f"outputs are off by {off:.2g} of the largest")
        return f"outputs within {off:.0e}"


class TorchProduct:
    def __init__(self, torch, ours):
        self.torch, self.count = torch, ours.count
        self.mu, self.sigma = (torch.from_numpy(ours.net.cut(b)[0])
                               for b in (ours.net.mu, ours.net.sigma))
        self.x = torch.from_numpy(ours.x)
        self.z, self.theta = torch.empty_like(self.mu), torch.empty_like(self.mu)
        self.y = torch.empty_like(self.x)

    def eager(self):
        torch = self.torch
        with torch.inference_mode():
            for _ in range(self.count):
                torch.addcmul(self.mu, self.sigma, self.z.normal_(), out=self.theta)
                torch.mm(self.x, self.theta, out=self.y)

    def compiled(self):
        torch = self.torch

        def product(x, mu, sigma):
            return x @ (mu + sigma * torch.randn_like(mu))

        torch.compiler.reset()  # else the ninth shape would run eagerly
        function = torch.compile(product, dynamic=False)

        def work():
            with torch.inference_mode():
                for _ in range(self.count):
                    function(self.x, self.mu, self.sigma)
        return work


def one_case(bench, torch, n, inputs):
    ours = Ours(bench.xb, n, inputs)
    case = f"{n} x {n}, {inputs} input{'s' * (inputs > 1)} a draw"
    try:
        check = ours.check()
    except WrongResult as error:
        return bench.wrong("stochastic product", case, "PyTorch", error)
    peer = TorchProduct(torch, ours)
    name, work = fastest(bench, "stochastic product", case,
                         [("PyTorch eager", lambda: peer.eager),
                          ("PyTorch compiled", peer.compiled)])
    bench.compare("stochastic product", case, ours.work, name, work, items=ours.count,
                  target=TARGET.get(inputs), check=check, repeats=REPEATS,
                  limit=bench.share(fma=inputs * n * n) if inputs > 16 else
                  bench.share(draw=n * n))
    return ours.net.destroy(ours.made)


def main():
    bench = Bench(__doc__)
    try:
        import torch
    except ImportError as error:
        return bench.missing("stochastic product", "all", "PyTorch", error)
    torch.set_num_threads(1)
    for n in SIZES_QUICK if bench.quick else SIZES:
        for inputs in INPUTS:
            one_case(bench, torch, n, inputs)
    return None


if __name__ == "__main__":
    main()

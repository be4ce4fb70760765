"""The convolutional network for faces (blocks of conv, relu, maxpool, batchnorm) beside
PyTorch: a step of training (forward and backward of a batch of 100 under one draw of
the weights, gradients by mu and sigma; no optimiser on either side) and prediction of
100 images under 32 draws.

The peer is the fastest of PyTorch eager and compiled in channels_last (its contiguous
format is slower here in all of them). Checks: under the very draws ours took, outputs
and every gradient must be those of PyTorch in double; how far PyTorch's own in float
are is written beside it.
    bench_conv.py BUILD torch         one thread, processor time
    bench_conv.py BUILD torch-wide    two threads, wall-clock time
"""

import os
import time

import numpy as np

from net_ctypes import PREDICT, Net
from timing import Bench, WrongResult, fastest, ratio_at_least

BATCH, DRAWS, FILTERS, SIGMA = 100, 32, 16, 0.01
SIZES = (200, 100)
SAME_OUTPUT, SAME_GRADIENT = 1e-4, 1e-3  # of the largest
EPSILON = 1e-3                           # batchnorm's, ours
REPEATS = 3
TARGET = {"step": ratio_at_least(1.2), "predict": ratio_at_least(1.5)}
WIDE = 2


def net_text():
    convs = [f"conv {FILTERS << b}, relu, maxpool 2 ceil, batchnorm"
             for b in range(4) for _ in range(2)]
    dense = [f"dense {n}, batchnorm, {f}" for n, f in ((100, "relu"), (10, "relu"),
                                                       (1, "sigmoid"))]
    return ", ".join(convs + ["flatten"] + dense)


def pictures(random, size):
    """Coarse patches with noise: images that differ, as batchnorm in the last layers
    (few values a channel) magnifies what is the same in all of them."""
    coarse = random.random((BATCH, 8, 8, 3), np.float32)
    fine = np.kron(coarse, np.ones((1, size // 8 + 1, size // 8 + 1, 1), np.float32))
    noise = random.random((BATCH, size, size, 3), np.float32)
    return np.ascontiguousarray(0.8 * fine[:, :size, :size] + 0.2 * noise)


class Torch:
    """The same net in functions of a list of tensors, ours in order."""

    def __init__(self, threads):
        import torch
        self.torch, self.f = torch, torch.nn.functional
        torch.set_num_threads(threads)

    def tensor(self, array):
        """As PyTorch wants it: kernels [out][in][3][3] in channels_last."""
        t = self.torch.from_numpy(np.array(array))
        if t.ndim != 4:
            return t.T.contiguous() if t.ndim == 2 else t
        return t.permute(3, 2, 0, 1).contiguous(memory_format=self.torch.channels_last)

    def images(self, x):
        t = self.torch.from_numpy(x).permute(0, 3, 1, 2)
        return t.contiguous(memory_format=self.torch.channels_last)

    def forward(self, weights, state, x, train):
        f, rest = self.f, iter(weights)
        for i in range(11):
            kernel, bias, scale, shift = next(rest), next(rest), next(rest), next(rest)
            if kernel.ndim == 4:
                x = f.max_pool2d(f.relu(f.conv2d(x, kernel, bias, padding=1)), 2,
                                 ceil_mode=True)
            else:
                x = f.linear(x.flatten(1), kernel, bias)
            x = f.batch_norm(x, *state[i], scale, shift, train, 0.01, EPSILON)
            if kernel.ndim == 2:
                x = f.relu(x) if i < 10 else self.torch.sigmoid(x)
        return x

    def state_of(self, weights):
        return [(self.torch.zeros(len(w)), self.torch.ones(len(w)))
                for w in weights[2::4]]

    def step(self, mu, sigma, z, state, x, target):
        theta = [m + s * n for m, s, n in zip(mu, sigma, z)]
        y = self.forward(theta, state, x, True)
        ((y - target) ** 2).sum().backward()
        return y

    def predict(self, mu, sigma, z, state, x):
        with self.torch.no_grad():
            theta = [m + s * n for m, s, n in zip(mu, sigma, z)]
            return self.forward(theta, state, x, False)


class Case:
    """One size of image: both sides, their inputs, and whether they agree."""

    def __init__(self, bench, size, threads):
        random = np.random.default_rng(1)
        self.net = Net(bench.xb, net_text(), (size, size, 3), SIGMA)
        self.x = pictures(random, size)
        self.target = random.random((BATCH, 1), np.float32)
        self.y = np.empty((BATCH, 1), np.float32)
        self.peer = Torch(threads)
        self.px = self.peer.images(self.x)
        self.ptarget = self.peer.torch.from_numpy(self.target)
        self.mu, self.sigma = ([self.peer.tensor(a) for a in self.net.cut(block)]
                               for block in (self.net.mu, self.net.sigma))
        self.state = self.peer.state_of(self.mu)

    def draw(self, sample):
        return [self.peer.tensor(z) for z in self.net.noise(sample)]

    def peer_step(self, compiled):
        function = self.peer.torch.compile(self.peer.step) if compiled else self.peer.step
        z = self.draw(0)
        for t in self.mu + self.sigma:
            t.requires_grad_()

        def work():
            for t in self.mu + self.sigma:
                t.grad = None
            return function(self.mu, self.sigma, z, self.state, self.px, self.ptarget)
        return work

    def peer_predict(self, compiled):
        function = (self.peer.torch.compile(self.peer.predict) if compiled
                    else self.peer.predict)
        z = [self.draw(s) for s in range(DRAWS)]
        for t in self.mu + self.sigma:
            t.requires_grad_(False)
        return lambda: [function(self.mu, self.sigma, n, self.state, self.px) for n in z]

    def exact(self, train):
        """Outputs and gradients (mu's, then sigma's) in double."""
        mu, sigma, z = ([t.detach().double() for t in part]
                        for part in (self.mu, self.sigma, self.draw(0)))
        state = [(m.double(), v.double()) for m, v in self.peer.state_of(mu)]
        if not train:
            return self.peer.predict(mu, sigma, z, state, self.px.double()).numpy()
        for t in mu + sigma:
            t.requires_grad_()
        y = self.peer.step(mu, sigma, z, state, self.px.double(), self.ptarget.double())
        return y.detach().numpy(), [t.grad.numpy() for t in mu + sigma]

    def check_step(self, made):
        self.net.step(made, self.y, self.x, self.target)
        y, gradients = self.exact(True)
        off = np.abs(y - self.y).max()
        if not off <= SAME_OUTPUT:
            raise WrongResult(f"outputs are off by {off:.2g}")
        theirs = np.abs(self.peer_step(False)().detach().numpy() - y).max()
        ours = [self.peer.tensor(a).numpy() for block in self.net.gradient
                for a in self.net.cut(block)]
        floor = 1e-3 * max(np.abs(g).max() for g in gradients)  # some are 0 but for rounding
        worst = max(np.abs(a - b).max() / max(np.abs(b).max(), floor)
                    for a, b in zip(ours, gradients) if a.any())
        if not worst <= SAME_GRADIENT:
            raise WrongResult(f"gradients are off by {worst:.2g} of the largest")
        return (f"outputs within {off:.0e} (PyTorch's {theirs:.0e}), gradients {worst:.0e};"
                f" workspace {self.net.bytes_of(made) / 1e6:.0f} MB")

    def predict(self, made):
        def work():
            for s in range(DRAWS):
                self.net.forward(made, self.y, self.x, s, PREDICT)
        return work

    def check_predict(self, made):
        """Both with the running statistics they start with."""
        self.net.lib.xb_net_state_start(self.net.net, self.net.state.ctypes.data)
        self.state = self.peer.state_of(self.mu)
        self.net.forward(made, self.y, self.x, 0, PREDICT)
        off = np.abs(self.exact(False) - self.y).max()
        if not off <= SAME_OUTPUT:
            raise WrongResult(f"outputs are off by {off:.2g}")
        return f"outputs within {off:.0e}"


def run_size(bench, size, threads, clock):
    case = Case(bench, size, threads)
    name = f"{size} x {size}, batch {BATCH}" + (f", {threads} threads" * (threads > 1))

    def compare(what, ours, make, check, items=1):
        forms = [("PyTorch eager", lambda: make(False)),
                 ("PyTorch compiled", lambda: make(True))]
        peer, theirs = fastest(bench, what, name, forms, clock, tries=1)
        bench.compare(what, name, ours, peer, theirs, items=items, check=check,
                      target=TARGET[what.split()[-1]] if size == SIZES[0] else None,
                      repeats=REPEATS, clock=clock)

    made = case.net.workspace(BATCH, True)
    check = case.check_step(made)
    compare("convolution, step", lambda: case.net.step(made, case.y, case.x, case.target),
            case.peer_step, check)
    case.net.destroy(made)
    made = case.net.workspace(BATCH, False)
    for t in case.mu + case.sigma:
        t.requires_grad_(False)
    check = case.check_predict(made)
    compare("convolution, predict", case.predict(made), case.peer_predict, check, DRAWS)
    case.net.destroy(made)


def main():
    bench = Bench(__doc__.splitlines()[0])
    threads, clock = 1, time.process_time_ns
    if bench.peer == "torch-wide":
        threads, clock = WIDE, time.perf_counter_ns
        os.sched_setaffinity(0, range(os.cpu_count()))
        bench.xb.lib.xb_ctx_set_threads(bench.xb.ctx, threads)
    for size in SIZES[:1] if bench.quick else SIZES:
        run_size(bench, size, threads, clock)


if __name__ == "__main__":
    main()

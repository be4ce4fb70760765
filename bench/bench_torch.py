#!/usr/bin/env python3
"""A training step of crossbayes.torch beside bayesian-torch's, in one run.

    python bench/bench_torch.py [THREADS]
    python bench/bench_torch.py products      the products of dense layers beside PyTorch's

A step is forward, loss with KL, backward and Adam. Networks are Sequentials; `forward by hand`
is the same network as a module that calls its layers itself. bayesian-torch has no draw for each
example: beside the estimator example it is called once for each. Needs torch and bayesian-torch. Both sides
take turns, and every number is the least of its repeats, in CPU time of the process: other
work on the machine does not change the ratio much.
"""

import sys
import time

import torch
from bayesian_torch.layers import Conv1dFlipout, Conv1dReparameterization
from bayesian_torch.models.dnn_to_bnn import dnn_to_bnn, get_kl_loss
from torch import nn

import crossbayes.torch as xt

PRIOR = {"prior_mu": 0.0, "prior_sigma": 1.0, "posterior_mu_init": 0.0, "moped_enable": False,
         "posterior_rho_init": -3.0, "moped_delta": 0.5}


def dense(*widths):
    layers = []
    for a, b in zip(widths, widths[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def conv():
    return nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(32 * 49, 128), nn.ReLU(), nn.Linear(128, 10))


def conv1d():
    return nn.Sequential(nn.Conv1d(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2),
                         nn.Conv1d(16, 32, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2),
                         nn.Flatten(), nn.Linear(32 * 32, 64), nn.ReLU(), nn.Linear(64, 10))


class ByHand(nn.Module):
    """The layers of a Sequential, called one by one."""

    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class OneByOne(nn.Module):
    """A network that draws its weights for each example."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        return torch.cat([self.net(one) for one in x.split(1)])


REPEATS, SECONDS = 25, 1  # at least, of all sides together

CASES = {
    "dense 8-50-1, batch 100": (lambda: dense(8, 50, 1), (100, 8)),
    "dense 784-400-400-10, batch 128": (lambda: dense(784, 400, 400, 10), (128, 784)),
    "dense 784-1200-1200-10, batch 128": (lambda: dense(784, 1200, 1200, 10), (128, 784)),
    "conv 28 x 28, batch 64": (conv, (64, 1, 28, 28)),
    "dense 784-400-400-10, forward by hand": (
        lambda: ByHand(dense(784, 400, 400, 10)), (128, 784)),
    "conv of series of 128, batch 64": (conv1d, (64, 1, 128)),
    "conv 28 x 28, forward by hand": (lambda: ByHand(conv()), (64, 1, 28, 28)),
}
KINDS = {"shared": "Reparameterization", "flipout": "Flipout", "example": "Reparameterization"}


def ours(plain, estimator):
    net = xt.bayesian(plain, estimator=estimator, random="all")
    return net, lambda y: xt.free_energy(net, y.square().mean(), examples=60000)


def noisy_conv1d(layer, kind):
    make = {"Reparameterization": Conv1dReparameterization, "Flipout": Conv1dFlipout}[KINDS[kind]]
    made = make(layer.in_channels, layer.out_channels, layer.kernel_size[0],
                padding=layer.padding[0], posterior_rho_init=PRIOR["posterior_rho_init"])
    made.dnn_to_bnn_flag = True  # outputs alone
    return made


def theirs(plain, kind):
    one = {i: m for i, m in enumerate(plain.children()) if type(m) is nn.Conv1d}
    for i in one:
        plain[i] = nn.Identity()  # bayesian-torch's own conversion fails on these
    dnn_to_bnn(plain, {**PRIOR, "type": KINDS[kind]})
    for i, layer in one.items():
        plain[i] = noisy_conv1d(layer, kind)
    net = OneByOne(plain) if kind == "example" else plain
    return net, lambda y: y.square().mean() + get_kl_loss(plain) / 60000


def stepper(net, loss, x):
    adam = torch.optim.Adam(net.parameters(), lr=1e-4, fused=True)

    def step():
        adam.zero_grad()
        loss(net(x)).backward()
        adam.step()

    return step


def measure(threads):
    """(network, estimator, ms of a plain step, of bayesian-torch's, of ours), one after another."""
    torch.set_num_threads(threads)
    for name, (make, shape) in CASES.items():
        for estimator in KINDS:
            x = torch.randn(shape)
            plain = make()
            steps = [stepper(plain, lambda y: y.square().mean(), x),
                     stepper(*theirs(make(), estimator), x), stepper(*ours(make(), estimator), x)]
            best = [float("inf")] * 3
            # a step of bayesian-torch for each example takes seconds
            least, begin, rounds = REPEATS if estimator != "example" else 2, time.process_time(), 0
            while rounds < least or time.process_time() - begin < SECONDS:
                rounds += 1
                for i, step in enumerate(steps):
                    start = time.process_time()
                    step()
                    best[i] = min(best[i], time.process_time() - start)
            yield (name, estimator, *(1e3 * t for t in best))


def products():
    """GFLOP/s of the products of a dense layer: forward, and the gradients by weights and inputs."""
    from crossbayes.torch import chains

    torch.set_num_threads(1)
    print("GFLOP/s, one thread             torch.mm  crossbayes")
    for rows, wide_in, wide_out in ((128, 784, 400), (128, 400, 400), (128, 1200, 1200)):
        x, dy = torch.randn(rows, wide_in), torch.randn(rows, wide_out)
        w = torch.randn(wide_in, wide_out)
        ways = {
            "forward": (lambda: torch.mm(x, w), lambda: chains._product(x, w, None)),
            "by weights": (lambda: torch.mm(x.t(), dy), lambda: chains._by_weight(x, dy)),
            "by inputs": (lambda: torch.mm(dy, w.t()), lambda: chains._by_input(dy, w)),
        }
        for name, sides in ways.items():
            best = [float("inf")] * 2
            for _ in range(100):
                for i, side in enumerate(sides):
                    start = time.process_time()
                    side()
                    best[i] = min(best[i], time.process_time() - start)
            a, b = (2e-9 * rows * wide_in * wide_out / t for t in best)
            print(f"{rows} x {wide_in} x {wide_out:5d} {name:12s} {a:10.0f} {b:11.0f}", flush=True)


def main():
    if sys.argv[1:] == ["products"]:
        products()
        return
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    print("ms of CPU a step                         plain  bayesian-torch  crossbayes  ratio")
    for name, estimator, a, b, c in measure(threads):
        print(f"{name:38s} {a:7.2f} {b:9.2f} {c:13.2f} {b / c:9.2f}  {estimator}", flush=True)


if __name__ == "__main__":
    main()

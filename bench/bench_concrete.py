#!/usr/bin/env python3
"""UCI concrete: CPU time until held-out rows have the same NLL, beside bayesian-torch.

    python bench/bench_concrete.py data.txt [SECONDS]

data.txt has numbers alone, the target in its last column. A tenth of the rows is held out. Both train a net of
one hidden layer of 50 units with constant noise, on one thread; bayesian-torch with Adam
(0.01, batches of 100, KL / rows summed over weights, noise learnt), scored every 50 epochs with
200 draws until it reaches the NLL of `xb.train` or SECONDS (120) of CPU have passed.
"""

import sys
import time

import bayesian_torch.layers as bt
import numpy as np
import torch
from torch import nn

import crossbayes as xb


def split(table):
    order = np.random.default_rng(1).permutation(len(table))
    cut = len(table) // 10
    test, train = table[order[:cut]], table[order[cut:]]
    return train[:, :-1], train[:, -1], test[:, :-1], test[:, -1]


def mixture_nll(draws, noise, y):
    """Minus the mean log density of an equal mixture of normals; draws [S][n]."""
    z = -0.5 * ((draws - y) / noise) ** 2 - np.log(noise) - 0.5 * np.log(2 * np.pi)
    top = z.max(0)
    return -float(np.mean(top + np.log(np.exp(z - top).mean(0))))


def ours(x, y, x_test, y_test):
    start = time.process_time()
    model = xb.train(x, y, net="dense 50, relu, dense 1", members=1, likelihood="gaussian", seed=1)
    seconds = time.process_time() - start
    return seconds, mixture_nll(model.draws(x_test, 1000), model.noise_std, y_test)


class Peer(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.first = bt.LinearReparameterization(inputs, 50, posterior_rho_init=-4.0)
        self.last = bt.LinearReparameterization(50, 1, posterior_rho_init=-4.0)
        self.log_noise = nn.Parameter(torch.zeros(()))

    def forward(self, x):
        h, _ = self.first(x)
        y, _ = self.last(torch.relu(h))
        return y[:, 0]

    def kl(self):
        """Summed over weights: the layers' own kl_loss is a mean."""
        total = 0.0
        for layer in (self.first, self.last):
            for name in ("weight", "bias"):
                mu, rho = getattr(layer, f"mu_{name}"), getattr(layer, f"rho_{name}")
                sigma = torch.log1p(torch.exp(rho))
                total = total + (0.5 * (sigma**2 + mu**2 - 1) - torch.log(sigma)).sum()
        return total


def peer(x, y, x_test, y_test, wanted, most):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    mean, sd, y_mean, y_sd = x.mean(0), x.std(0), y.mean(), y.std()
    a = torch.tensor((x - mean) / sd, dtype=torch.float32)
    b = torch.tensor((y - y_mean) / y_sd, dtype=torch.float32)
    a_test = torch.tensor((x_test - mean) / sd, dtype=torch.float32)
    net = Peer(x.shape[1])
    adam = torch.optim.Adam(net.parameters(), lr=0.01)
    spent, epoch, best = 0.0, 0, float("inf")
    while spent < most:
        start = time.process_time()
        for _ in range(50):
            for part in torch.randperm(len(a)).split(100):
                adam.zero_grad()
                off = (net(a[part]) - b[part]) * torch.exp(-net.log_noise)
                nll = 0.5 * off.square().mean() + net.log_noise
                (nll + net.kl() / len(a)).backward()
                adam.step()
        epoch += 50
        spent += time.process_time() - start
        with torch.no_grad():
            draws = np.stack([net(a_test).numpy() for _ in range(200)]) * y_sd + y_mean
        nll = mixture_nll(draws, float(net.log_noise.detach().exp()) * y_sd, y_test)
        best = min(best, nll)
        if best <= wanted:
            break
    return spent, epoch, best


def compare(path, most):
    """Seconds and NLL of `xb.train`; seconds, best NLL and epochs of the peer."""
    xb.set_threads(1)
    parts = split(np.loadtxt(path))
    seconds, nll = ours(*parts)
    spent, epochs, best = peer(*parts, nll, most)
    xb.set_threads(0)
    return seconds, nll, spent, best, epochs


def main():
    most = float(sys.argv[2]) if len(sys.argv) > 2 else 120.0
    seconds, nll, spent, best, epochs = compare(sys.argv[1], most)
    reached = "reached" if best <= nll else "not reached"
    print(f"crossbayes      {seconds:7.2f} s of CPU, NLL {nll:.3f}")
    print(f"bayesian-torch  {spent:7.2f} s of CPU, NLL {best:.3f} ({reached}), {epochs} epochs")
    print(f"ratio {'' if best <= nll else 'more than '}{spent / seconds:.1f}")


if __name__ == "__main__":
    main()

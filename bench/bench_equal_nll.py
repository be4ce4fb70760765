#!/usr/bin/env python3
"""Time until held-out rows of UCI concrete and yacht have the same NLL: `crossbayes train`
beside mean-field variational inference in PyTorch, JAX and bayesian-torch.

    python bench/bench_equal_nll.py PROGRAM [--data DIR] [--sets concrete,yacht] [--first 0]
        [--splits 2] [--seconds 30] [--peers torch,jax,bayesian-torch] [--quick]

Ours is the program with default settings (it tries nets, likelihoods and logarithms, and
trains three members), and once more restricted to the peers' model. That model is one hidden
layer of 50 relu units with random kernels, constant noise that is learnt, and the prior of V14;
bayesian-torch also has random biases. Peers train as ours does (batches of 100, Adam, a rate of
3e-3 that falls by half a cosine over 10,000 steps) and start again with twice the steps until
their time is up. Every 250 steps a peer's NLL is computed on the test rows; the first time that
is at most ours counts. To look at the test rows, to compile and to be scored costs a peer
nothing. Seconds are processor time of one thread; ours includes reading the file. The table has
the median over splits of time and ratio, and the mean of NLL. What is not installed, or has no
data, is said to be skipped.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false "
                                   "intra_op_parallelism_threads=1")
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402  (libraries read their settings when first imported)

UNITS, BATCH, RATE, PERIOD, CHUNK, DRAWS = 50, 100, 3e-3, 10_000, 250, 500
SIGMA = 0.01
TINY = 1e-12  # a root of 0, where no unit is active, has no gradient
OURS = {"default": [],
        "the peers' model": ["--net", f"dense {UNITS}, relu, dense 1", "--likelihood", "gaussian",
                             "--members", "1"]}


class Data:
    """One split, standardised by its training rows."""

    def __init__(self, folder, split):
        def numbers(name):
            return np.loadtxt(os.path.join(folder, name), ndmin=1)

        table = np.atleast_2d(numbers("data.txt"))
        inputs = numbers("index_features.txt").astype(int)
        target = int(numbers("index_target.txt")[0])
        rows = {p: numbers(f"index_{p}_{split}.txt").astype(int) for p in ("train", "test")}
        self.raw = {p: table[i][:, [*inputs, target]] for p, i in rows.items()}
        mean, sd = self.raw["train"].mean(0), self.raw["train"].std(0)
        self.y_mean, self.y_sd = mean[-1], sd[-1]
        scaled = {p: ((t - mean) / sd).astype(np.float32) for p, t in self.raw.items()}
        self.x, self.y = scaled["train"][:, :-1], scaled["train"][:, -1:]
        self.x_test, self.y_test = scaled["test"][:, :-1], self.raw["test"][:, -1]

    def write(self, folder):
        names = [f"x{j + 1}" for j in range(self.x.shape[1])] + ["y"]
        for part, table in self.raw.items():
            np.savetxt(os.path.join(folder, f"{part}.csv"), table, fmt="%.17g", delimiter=",",
                       header=",".join(names), comments="")


# ---- ours


def child_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def program(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def ours(path, data, seed, options):
    """Seconds of training, and NLL."""
    with tempfile.TemporaryDirectory() as folder:
        data.write(folder)
        file = {n: os.path.join(folder, n) for n in ("train.csv", "test.csv", "m.safetensors")}
        start = child_seconds()
        program(path, "train", file["train.csv"], "--target", "y", "--seed", str(seed), "--threads",
                "1", "-q", "-o", file["m.safetensors"], *options)
        taken = child_seconds() - start
        said = program(path, "eval", file["m.safetensors"], file["test.csv"], "--threads", "1",
                       "-q", "--json")
    return taken, json.loads(said)["laws"][0]["nll"]


# ---- what the peers share


def start_of(data):
    """Kernels by He, (in, out); biases 0."""
    random = np.random.default_rng(1)
    sizes = [data.x.shape[1], UNITS, 1]
    mu = [random.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32)
          for a, b in zip(sizes, sizes[1:])]
    return mu, [np.zeros(b, np.float32) for b in sizes[1:]]


def prior_sd(inputs):
    return float(np.sqrt(2 / inputs))  # (V14)


def rates(step, steps):
    """Half a cosine over PERIOD steps, then over twice as many, and so on."""
    first, period = 0, PERIOD
    out = []
    for i in range(step, step + steps):
        while i >= first + period:
            first, period = first + period, 2 * period
        out.append(RATE * 0.5 * (1 + np.cos(np.pi * (i - first) / period)))
    return np.array(out, np.float32)


def batches(random, n, steps):
    """Rows of each step [steps][BATCH], in shuffled epochs."""
    each = n // BATCH if n >= BATCH else 1
    epochs = [random.permutation(n)[:each * BATCH].reshape(each, -1)
              for _ in range(-(-steps // each))]
    return np.concatenate(epochs)[:steps]


def nll_of(layers, noise, data):
    """Of a mixture of normals over draws; layers: (mean, sd) of kernel and of bias."""
    random, h = np.random.default_rng(2), data.x_test[None]
    for i, (m, s, b, c) in enumerate(layers):
        w = m + s * random.standard_normal((DRAWS, *m.shape), dtype=np.float32)
        v = b + c * random.standard_normal((DRAWS, 1, len(b)), dtype=np.float32)
        h = h @ w + v
        if i + 1 < len(layers):
            h = np.maximum(h, 0)
    sd = noise * data.y_sd
    z = -0.5 * ((h[..., 0] * data.y_sd + data.y_mean - data.y_test) / sd) ** 2
    top = z.max(0)
    return -float(np.mean(top + np.log(np.exp(z - top).mean(0)) - np.log(sd)
                          - 0.5 * np.log(2 * np.pi)))


# ---- PyTorch


class Torch:
    """All kernels in one vector, noise on the outputs (local), fused Adam."""

    def __init__(self, data, compiled=False):
        import torch
        torch.set_num_threads(1)
        torch.manual_seed(1)
        self.torch, self.data = torch, data
        self.x, self.y = torch.from_numpy(data.x), torch.from_numpy(data.y)
        mu, bias = start_of(data)
        self.shapes = [m.shape for m in mu]
        self.sizes = [m.size for m in mu]
        flat = np.concatenate([m.ravel() for m in mu])
        self.prior = torch.from_numpy(np.concatenate(
            [np.full(m.size, prior_sd(len(m)), np.float32) for m in mu]))
        self.mu = torch.from_numpy(flat).requires_grad_()
        self.rho = torch.full_like(self.mu, float(np.log(SIGMA))).requires_grad_()
        self.bias = [torch.from_numpy(b).requires_grad_() for b in bias]
        self.log_noise = torch.zeros(()).requires_grad_()
        self.rate = torch.tensor(RATE)
        self.adam = torch.optim.Adam([self.mu, self.rho, *self.bias, self.log_noise],
                                     lr=self.rate, fused=True)
        self.loss = torch.compile(self.plain_loss) if compiled else self.plain_loss

    def kernels(self, flat):
        return [w.view(s) for w, s in zip(flat.split(self.sizes), self.shapes)]

    def plain_loss(self, h, y):
        torch, sigma = self.torch, self.rho.exp()
        means, squares = self.kernels(self.mu), self.kernels(sigma * sigma)
        for i, (m, v, b) in enumerate(zip(means, squares, self.bias)):
            sd = ((h * h) @ v + TINY).sqrt()
            h = torch.addcmul(torch.addmm(b, h, m), sd, torch.randn_like(sd))
            if i + 1 < len(means):
                h = torch.relu(h)
        off = (h - y) * torch.exp(-self.log_noise)
        a, s = self.mu / self.prior, sigma / self.prior
        kl = 0.5 * (a.dot(a) + s.dot(s)) - s.log().sum() - 0.5 * a.numel()
        return 0.5 * off.square().mean() + self.log_noise + kl / len(self.x)

    def run(self, rows, rate):
        for i, r in zip(self.torch.from_numpy(rows), rate):
            self.rate.fill_(float(r))
            self.adam.zero_grad(set_to_none=True)
            self.loss(self.x[i], self.y[i]).backward()
            self.adam.step()

    def score(self):
        value = [self.kernels(v.detach()) for v in (self.mu, self.rho.exp())]
        layers = [(m.numpy(), s.numpy(), b.detach().numpy(), 0 * b.detach().numpy())
                  for m, s, b in zip(*value, self.bias)]
        return nll_of(layers, float(self.log_noise.detach().exp()), self.data)


def fastest_torch(data):
    """Eager or compiled, whichever takes less for CHUNK steps after as many to warm up."""
    best = None
    rows = batches(np.random.default_rng(3), len(data.x), CHUNK)
    for compiled in (False, True):
        try:
            peer = Torch(data, compiled)
            peer.run(rows, rates(0, CHUNK))
            start = time.process_time()
            peer.run(rows, rates(0, CHUNK))
            taken = time.process_time() - start
        except Exception as error:  # a compiler that is not there: the other form serves
            if isinstance(error, ImportError):
                raise
            print(f"  PyTorch, compiled {compiled}: {str(error).splitlines()[0]}", file=sys.stderr)
            continue
        print(f"  PyTorch, compiled {compiled}: {taken / CHUNK * 1e6:.0f} us a step",
              file=sys.stderr)
        if best is None or taken < best[0]:
            best = taken, compiled
    return best[1]


# ---- bayesian-torch


class BayesianTorch:
    """Its own layers, one draw a step; KL summed over weights (its kl_loss is a mean)."""

    def __init__(self, data):
        import bayesian_torch.layers as bt
        import torch
        torch.set_num_threads(1)
        torch.manual_seed(1)
        self.torch, self.data = torch, data
        self.x, self.y = torch.from_numpy(data.x), torch.from_numpy(data.y)
        sizes = [data.x.shape[1], UNITS, 1]
        self.prior = [prior_sd(a) for a in sizes[:-1]]
        self.layers = [bt.LinearReparameterization(a, b, posterior_rho_init=float(
            np.log(np.expm1(SIGMA)))) for a, b in zip(sizes, sizes[1:])]
        with torch.no_grad():
            for layer, mu in zip(self.layers, start_of(data)[0]):
                layer.mu_weight.copy_(torch.from_numpy(mu.T))
                layer.mu_bias.zero_()
        self.log_noise = torch.zeros(()).requires_grad_()
        self.rate = torch.tensor(RATE)
        learnt = [p for layer in self.layers for p in layer.parameters()] + [self.log_noise]
        self.adam = torch.optim.Adam(learnt, lr=self.rate, fused=True)

    def kl(self):
        total = 0.0
        for layer, prior in zip(self.layers, self.prior):
            for name, sd in (("weight", prior), ("bias", 1.0)):
                a = getattr(layer, f"mu_{name}") / sd
                s = self.torch.nn.functional.softplus(getattr(layer, f"rho_{name}")) / sd
                total = total + (0.5 * (s * s + a * a - 1) - s.log()).sum()
        return total

    def run(self, rows, rate):
        torch = self.torch
        for i, r in zip(torch.from_numpy(rows), rate):
            self.rate.fill_(float(r))
            self.adam.zero_grad(set_to_none=True)
            h = torch.relu(self.layers[0](self.x[i], return_kl=False))
            off = (self.layers[1](h, return_kl=False) - self.y[i]) * torch.exp(-self.log_noise)
            nll = 0.5 * off.square().mean() + self.log_noise
            (nll + self.kl() / len(self.x)).backward()
            self.adam.step()

    def score(self):
        layers = []
        for layer in self.layers:
            part = {n: getattr(layer, n).detach().numpy().T
                    for n in ("mu_weight", "rho_weight", "mu_bias", "rho_bias")}
            layers.append((part["mu_weight"], np.log1p(np.exp(part["rho_weight"])),
                           part["mu_bias"], np.log1p(np.exp(part["rho_bias"]))))
        return nll_of(layers, float(self.log_noise.detach().exp()), self.data)


# ---- JAX


class Jax:
    """All steps of a chunk in one jit of a scan, noise on the outputs (local)."""

    def __init__(self, data):
        import jax
        self.jax, self.np, self.data = jax, jax.numpy, data
        self.x, self.y = self.np.asarray(data.x), self.np.asarray(data.y)
        mu, bias = start_of(data)
        self.prior = [prior_sd(len(m)) for m in mu]
        p = {"mu": mu, "rho": [np.full_like(m, np.log(SIGMA)) for m in mu], "bias": bias,
             "log_noise": np.zeros((), np.float32)}
        p = jax.tree_util.tree_map(self.np.asarray, p)
        zero = jax.tree_util.tree_map(self.np.zeros_like, p)
        self.carry, self.key = (p, zero, zero, self.np.float32(1)), jax.random.key(1)
        self.scan = jax.jit(self.steps)
        rows = batches(np.random.default_rng(3), len(data.x), CHUNK)
        jax.block_until_ready(self.scan(self.carry, self.key, rows, rates(0, CHUNK)))  # compiles

    def loss(self, p, x, y, key):
        h, kl = x, 0.0
        keys = self.jax.random.split(key, len(p["mu"]))
        for i, (m, r, b, k) in enumerate(zip(p["mu"], p["rho"], p["bias"], keys)):
            sigma = self.np.exp(r)
            out = h @ m + b
            spread = self.np.sqrt((h * h) @ (sigma * sigma) + TINY)
            h = out + spread * self.jax.random.normal(k, out.shape)
            h = self.np.maximum(h, 0) if i + 1 < len(p["mu"]) else h
            a, s = m / self.prior[i], sigma / self.prior[i]
            kl = kl + (0.5 * (a * a + s * s - 1) - self.np.log(s)).sum()
        off = (h - y) * self.np.exp(-p["log_noise"])
        return 0.5 * (off * off).mean() + p["log_noise"] + kl / len(self.x)

    def step(self, carry, item):
        rows, rate, key = item
        p, m, v, t = carry
        tree = self.jax.tree_util.tree_map
        g = self.jax.grad(self.loss)(p, self.x[rows], self.y[rows], key)
        m = tree(lambda a, b: 0.9 * a + 0.1 * b, m, g)
        v = tree(lambda a, b: 0.999 * a + 0.001 * b * b, v, g)
        size = rate * self.np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        p = tree(lambda a, b, c: a - size * b / (self.np.sqrt(c) + 1e-7), p, m, v)
        return (p, m, v, t + 1), None

    def steps(self, carry, key, rows, rate):
        keys = self.jax.random.split(key, len(rate))
        return self.jax.lax.scan(self.step, carry, (rows, rate, keys))[0]

    def run(self, rows, rate):
        self.key, key = self.jax.random.split(self.key)
        self.carry = self.jax.block_until_ready(self.scan(self.carry, key, rows, rate))

    def score(self):
        p = self.jax.tree_util.tree_map(np.asarray, self.carry[0])
        layers = [(m, np.exp(r), b, 0 * b) for m, r, b in zip(p["mu"], p["rho"], p["bias"])]
        return nll_of(layers, float(np.exp(p["log_noise"])), self.data)


# ---- the comparison


def until(peer, wanted, limit):
    """Seconds until each NLL of `wanted` is reached (None: never), best NLL and when."""
    random, spent, step = np.random.default_rng(4), 0.0, 0
    reached, best = [None] * len(wanted), (float("inf"), 0.0)
    while spent < limit and None in reached:
        rows, rate = batches(random, len(peer.data.x), CHUNK), rates(step, CHUNK)
        start = time.process_time()
        peer.run(rows, rate)
        spent += time.process_time() - start
        step += CHUNK
        nll = peer.score()
        if nll < best[0]:
            best = nll, spent
        reached = [t if t is not None else spent if nll <= w else None
                   for t, w in zip(reached, wanted)]
        if step % (4 * CHUNK) == 0:
            print(f"    {step} steps, {spent:.2f} s: NLL {nll:.3f}, best {best[0]:.3f} after "
                  f"{best[1]:.2f} s; reached after {reached}", file=sys.stderr, flush=True)
    return reached, best, spent


def makers(data, peers):
    """Peers by name; those that are not installed are said to be skipped."""
    out = {}
    try:
        if "torch" in peers or "torch-eager" in peers:
            compiled = "torch" in peers and fastest_torch(data)
            name = f"PyTorch, {'compiled' if compiled else 'eager'}"
            out[name] = lambda d: Torch(d, compiled)
    except ImportError as error:
        print(f"PyTorch skipped: {error}")
    if "jax" in peers:
        out["JAX"] = Jax
    if "bayesian-torch" in peers:
        out["bayesian-torch"] = BayesianTorch
    return out


def compare(path, folder, splits, limit, peers):
    """Of each split our (seconds, NLL) by form, and each peer's (reached, best, spent)."""
    mine, theirs, made = [], {}, None
    for k in splits:
        data = Data(folder, k)
        made = made or makers(data, peers)
        mine.append({form: ours(path, data, k + 1, o) for form, o in OURS.items()})
        print(f"  split {k}, ours: {mine[-1]}", file=sys.stderr)
        for name in list(made):
            try:
                found = until(made[name](data), [nll for _, nll in mine[-1].values()], limit)
            except ImportError as error:
                print(f"{name} skipped: {error}")
                del made[name]
                continue
            print(f"  split {k}, {name}: {found}", file=sys.stderr, flush=True)
            theirs.setdefault(name, []).append(found)
    return mine, theirs


def print_rows(which, mine, theirs):
    for i, form in enumerate(OURS):
        own = [m[form] for m in mine]
        for name, found in theirs.items():
            taken = [f[0][i] if f[0][i] is not None else f[2] for f in found]
            count = sum(f[0][i] is not None for f in found)
            ratio = np.median([t / o[0] for t, o in zip(taken, own)])
            best = np.mean([f[1][0] for f in found]), np.median([f[1][1] for f in found])
            more = "" if 2 * count > len(found) else "more than "
            print(f"| {which}, {form} | {np.median([o[0] for o in own]):.2f} | "
                  f"{np.mean([o[1] for o in own]):.3f} | {name} | {count} of {len(found)} | "
                  f"{more}{np.median(taken):.3g} | {more}{ratio:.3g} | {best[0]:.3f} after "
                  f"{best[1]:.3g} s |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the crossbayes program")
    parser.add_argument("--data", default=os.environ.get("CROSSBAYES_DATA", "../shared/data"))
    parser.add_argument("--sets", default="concrete,yacht")
    parser.add_argument("--first", type=int, default=0, help="the first split")
    parser.add_argument("--splits", type=int, default=2, help="the number of splits")
    parser.add_argument("--peers", default="torch,jax,bayesian-torch",
                        help="torch: eager or compiled, the faster; torch-eager: does not compile")
    parser.add_argument("--seconds", type=float, default=30, help="a peer's limit on a split")
    parser.add_argument("--quick", action="store_true", help="one split, 3 seconds")
    asked = parser.parse_args()
    if asked.quick:
        asked.splits, asked.seconds = 1, 3
    print("| set, ours | s | NLL | peer | splits in which it reached our NLL | s | ratio | "
          "its best NLL |\n| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for which in asked.sets.split(","):
        folder = os.path.join(asked.data, "uci", which)
        if not os.path.exists(os.path.join(folder, "data.txt")):
            print(f"{which} skipped: no {folder}")
            continue
        splits = range(asked.first, asked.first + asked.splits)
        print_rows(which, *compare(asked.program, folder, splits, asked.seconds,
                                   asked.peers.split(",")))


if __name__ == "__main__":
    main()

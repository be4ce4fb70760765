"""bench_cuda.py: rates of the GPU module beside PyTorch's and JAX's on the same device.

    bench_cuda.py CUDA_RATES CUDA_STEPS

These are the programs of cuda_rates.c and cuda_steps.c. A line each: what, whose, size, draws,
weights, outputs, steps or images a second. PyTorch draws a Gaussian; a product is x @ (mu +
sigma * randn), in float32 with TF32 allowed, eager and compiled.
"""
import math
import os
import statistics
import subprocess
import sys
import time

# JAX takes most of the device's memory otherwise, and PyTorch is beside it.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp

import torch


def rate(run, work, calls=20):
    """Work a second: the median of seven measurements by the device's clock."""
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    times = []
    for _ in range(7):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(calls):
            run()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) * 1e-3 / calls)
    return work / statistics.median(times)


def product(x, mu, sigma):
    return x @ (mu + sigma * torch.randn_like(mu))


def scalar_net(x, mu, sigma):
    """1000 draws of a net of two layers of 16, over all rows of x."""
    def drawn(i):
        return mu[i] + sigma[i] * torch.randn(1000, *mu[i].shape, device="cuda")
    h = torch.nn.functional.elu(x @ drawn(0) + drawn(1))
    h = torch.nn.functional.elu(h @ drawn(2) + drawn(3))
    return h @ drawn(4) + drawn(5)


class Faces(torch.nn.Module):
    """The net of cuda_steps.c: random kernels with one draw a batch, all else fixed."""

    def __init__(self):
        super().__init__()
        channels = [3, 16, 16, 32, 32, 64, 64, 128, 128]
        size = 200
        shapes = [(channels[i + 1], channels[i], 3, 3) for i in range(8)]
        for _ in range(8):
            size = (size + 1) // 2
        shapes += [(100, 128 * size * size), (10, 100), (1, 10)]
        self.mu = torch.nn.ParameterList(
            torch.randn(s) * math.sqrt(2 / math.prod(s[1:])) for s in shapes)
        self.rho = torch.nn.ParameterList(torch.full(s, math.log(0.01)) for s in shapes)
        self.bias = torch.nn.ParameterList(torch.zeros(s[0]) for s in shapes)
        self.norm2 = torch.nn.ModuleList(torch.nn.BatchNorm2d(c) for c in channels[1:])
        self.norm1 = torch.nn.ModuleList(torch.nn.BatchNorm1d(c) for c in (100, 10, 1))
        self.log_sd = torch.nn.Parameter(torch.zeros(()))

    def weight(self, i):
        w = self.mu[i] + torch.exp(self.rho[i]) * torch.randn_like(self.mu[i])
        return w.to(memory_format=torch.channels_last) if w.dim() == 4 else w

    def forward(self, x):
        f = torch.nn.functional
        for i in range(8):
            x = f.relu(f.conv2d(x, self.weight(i), self.bias[i], padding=1))
            x = self.norm2[i](f.max_pool2d(x, 2, ceil_mode=True))
        x = x.flatten(1)
        for i in range(3):
            x = self.norm1[i](f.linear(x, self.weight(8 + i), self.bias[8 + i]))
            x = f.relu(x) if i < 2 else torch.sigmoid(x)
        return x[:, 0]

    def loss(self, x, y, n=18000):
        e = (self(x) - y) * torch.exp(-self.log_sd)
        kl = sum((0.5 * (torch.exp(2 * r) + m * m) - r).sum()
                 for m, r in zip(self.mu, self.rho))
        return (0.5 * e * e + self.log_sd).mean() + kl / n


def faces():
    """Steps a second of training, and images a second of prediction."""
    torch.backends.cudnn.allow_tf32 = torch.backends.cudnn.benchmark = True
    net = Faces().cuda().to(memory_format=torch.channels_last)
    adam = torch.optim.Adam(net.parameters(), lr=1e-3, fused=True)
    images = (torch.rand(400, 3, 200, 200, device="cuda") * 255).to(torch.uint8)
    images = images.to(memory_format=torch.channels_last)
    y = torch.rand(400, device="cuda")

    def step(loss):
        rows = torch.randint(400, (100,), device="cuda")
        x = images[rows].to(memory_format=torch.channels_last).float() / 255
        value = loss(x, y[rows])
        adam.zero_grad(set_to_none=True)
        value.backward()
        adam.step()

    for name, loss in (("eager", net.loss), ("compiled", torch.compile(net.loss))):
        print(f"step-faces torch-{name} 100 {rate(lambda: step(loss), 1):.4g}", flush=True)
    net.eval()

    @torch.no_grad()
    def predict(forward):
        for part in images.split(200):
            x = part.float() / 255
            for _ in range(32):
                forward(x)

    for name, forward in (("eager", net.forward), ("compiled", torch.compile(net.forward))):
        got = rate(lambda: predict(forward), 400 * 32, calls=1)
        print(f"predict-faces torch-{name} 32 {got:.4g}", flush=True)


def jax_rate(run, work, calls=20):
    jax.block_until_ready(run())
    times = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(calls):
            out = run()
        jax.block_until_ready(out)
        times.append((time.perf_counter() - start) / calls)
    return work / statistics.median(times)


SHAPES = (1, 16), (16,), (16, 16), (16,), (16, 1), (1,)


def jax_net(w, x):
    h = jax.nn.elu(x @ w[0] + w[1])
    h = jax.nn.elu(h @ w[2] + w[3])
    return h @ w[4] + w[5]


def jax_scalar():
    """Monte Carlo prediction of the scalar net, and 1000 steps of training in one scan."""
    key = jax.random.PRNGKey(1)
    mu = [jax.random.normal(jax.random.fold_in(key, i), s) for i, s in enumerate(SHAPES)]
    rho = [jnp.full(s, -2.0) for s in SHAPES]
    x = jnp.linspace(-3, 3, 1000)[:, None]
    y = jnp.sin(x)

    def drawn(key, mu, rho):
        return [m + jnp.exp(r) * jax.random.normal(jax.random.fold_in(key, i), m.shape)
                for i, (m, r) in enumerate(zip(mu, rho))]

    @jax.jit
    def predict(key):
        return jax.vmap(lambda k: jax_net(drawn(k, mu, rho), x))(jax.random.split(key, 1000))

    print(f"predict-scalar jax 1000 {jax_rate(lambda: predict(key), 1e6):.4g}", flush=True)
    n = jax_rate(lambda: jax.random.normal(key, (1 << 28,)), 1 << 28, calls=5)
    print(f"draws jax.random.normal {1 << 28} {n:.4g}", flush=True)

    def loss(p, key, rows):
        mu, rho, log_sd = p
        e = (jax_net(drawn(key, mu, rho), x[rows]) - y[rows]) * jnp.exp(-log_sd)
        kl = sum((0.5 * (jnp.exp(2 * r) + m * m) - r).sum() for m, r in zip(mu, rho))
        return (0.5 * e * e + log_sd).mean() + kl / 1000

    def step(state, i):
        p, first, second = state
        k = jax.random.fold_in(key, i)
        rows = jax.random.randint(k, (100,), 0, 1000)
        g = jax.grad(loss)(p, k, rows)
        first = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, first, g)
        second = jax.tree.map(lambda a, b: 0.999 * a + 0.001 * b * b, second, g)
        p = jax.tree.map(lambda a, m, v: a - 1e-3 * m / (jnp.sqrt(v) + 1e-8), p, first, second)
        return (p, first, second), 0.0

    p = (mu, rho, jnp.zeros(()))
    zero = jax.tree.map(jnp.zeros_like, p)
    run = jax.jit(lambda s: jax.lax.scan(step, s, jnp.arange(1000))[0])
    got = jax_rate(lambda: run((p, zero, zero)), 1000, calls=2)
    print(f"step-scalar-shared jax-scan 1 {got:.4g}", flush=True)


def main():
    torch.backends.cuda.matmul.allow_tf32 = True
    for program in ([sys.argv[1]], [sys.argv[2], "cuda"]):
        print(subprocess.run(program, check=True, capture_output=True, text=True).stdout, end="",
              flush=True)
    n = 1 << 28
    room = torch.empty(n, device="cuda")
    print(f"draws torch.randn {n} {rate(lambda: torch.randn(n, out=room), n):.4g}")
    print(f"draws torch.normal_ {n} {rate(lambda: room.normal_(), n):.4g}", flush=True)
    for size in (1024, 4096):
        mu, sigma = (torch.rand(size, size, device="cuda") for _ in range(2))
        for rows in (1, 16, 64, 256):
            x = torch.randn(rows, size, device="cuda")
            compiled = torch.compile(product, mode="max-autotune-no-cudagraphs")
            for name, run in (("eager", product), ("compiled", compiled)):
                got = rate(lambda: run(x, mu, sigma), size * size)
                print(f"inputs-{size} torch-{name} {rows} {got:.4g}", flush=True)
    shapes = (1, 16), (1, 16), (16, 16), (1, 16), (16, 1), (1, 1)
    mu, sigma = ([torch.rand(*s, device="cuda") for s in shapes] for _ in range(2))
    x = torch.randn(1000, 1, device="cuda")
    for name, run in (("eager", scalar_net), ("compiled", torch.compile(scalar_net))):
        got = rate(lambda: run(x, mu, sigma), 1e6)
        print(f"predict-scalar torch-{name} 1000 {got:.4g}", flush=True)
    a, b = (torch.randn(4096, 4096, device="cuda") for _ in range(2))
    print(f"dense-4096 torch-tf32 4096 {rate(lambda: a @ b, 4096**3):.4g}")
    image = torch.randn(100, 16, 200, 200, device="cuda").to(memory_format=torch.channels_last)
    conv = torch.nn.Conv2d(16, 16, 3, padding=1, device="cuda").to(memory_format=torch.channels_last)
    with torch.no_grad():
        got = rate(lambda: conv(image), 100 * 200 * 200 * 16 * 16 * 9)
    print(f"conv-200x200x16 torch-tf32 100 {got:.4g}", flush=True)
    jax_scalar()
    faces()


main()

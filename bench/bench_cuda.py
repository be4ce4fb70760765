"""bench_cuda.py: rates of the GPU module beside PyTorch's on the same device.

    bench_cuda.py CUDA_RATES

CUDA_RATES is the program of cuda_rates.c. A line each: what, whose, size, draws or weights
a second. PyTorch draws a Gaussian; a product is x @ (mu + sigma * randn), in float32 with
TF32 allowed, eager and compiled.
"""
import statistics
import subprocess
import sys

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


def main():
    torch.backends.cuda.matmul.allow_tf32 = True
    print(subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout, end="")
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
    print(f"conv-200x200x16 torch-tf32 100 {got:.4g}")


main()

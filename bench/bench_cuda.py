"""bench_cuda.py: rates of the GPU module beside PyTorch's on the same device.

    bench_cuda.py CUDA_RATES

CUDA_RATES is the program of cuda_rates.c. A line each: what, whose, size, draws or weights
a second. PyTorch draws a Gaussian; a product of one input a draw is
x @ (mu + sigma * randn), in float32 with TF32 allowed, eager and compiled.
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


def main():
    torch.backends.cuda.matmul.allow_tf32 = True
    print(subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout, end="")
    n = 1 << 28
    room = torch.empty(n, device="cuda")
    print(f"draws torch.randn {n} {rate(lambda: torch.randn(n, out=room), n):.4g}")
    print(f"draws torch.normal_ {n} {rate(lambda: room.normal_(), n):.4g}", flush=True)
    for size in (1024, 4096):
        x = torch.randn(1, size, device="cuda")
        mu, sigma = (torch.rand(size, size, device="cuda") for _ in range(2))
        compiled = torch.compile(product, mode="max-autotune-no-cudagraphs")
        for name, run in (("eager", product), ("compiled", compiled)):
            got = rate(lambda: run(x, mu, sigma), size * size)
            print(f"product-{size} torch-{name} 1 {got:.4g}", flush=True)


main()

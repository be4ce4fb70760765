"""A training cell of the energy study: a net 1 -> width^depth -> 1 with elu and Gaussian
weights, asked at x = 0, a hundred draws a step by local reparameterisation, the energy
distance to a standard normal, Adam. The peer does the same in PyTorch, in the fewest
calls we know: all parameters in two vectors, the first kernel left out (x = 0), the
loss's gradient written down instead of traced, eager with both forms of Adam and
through torch.compile: the fastest counts.

Checks: on one sample both give the same loss gradient (ours in closed form, the peer's
target part from a table it looks up); the peer's net reaches the target's spread.
"""

import ctypes as c
import os

import numpy as np

from crossbayes_ctypes import defaults, pointer
from timing import Bench, WrongResult, fastest_run, ratio_at_least

DRAWS, RATE, SIGMA = 100, 1e-3, 0.1
CASES = [(4, 2), (4, 3), (16, 2), (16, 3), (128, 2), (128, 3)]
STEPS = {4: 2000, 16: 2000, 128: 300}
STEPS_QUICK = {4: 1000, 16: 500, 128: 60}
REPEATS = 5
SETTLED = 6000  # steps after which both nets have their spread
TARGET = {4: ratio_at_least(20), 16: ratio_at_least(20), 128: ratio_at_least(2)}
TABLE_END, TABLE_PER_UNIT = 16, 128  # of the target's slope: linear between
SAME_GRADIENT = 1e-3
SAME_SD = 0.08


class EnergyOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("width", c.c_int64),
                ("depth", c.c_int64), ("kernels_only", c.c_bool), ("steps", c.c_int64), ("draws", c.c_int64), ("rate", c.c_double),
                ("n_eff_penalty", c.c_double), ("seed", c.c_uint64),
                ("backend", c.c_char_p)]


class Ours:
    def __init__(self, xb):
        self.xb = xb
        self.lib = c.CDLL(os.path.join(xb.build, "libcrossbayes-studies.so"))
        xb.same_layout("xb_energy_options", EnergyOptions)
        self.lib.xb_energy_loss.restype = c.c_double
        self.lib.xb_model_destroy.argtypes = [c.c_void_p]
        self.lib.xb_energy_loss.argtypes = [c.c_void_p, c.c_void_p, c.c_int64]

    def train(self, width, depth, steps):
        opt = defaults(self.lib, "energy", EnergyOptions)
        opt.width, opt.depth, opt.steps = width, depth, steps
        model = c.c_void_p()
        self.xb.check(self.lib.xb_energy_train(self.xb.ctx, c.byref(model),
                                               c.byref(opt)))
        return model

    def run(self, width, depth, steps):
        self.lib.xb_model_destroy(self.train(width, depth, steps))

    def gradient(self, f):
        df = np.empty_like(f)
        self.lib.xb_energy_loss(pointer(df), pointer(f), len(f))
        return df


def slope_table():
    """d/df E|f - Y|^1.5 on an even grid: u = sqrt|f - y| takes the kink away."""
    f = np.arange(-TABLE_END, TABLE_END + 1e-9, 1 / TABLE_PER_UNIT)[:, None]
    u = np.linspace(0, 6, 2001)[None]
    density = (np.exp(-0.5 * (f - u * u)**2) - np.exp(-0.5 * (f + u * u)**2))
    integral = np.trapezoid(density * 2 * u * u, u, axis=1) / np.sqrt(2 * np.pi)
    return 1.5 * integral


class TorchCell:
    def __init__(self, torch, width, depth, fused):
        self.torch = torch
        self.shapes = [(width, width)] * (depth - 1) + [(width, 1)]
        self.widths = [width] * depth + [1]
        kernels = [np.random.default_rng(i).uniform(-1, 1, s) * np.sqrt(6 / sum(s))
                   for i, s in enumerate(self.shapes)]
        mu = np.concatenate([np.zeros(sum(self.widths))] + [k.ravel() for k in kernels])
        self.sizes = self.widths + [k.size for k in kernels]
        self.mu = torch.tensor(mu, dtype=torch.float32, requires_grad=True)
        self.rho = torch.full_like(self.mu, float(np.log(SIGMA))).requires_grad_()
        how = {"fused": True} if fused else {"foreach": True}
        self.adam = torch.optim.Adam([self.mu, self.rho], lr=RATE, eps=1e-7, **how)
        self.slope = torch.tensor(slope_table(), dtype=torch.float32)
        self.forward = self.outputs

    def parts(self, flat):
        parts = flat.split(self.sizes)
        n = len(self.widths)
        return parts[:n], [k.view(s) for k, s in zip(parts[n:], self.shapes)]

    def outputs(self):
        torch = self.torch
        bias, kernel = self.parts(self.mu)
        bias_v, kernel_v = self.parts((2 * self.rho).exp())
        noise = torch.randn(DRAWS, sum(self.widths)).split(self.widths, 1)
        h = torch.addcmul(bias[0], bias_v[0].sqrt(), noise[0])
        for i, (m, v) in enumerate(zip(kernel, kernel_v)):
            h = torch.nn.functional.elu(h)
            sd = torch.addmm(bias_v[i + 1], h * h, v).sqrt()
            h = torch.addcmul(torch.addmm(bias[i + 1], h, m), sd, noise[i + 1])
        return h

    def gradient(self, f):
        """Of the loss by the outputs f [draws][1]."""
        torch = self.torch
        apart = f - f.T
        pull = torch.copysign(apart.abs().sqrt(), apart).sum(1, keepdim=True)
        place = ((f + TABLE_END) * TABLE_PER_UNIT).clamp(0, len(self.slope) - 2)
        node = place.long()
        slope = torch.lerp(self.slope[node], self.slope[node + 1], place - node)
        return torch.add((2 / DRAWS) * slope, pull, alpha=-3 / (DRAWS * (DRAWS - 1)))

    def step(self):
        f = self.forward()
        f.backward(self.gradient(f.detach()))
        self.adam.step()
        self.adam.zero_grad(set_to_none=True)

    def run(self, steps):
        for _ in range(steps):
            self.step()

    def spread(self):
        with self.torch.no_grad():
            return float(self.torch.cat([self.outputs() for _ in range(100)]).std())


def compiled(torch, width, depth):
    cell = TorchCell(torch, width, depth, True)
    cell.forward = torch.compile(cell.outputs)
    return cell


def forms(torch, width, depth):
    """Name and maker of each form the peer has."""
    return [("eager", lambda: TorchCell(torch, width, depth, False)),
            ("eager, fused Adam", lambda: TorchCell(torch, width, depth, True)),
            ("torch.compile", lambda: compiled(torch, width, depth))]


def same_gradient(ours, cell):
    f = np.random.default_rng(2).standard_normal(DRAWS).astype(np.float32)
    theirs = cell.gradient(cell.torch.from_numpy(f)[:, None]).numpy()[:, 0]
    mine = ours.gradient(f)
    off = float(np.abs(mine - theirs).max() / np.abs(mine).max())
    if not off < SAME_GRADIENT:
        raise WrongResult(f"gradients of the loss differ by {off:.2g}")
    return f"gradients within {off:.0e}"


def same_spread(torch, width, depth):
    cell = TorchCell(torch, width, depth, True)
    cell.run(SETTLED)
    sd = cell.spread()
    if not abs(sd - 1) < SAME_SD:
        raise WrongResult(f"the peer's net has a standard deviation of {sd:.3g}")
    return f"sd {sd:.2f}"


def cell_against(bench, ours, torch, width, depth):
    case = f"training, width {width}, depth {depth}"
    steps = (STEPS_QUICK if bench.quick else STEPS)[width]
    name, cell = fastest_run(bench, "energy", case, forms(torch, width, depth),
                             max(20, steps // 10))
    try:
        check = same_gradient(ours, cell)
        if width <= 16 and not bench.quick:
            check += ", " + same_spread(torch, width, depth)
    except WrongResult as error:
        return bench.wrong("energy", case, f"PyTorch {name}", error)
    return bench.compare("energy", case, lambda: ours.run(width, depth, steps),
                         f"PyTorch {name}", lambda: cell.run(steps), items=steps,
                         target=TARGET[width], check=check, repeats=REPEATS)


def main():
    bench = Bench(__doc__)
    try:
        import torch
    except ImportError as error:
        return bench.missing("energy", "training", "PyTorch", error)
    torch.set_num_threads(1)
    torch.manual_seed(1)
    ours = Ours(bench.xb)
    for width, depth in CASES:
        cell_against(bench, ours, torch, width, depth)
    return None


if __name__ == "__main__":
    main()

"""Variational inference with the scalar network: a step of training (batch 100,
kernels random under N(0, 1), biases fixed, learned noise, KL once for all data, Adam)
and prediction under 1000 draws of the weights. Peers do the same in PyTorch eager and
in JAX (one jit of a scan over all steps).

Checks: the peer, given the very draws ours took, must arrive at our weights after
CHECK_STEPS steps of all rows (shared), or at our F at the end of a run (local, whose
noise lies on outputs); predictions are compared output by output under equal draws.
"""

import os

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false "
                                   "intra_op_parallelism_threads=1")

import numpy as np  # noqa: E402  (XLA reads its flags when first imported)

from timing import Bench, WrongResult, ratio_at_least, seconds  # noqa: E402
from vi_ctypes import PREDICT_STEP, Trainer  # noqa: E402

ROWS, BATCH = 1000, 100
ADAM = {"rate": 1e-3, "epsilon": 1e-7}
SIGMA = 0.05
# with the set-up of a run, a millisecond of ours; 10000 is a default run
STEPS = {"torch": 2000, "jax": 10000}
STEPS_QUICK = 500
CHECK_STEPS = 20
CHECK_EPSILON = 1e-12  # PyTorch's Adam puts epsilon beside the corrected root, ours not
SAME_WEIGHTS = 1e-4  # a weight moves by up to 1e-3 a step
F_STEPS = 5000
SAME_F = 0.05        # of rows; two shuffles of the same run differ by 0.03
SAME_OUTPUT = 1e-4
DRAWS, INPUTS = 1000, 1000
AT_A_TIME = (10, 25, 100, 1000)  # draws in one bmm: the fastest is the peer
REPEATS = 5
TARGET = {"torch": ratio_at_least(50), "jax": ratio_at_least(5),
          "predict": ratio_at_least(4)}
NAME = {"torch": "PyTorch eager", "jax": "JAX jit, scan"}


def scalar_data(n):
    """A wave with noise that both sides standardise."""
    random = np.random.default_rng(1)
    x = random.uniform(-1, 1, n)
    return x, np.sin(4 * x) * x + 0.1 * random.standard_normal(n)


# ---- PyTorch

class TorchStep:
    """All kernels in one vector, so also their sigma, KL and Adam: the fewest calls."""

    def __init__(self, torch, start, x, y, rows, estimator, epsilon, fused):
        self.torch, self.rows, self.estimator = torch, rows, estimator
        self.x, self.y = torch.from_numpy(x), torch.from_numpy(y)
        self.shapes = [m.shape for m in start["mu"]]
        self.sizes = [m.size for m in start["mu"]]
        self.widths = [b.size for b in start["bias"]]
        flat = {k: np.concatenate([a.ravel() for a in start[k]])
                for k in ("mu", "sigma", "bias")}
        flat["rho"] = np.log(flat.pop("sigma"))
        flat["log_sd"] = np.array([start["log_sd"]], np.float32)
        self.p = {k: torch.from_numpy(v).requires_grad_() for k, v in flat.items()}
        how = {"fused": True} if fused else {"foreach": True}
        self.adam = torch.optim.Adam(self.p.values(), lr=ADAM["rate"],
                                     eps=epsilon, **how)

    def kernels(self, flat):
        return [w.view(s) for w, s in zip(flat.split(self.sizes), self.shapes)]

    def shared(self, h, sigma, z):
        torch, p = self.torch, self.p
        biases = p["bias"].split(self.widths)
        kernels = self.kernels(torch.addcmul(p["mu"], sigma, z))
        for i, (w, b) in enumerate(zip(kernels, biases)):
            h = torch.addmm(b, h, w)
            if i + 1 < len(kernels):
                h = torch.nn.functional.elu(h)
        return h

    def local(self, h, sigma):
        torch, p = self.torch, self.p
        biases = p["bias"].split(self.widths)
        pairs = list(zip(self.kernels(p["mu"]), self.kernels(sigma * sigma), biases))
        for i, (m, v, b) in enumerate(pairs):
            sd = ((h * h) @ v).sqrt()
            h = torch.addcmul(torch.addmm(b, h, m), sd, torch.randn_like(sd))
            if i + 1 < len(pairs):
                h = torch.nn.functional.elu(h)
        return h

    def step(self, x, y, z=None):
        torch, p = self.torch, self.p
        sigma = p["rho"].exp()
        if self.estimator == "local":
            out = self.local(x, sigma)
        else:
            out = self.shared(x, sigma, torch.randn_like(sigma) if z is None else z)
        square = torch.nn.functional.mse_loss(out, y)
        nll = 0.5 * square * (-2 * p["log_sd"]).exp() + p["log_sd"] + LOG_ROOT_2PI
        mu = p["mu"]
        kl = 0.5 * (mu.dot(mu) + sigma.dot(sigma)) - p["rho"].sum() - 0.5 * mu.numel()
        loss = (nll + kl / self.rows).sum()
        self.adam.zero_grad(set_to_none=True)
        loss.backward()
        self.adam.step()
        return loss

    def run(self, steps):
        batches = list(zip(self.x.split(BATCH), self.y.split(BATCH)))
        return [self.step(*batches[i % len(batches)]) for i in range(steps)]

    def replay(self, noise):
        for z in noise:
            flat = np.concatenate([a.ravel() for a in z])
            self.step(self.x, self.y, self.torch.from_numpy(flat))
        return {k: v.detach().numpy() for k, v in self.p.items()}

    def trace_f(self, steps):
        return np.array([f.item() for f in self.run(steps)]) * self.rows


LOG_ROOT_2PI = 0.5 * float(np.log(2 * np.pi))


def torch_makers(start, x, y, rows, estimator, epsilon=ADAM["epsilon"]):
    import torch
    torch.set_num_threads(1)
    torch.manual_seed(1)
    return [lambda f=f: TorchStep(torch, start, x, y, rows, estimator, epsilon, f)
            for f in (False, True)]


# ---- JAX

class JaxStep:
    def __init__(self, jax, start, x, y, rows, estimator, epsilon, random):
        self.epsilon = epsilon
        self.jax, self.np, self.rows, self.estimator = jax, jax.numpy, rows, estimator
        self.x, self.y = self.np.asarray(x), self.np.asarray(y)
        self.shapes = [m.shape for m in start["mu"]]
        flat = {"mu": np.concatenate([a.ravel() for a in start["mu"]]),
                "rho": np.log(np.concatenate([a.ravel() for a in start["sigma"]])),
                "bias": np.concatenate(start["bias"]),
                "log_sd": np.array([start["log_sd"]], np.float32)}
        self.cuts = np.cumsum([m.size for m in start["mu"]])[:-1]
        self.bias_cuts = np.cumsum([b.size for b in start["bias"]])[:-1]
        self.p = {k: self.np.asarray(v) for k, v in flat.items()}
        self.key = jax.random.key(1, impl=random)
        self.scan = jax.jit(self.scan_all, static_argnums=(2,))

    def kernels(self, flat):
        return [w.reshape(s) for w, s in
                zip(self.np.split(flat, self.cuts), self.shapes)]

    def net(self, p, sigma, x, key, z):
        jax, biases = self.jax, self.np.split(p["bias"], self.bias_cuts)
        local = self.estimator == "local"
        if not local and z is None:
            z = jax.random.normal(key, sigma.shape)
        means = self.kernels(p["mu"] if local else p["mu"] + sigma * z)
        spreads = self.kernels(sigma * sigma)
        keys = jax.random.split(key, len(means)) if local else means
        h = x
        for i, (m, v, b, k) in enumerate(zip(means, spreads, biases, keys)):
            y = h @ m + b
            if local:
                y = y + self.np.sqrt((h * h) @ v) * jax.random.normal(k, y.shape)
            h = jax.nn.elu(y) if i + 1 < len(means) else y
        return h

    def loss(self, p, x, y, key, z):
        sigma = self.np.exp(p["rho"])
        out = self.net(p, sigma, x, key, z)
        square = self.np.mean((out - y) ** 2)
        nll = 0.5 * square * self.np.exp(-2 * p["log_sd"]) + p["log_sd"] + LOG_ROOT_2PI
        kl = (0.5 * (p["mu"] ** 2 + sigma**2 - 1) - p["rho"]).sum()
        return (nll + kl / self.rows).sum()

    def step(self, carry, x, y, key, z=None):
        p, m, v, t = carry
        tree = self.jax.tree_util.tree_map
        value, g = self.jax.value_and_grad(self.loss)(p, x, y, key, z)
        m = tree(lambda a, b: 0.9 * a + 0.1 * b, m, g)
        v = tree(lambda a, b: 0.999 * a + 0.001 * b * b, v, g)
        rate = ADAM["rate"] * self.np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        p = tree(lambda a, b, c: a - rate * b / (self.np.sqrt(c) + self.epsilon),
                 p, m, v)
        return (p, m, v, t + 1), value

    def carry(self):
        zero = {k: self.np.zeros_like(v) for k, v in self.p.items()}
        return self.p, zero, zero, self.np.float32(1)

    def scan_all(self, carry, key, steps):
        xs, ys = self.x.reshape(-1, BATCH, 1), self.y.reshape(-1, BATCH, 1)

        def body(carry, item):
            i, k = item
            return self.step(carry, xs[i % len(xs)], ys[i % len(ys)], k)

        keys = self.jax.random.split(key, steps)
        return self.jax.lax.scan(body, carry, (self.np.arange(steps), keys))

    def run(self, steps):
        return self.jax.block_until_ready(self.scan(self.carry(), self.key, steps))

    def replay(self, noise):
        carry, once = self.carry(), self.jax.jit(self.step)
        for z in noise:
            flat = self.np.asarray(np.concatenate([a.ravel() for a in z]))
            carry, _ = once(carry, self.x, self.y, self.key, flat)
        return {k: np.asarray(v) for k, v in carry[0].items()}

    def trace_f(self, steps):
        return np.asarray(self.run(steps)[1]) * self.rows


def jax_makers(start, x, y, rows, estimator, epsilon=ADAM["epsilon"]):
    import jax
    return [lambda r=r: JaxStep(jax, start, x, y, rows, estimator, epsilon, r)
            for r in ("threefry2x32", "unsafe_rbg")]


MAKERS = {"torch": torch_makers, "jax": jax_makers}


# ---- do both do the same?

def started(trainer, x, y):
    """Where training starts, and the rows as the net sees them."""
    model = trainer.model("shared", 0)
    start = trainer.weights(model)
    rows = trainer.scaled_x(model, x), trainer.scaled_y(model, y)
    noise = [trainer.noise(model, i) for i in range(CHECK_STEPS)]
    trainer.lib.xb_model_destroy(model)
    return start, rows, noise


def same_weights(bench, peer):
    """Every step sees all rows, so their order does not matter."""
    x, y = scalar_data(BATCH)
    adam = {**ADAM, "epsilon": CHECK_EPSILON}
    trainer = Trainer(bench.xb, x, y, BATCH, adam, SIGMA)
    start, rows, noise = started(trainer, x, y)
    makers = MAKERS[peer](start, *rows, BATCH, "shared", CHECK_EPSILON)
    theirs = makers[0]().replay(noise)
    model = trainer.model("shared", CHECK_STEPS)
    ours = trainer.weights(model)
    trainer.lib.xb_model_destroy(model)
    flat = {k: np.concatenate([a.ravel() for a in ours[k]])
            for k in ("mu", "sigma", "bias")}
    flat["rho"] = np.log(flat.pop("sigma"))
    flat["log_sd"] = ours["log_sd"]
    worst = max(float(np.abs(flat[k] - theirs[k]).max()) for k in flat)
    if not worst < SAME_WEIGHTS:
        raise WrongResult(f"weights differ by {worst:.2g} after {CHECK_STEPS} steps")
    return f"weights within {worst:.0e} after {CHECK_STEPS} steps"


def same_f(trainer, peer, steps):
    """Mean F of the last quarter, ours and the peer's."""
    ours = trainer.trace_f("local", steps * BATCH // ROWS)
    theirs = peer.trace_f(steps)
    a, b = (v[-len(v) // 4:].mean() for v in (ours, theirs))
    if not abs(a - b) < SAME_F * ROWS:
        raise WrongResult(f"F is {a:.5g}, the peer's {b:.5g}")
    return f"F {a:.4g}, {b:.4g}"


def fastest(makers, steps):
    """Of the peer's forms the one that needs least, after a warm-up."""
    forms = [make() for make in makers]
    for form in forms:
        form.run(steps)
    return min(forms, key=lambda form: min(seconds(lambda: form.run(steps), 1)
                                           for _ in range(3)))


def steps_against(bench, peer):
    x, y = scalar_data(ROWS)
    trainer = Trainer(bench.xb, x, y, BATCH, ADAM, SIGMA)
    start, rows, _ = started(trainer, x, y)
    steps = STEPS_QUICK if bench.quick else STEPS[peer]
    for estimator in ("shared", "local"):
        case = f"step, {estimator}, batch {BATCH}"
        try:
            makers = MAKERS[peer](start, *rows, ROWS, estimator)
            check = (same_weights(bench, peer) if estimator == "shared"
                     else same_f(trainer, makers[0](), F_STEPS))
        except ImportError as error:
            bench.missing("VI", case, NAME[peer], error)
            continue
        except WrongResult as error:
            bench.wrong("VI", case, NAME[peer], error)
            continue
        form = fastest(makers, STEPS_QUICK)
        bench.compare("VI", case,
                      lambda e=estimator: trainer.run(e, steps * BATCH // ROWS),
                      NAME[peer], lambda: form.run(steps), items=steps,
                      target=TARGET[peer], check=check, repeats=REPEATS)


# ---- prediction

class TorchPredict:
    def __init__(self, torch, weights, x, at_a_time):
        self.torch, self.at_a_time = torch, at_a_time
        self.mu = [torch.from_numpy(m) for m in weights["mu"]]
        self.sigma = [torch.from_numpy(s) for s in weights["sigma"]]
        self.bias = [torch.from_numpy(b) for b in weights["bias"]]
        self.x = torch.from_numpy(x)

    def outputs(self, draws, noise=None):
        """[draws][inputs] under weights drawn here, or under the noise given."""
        torch, out = self.torch, []
        for first in range(0, draws, self.at_a_time):
            count = min(self.at_a_time, draws - first)
            h = self.x.expand(count, -1, -1)
            for i, (m, s, b) in enumerate(zip(self.mu, self.sigma, self.bias)):
                z = (torch.randn(count, *m.shape) if noise is None
                     else noise[i][first:first + count])
                h = torch.baddbmm(b, h, torch.addcmul(m, s, z))
                if i + 1 < len(self.mu):
                    h = torch.nn.functional.elu_(h)
            out.append(h.squeeze(-1))
        return torch.cat(out)

    def predict(self, draws):
        with self.torch.inference_mode():
            return self.torch.std_mean(self.outputs(draws), dim=0)


def same_outputs(trainer, model, x, opt, form):
    noise = [trainer.noise(model, PREDICT_STEP, s) for s in range(DRAWS)]
    stacked = [form.torch.from_numpy(np.stack(z)) for z in zip(*noise)]
    theirs = form.outputs(DRAWS, stacked).numpy()
    ours = trainer.scaled_y(model, trainer.outputs(model, x, opt))[:, 0]
    worst = float(np.abs(ours - theirs).max())
    if not worst < SAME_OUTPUT:
        raise WrongResult(f"outputs differ by {worst:.2g}")
    return f"outputs within {worst:.0e}"


def prediction(bench):
    case = f"predict, {DRAWS} draws x {INPUTS} inputs"
    try:
        import torch
    except ImportError as error:
        return bench.missing("VI", case, "PyTorch bmm", error)
    torch.set_num_threads(1)
    x, y = scalar_data(ROWS)
    trainer = Trainer(bench.xb, x, y, BATCH, ADAM, SIGMA)
    model = trainer.model("shared", 20)
    opt = trainer.predict_options(DRAWS)
    inputs = np.linspace(-1.5, 1.5, INPUTS)
    scaled, weights = trainer.scaled_x(model, inputs), trainer.weights(model)
    forms = [TorchPredict(torch, weights, scaled, k) for k in AT_A_TIME]
    form = min(forms, key=lambda f: min(seconds(lambda: f.predict(DRAWS), 1)
                                        for _ in range(3)))
    try:
        check = same_outputs(trainer, model, inputs, opt, form)
    except WrongResult as error:
        return bench.wrong("VI", case, "PyTorch bmm", error)
    return bench.compare("VI", case, lambda: trainer.predict(model, inputs, opt),
                         f"PyTorch bmm, {form.at_a_time} a time",
                         lambda: form.predict(DRAWS), target=TARGET["predict"],
                         check=check, repeats=REPEATS)


def main():
    bench = Bench(__doc__)
    if bench.peer == "predict":
        return prediction(bench)
    return steps_against(bench, bench.peer)


if __name__ == "__main__":
    main()

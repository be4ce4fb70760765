"""Variational inference with the scalar network: a step of training (batch 100,
kernels random under N(0, 1), biases fixed, learned noise, KL once for all data, Adam)
and prediction under 1000 draws of the weights. Peers do the same in PyTorch (eager or
compiled), in JAX (one jit of a scan over all steps; prediction by vmap) and in TensorFlow
Probability (its layers, all steps in one graph).

Checks: the peer, given the very draws ours took, must arrive at our weights after
CHECK_STEPS steps of all rows (shared), or at our F at the end of a run (local, whose
noise lies on outputs); predictions are compared output by output under equal draws.
"""

import os

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false "
                                   "intra_op_parallelism_threads=1")

import numpy as np  # noqa: E402  (XLA reads its flags when first imported)

from timing import (Bench, WrongResult, fastest, fastest_run,  # noqa: E402
                    ratio_at_least)
from vi_ctypes import PREDICT_STEP, SPREAD_SOFTPLUS, Trainer  # noqa: E402

ROWS, BATCH = 1000, 100
ADAM = {"rate": 1e-3, "epsilon": 1e-7}
SIGMA = 0.05
# with the set-up of a run, a millisecond of ours; 10000 is a default run
STEPS = {"torch": 2000, "jax": 10000, "tfp": 2000}
STEPS_QUICK = 2000
STEPS_TO_CHOOSE = 500  # among the forms of a peer
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
          "tfp": None, "predict": ratio_at_least(4)}
NAME = {"torch": "PyTorch", "jax": "JAX", "tfp": "TFP"}


def scalar_data(n):
    """A wave with noise that both sides standardise."""
    random = np.random.default_rng(1)
    x = random.uniform(-1, 1, n)
    return x, np.sin(4 * x) * x + 0.1 * random.standard_normal(n)


# ---- PyTorch

class TorchStep:
    """All kernels in one vector, so also their sigma, KL and Adam: the fewest calls."""

    def __init__(self, torch, start, x, y, rows, estimator, epsilon, fused,
                 compiled=False, act="elu", batch=BATCH):
        self.torch, self.rows, self.estimator = torch, rows, estimator
        self.act, self.batch = getattr(torch.nn.functional, act), batch
        if compiled:
            self.loss = torch.compile(self.loss)
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
                h = self.act(h)
        return h

    def local(self, h, sigma):
        torch, p = self.torch, self.p
        biases = p["bias"].split(self.widths)
        pairs = list(zip(self.kernels(p["mu"]), self.kernels(sigma * sigma), biases))
        for i, (m, v, b) in enumerate(pairs):
            sd = ((h * h) @ v).sqrt()
            h = torch.addcmul(torch.addmm(b, h, m), sd, torch.randn_like(sd))
            if i + 1 < len(pairs):
                h = self.act(h)
        return h

    def loss(self, x, y, z=None):
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
        return (nll + kl / self.rows).sum()

    def step(self, x, y, z=None):
        loss = self.loss(x, y, z)
        self.adam.zero_grad(set_to_none=True)
        loss.backward()
        self.adam.step()
        return loss

    def run(self, steps):
        batches = list(zip(self.x.split(self.batch), self.y.split(self.batch)))
        return [self.step(*batches[i % len(batches)]) for i in range(steps)]

    def replay(self, noise):
        for z in noise:
            flat = np.concatenate([a.ravel() for a in z])
            self.step(self.x, self.y, self.torch.from_numpy(flat))
        return {k: v.detach().numpy() for k, v in self.p.items()}

    def trace_f(self, steps):
        return np.array([f.item() for f in self.run(steps)]) * self.rows


LOG_ROOT_2PI = 0.5 * float(np.log(2 * np.pi))


def torch_makers(start, x, y, rows, estimator, epsilon=ADAM["epsilon"], **how):
    import torch
    torch.set_num_threads(1)
    torch.manual_seed(1)
    forms = [("PyTorch eager", False, False), ("PyTorch eager, fused Adam", True, False),
             ("PyTorch compiled", True, True)]
    return [(name, lambda f=fused, c=compiled: TorchStep(
        torch, start, x, y, rows, estimator, epsilon, f, c, **how))
            for name, fused, compiled in forms]


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
    return [(f"JAX jit, scan, {r}", lambda r=r: JaxStep(jax, start, x, y, rows, estimator,
                                                        epsilon, r))
            for r in ("threefry2x32", "unsafe_rbg")]


# ---- TensorFlow Probability

class TfpStep:
    """Its own layers; sigma is softplus of what it learns, so ours is too."""

    def __init__(self, start, x, y, rows, estimator, xla):
        import tensorflow as tf
        import tensorflow_probability as tfp
        import tf_keras
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        self.tf, self.rows = tf, rows
        kind = (tfp.layers.DenseLocalReparameterization if estimator == "local"
                else tfp.layers.DenseReparameterization)
        self.layers = [kind(len(b), activation="elu" if i + 1 < len(start["bias"]) else None)
                       for i, b in enumerate(start["bias"])]
        self.model = tf_keras.Sequential(self.layers)
        self.x = tf.constant(x.reshape(-1, BATCH, 1))
        self.y = tf.constant(y.reshape(-1, BATCH, 1))
        self.model(self.x[0])
        for layer, *values in zip(self.layers, start["mu"], start["sigma"], start["bias"]):
            self.start_layer(layer, *values)
        self.log_sd = tf.Variable(float(start["log_sd"]))
        self.variables = self.model.trainable_variables + [self.log_sd]
        self.adam = tf_keras.optimizers.Adam(ADAM["rate"], epsilon=ADAM["epsilon"])
        self.adam.build(self.variables)
        self.steps = tf.function(self.all_steps, jit_compile=xla)

    @staticmethod
    def start_layer(layer, mu, sigma, bias):
        """Where ours starts."""
        for v in layer.trainable_variables:
            if v.shape.rank == 1:
                v.assign(bias)
            else:
                v.assign(np.log(np.expm1(sigma)) if "scale" in v.name else mu)

    def loss(self, x, y):
        tf = self.tf
        square = tf.reduce_mean((self.model(x) - y) ** 2)
        nll = 0.5 * square * tf.exp(-2 * self.log_sd) + self.log_sd + LOG_ROOT_2PI
        return nll + tf.add_n(self.model.losses) / self.rows

    def all_steps(self, steps):
        tf = self.tf
        trace = tf.zeros([steps])
        for i in tf.range(steps):
            at = i % len(self.x)
            with tf.GradientTape() as tape:
                loss = self.loss(self.x[at], self.y[at])
            self.adam.apply_gradients(zip(tape.gradient(loss, self.variables),
                                          self.variables))
            trace = tf.tensor_scatter_nd_update(trace, [[i]], [loss])
        return trace

    def run(self, steps):
        return self.steps(steps).numpy()

    def trace_f(self, steps):
        return self.run(steps) * self.rows


def tfp_makers(start, x, y, rows, estimator):
    import tensorflow_probability  # noqa: F401  (missing: say so now)
    return [(name, lambda xla=xla: TfpStep(start, x, y, rows, estimator, xla))
            for name, xla in (("TFP, tf.function", False), ("TFP, tf.function, XLA", True))]


MAKERS = {"torch": torch_makers, "jax": jax_makers, "tfp": tfp_makers}


# ---- do both do the same?

def started(trainer, x, y):
    """Where training starts, and the rows as the net sees them."""
    model = trainer.model("shared", 0)
    start = trainer.weights(model)
    rows = trainer.scaled_x(model, x), trainer.scaled_y(model, y)
    noise = [trainer.noise(model, i) for i in range(CHECK_STEPS)]
    trainer.lib.xb_model_destroy(model)
    return start, rows, noise


def weights_apart(trainer, theirs):
    """Largest difference after CHECK_STEPS steps of estimator shared."""
    model = trainer.model("shared", CHECK_STEPS)
    ours = trainer.weights(model)
    trainer.lib.xb_model_destroy(model)
    flat = {k: np.concatenate([a.ravel() for a in ours[k]])
            for k in ("mu", "sigma", "bias")}
    flat["rho"] = np.log(flat.pop("sigma"))
    flat["log_sd"] = ours["log_sd"]
    return max(float(np.abs(flat[k] - theirs[k]).max()) for k in flat)


def same_weights(bench, makers, x, y, **net):
    """Every step sees all rows, so their order does not matter."""
    adam = {**ADAM, "epsilon": CHECK_EPSILON}
    trainer = Trainer(bench.xb, x, y, len(x), adam, SIGMA, **net)
    start, rows, noise = started(trainer, x, y)
    peer = makers(start, *rows, len(x), "shared", CHECK_EPSILON)[0][1]()
    worst = weights_apart(trainer, peer.replay(noise))
    if not worst < SAME_WEIGHTS:
        raise WrongResult(f"weights differ by {worst:.2g} after {CHECK_STEPS} steps")
    return f"weights within {worst:.0e} after {CHECK_STEPS} steps"


def same_f(trainer, estimator, epochs, peer, steps):
    """Mean F of the last quarter of a run, ours and the peer's."""
    ours, theirs = trainer.trace_f(estimator, epochs), peer.trace_f(steps)
    a, b = (v[-len(v) // 4:].mean() for v in (ours, theirs))
    if not abs(a - b) < SAME_F * peer.rows:
        raise WrongResult(f"F is {a:.5g}, the peer's {b:.5g}")
    return f"F {a:.4g}, {b:.4g}"


def kinds(makers):
    """What is compiled and what is not are two peers; the fastest of each is taken."""
    compiled = [m for m in makers if "compiled" in m[0]]
    return [forms for forms in ([m for m in makers if m not in compiled], compiled) if forms]


def steps_against(bench, peer):
    x, y = scalar_data(ROWS)
    trainer = Trainer(bench.xb, x, y, BATCH, ADAM, SIGMA)
    if peer == "tfp":
        trainer.opt.sigma_transform = SPREAD_SOFTPLUS  # as its layers; F ends 30 higher than by exp
    start, rows, _ = started(trainer, x, y)
    steps = STEPS_QUICK if bench.quick else STEPS[peer]
    for estimator in ("shared", "local"):
        case = f"step, {estimator}, batch {BATCH}"
        try:
            makers = MAKERS[peer](start, *rows, ROWS, estimator)
            check = (same_weights(bench, MAKERS[peer], *scalar_data(BATCH))
                     if estimator == "shared" and peer != "tfp"
                     else same_f(trainer, estimator, F_STEPS * BATCH // ROWS,
                                 makers[0][1](), F_STEPS))
        except ImportError as error:
            bench.missing("VI", case, NAME[peer], error)
            continue
        except WrongResult as error:
            bench.wrong("VI", case, NAME[peer], error)
            continue
        for forms in kinds(makers):
            try:
                name, form = fastest_run(bench, "VI", case, forms, STEPS_TO_CHOOSE)
            except WrongResult:
                continue  # each of them is in the table as missing
            bench.compare("VI", case,
                          lambda e=estimator: trainer.run(e, steps * BATCH // ROWS),
                          name, lambda f=form: f.run(steps), items=steps,
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
                     else torch.as_tensor(noise[i][first:first + count]))
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
    theirs = np.asarray(form.outputs(DRAWS, [np.stack(z) for z in zip(*noise)]))
    ours = trainer.scaled_y(model, trainer.outputs(model, x, opt))[:, 0]
    worst = float(np.abs(ours - theirs).max())
    if not worst < SAME_OUTPUT:
        raise WrongResult(f"outputs differ by {worst:.2g}")
    return f"outputs within {worst:.0e}"


class JaxPredict:
    """vmap over draws, jit, some draws at a time."""

    def __init__(self, jax, weights, x, at_a_time):
        self.jax, self.np, self.at_a_time = jax, jax.numpy, at_a_time
        self.weights = [[self.np.asarray(a) for a in weights[k]]
                        for k in ("mu", "sigma", "bias")]
        self.x, self.key = self.np.asarray(x), jax.random.key(1, impl="unsafe_rbg")
        self.all = jax.jit(self.stacked)
        self.summed = jax.jit(self.moments, static_argnums=(1,))

    def one(self, z):
        h = self.x
        for i, (m, s, b, n) in enumerate(zip(*self.weights, z)):
            h = h @ (m + s * n) + b
            h = self.jax.nn.elu(h) if i + 1 < len(z) else h
        return h[:, 0]

    def stacked(self, noise):
        return self.jax.vmap(self.one)(noise)

    def moments(self, key, draws):
        def some(k):
            keys = self.jax.random.split(k, len(self.weights[0]))
            y = self.stacked([self.jax.random.normal(q, (self.at_a_time, *m.shape))
                              for q, m in zip(keys, self.weights[0])])
            return y.sum(0), (y * y).sum(0)

        first, second = self.jax.lax.map(some, self.jax.random.split(
            key, draws // self.at_a_time))
        mean = first.sum(0) / draws
        return mean, self.np.sqrt(second.sum(0) / draws - mean * mean)

    def outputs(self, draws, noise):
        return np.asarray(self.all([self.np.asarray(z) for z in noise]))

    def predict(self, draws):
        return self.jax.block_until_ready(self.summed(self.key, draws))


def torch_predicts(weights, x):
    import torch
    torch.set_num_threads(1)
    return [(f"PyTorch bmm, {k} a time", TorchPredict(torch, weights, x, k))
            for k in AT_A_TIME]


def jax_predicts(weights, x):
    import jax
    return [(f"JAX vmap, {k} a time", JaxPredict(jax, weights, x, k)) for k in AT_A_TIME]


def prediction(bench, makers, peer):
    case = f"predict, {DRAWS} draws x {INPUTS} inputs"
    x, y = scalar_data(ROWS)
    trainer = Trainer(bench.xb, x, y, BATCH, ADAM, SIGMA)
    model = trainer.model("shared", 20)
    opt = trainer.predict_options(DRAWS)
    inputs = np.linspace(-1.5, 1.5, INPUTS)
    scaled, weights = trainer.scaled_x(model, inputs), trainer.weights(model)
    try:
        forms = makers(weights, scaled)
        check = same_outputs(trainer, model, inputs, opt, forms[0][1])
    except ImportError as error:
        return bench.missing("VI", case, peer, error)
    except WrongResult as error:
        return bench.wrong("VI", case, peer, error)
    try:
        name, work = fastest(bench, "VI", case,
                             [(n, lambda f=f: lambda: f.predict(DRAWS)) for n, f in forms])
    except WrongResult:
        return None  # each of them is in the table as missing
    return bench.compare("VI", case, lambda: trainer.predict(model, inputs, opt), name,
                         work, target=TARGET["predict"], check=check, repeats=REPEATS,
                         limit=bench.share(fma=DRAWS * INPUTS * sum(
                             m.size for m in weights["mu"])))


def main():
    bench = Bench(__doc__)
    if bench.peer == "predict":
        return prediction(bench, torch_predicts, "PyTorch bmm")
    if bench.peer == "predict-jax":
        return prediction(bench, jax_predicts, "JAX vmap")
    return steps_against(bench, bench.peer)


if __name__ == "__main__":
    main()

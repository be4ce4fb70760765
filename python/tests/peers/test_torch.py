"""crossbayes.torch beside autograd's own differences and the C library's passes."""

from __future__ import annotations

import copy
import math
import pickle

import crossbayes as xb
import crossbayes.torch as xt
import numpy as np
import pytest
import torch
from crossbayes._library import Session
from crossbayes._native import ffi, lib
from crossbayes.torch import convs, passes
from torch import nn

PREDICT = 2**32 - 1
torch.set_num_threads(1)


def image_net():
    torch.manual_seed(1)
    return nn.Sequential(
        nn.Conv2d(2, 3, 3, padding=1), nn.BatchNorm2d(3), nn.ReLU(), nn.MaxPool2d(6),
        nn.Flatten(), nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2, bias=False),
    )  # fmt: skip


def dense_net(bias=True):
    torch.manual_seed(2)
    return nn.Sequential(nn.Linear(4, 6, bias=bias), nn.Tanh(), nn.Linear(6, 3, bias=bias))


SKEWED = xb.law_from_density(lambda x: math.exp(-x) if x > 0 else 0.0, support=(0, math.inf))


# ---- draws


@pytest.mark.parametrize("law", ["gaussian", "mtj", "bimodal:m=0.9"])
def test_weights_are_the_librarys_draws(law):
    """theta = mu + sigma z with the same bytes as Generator's z, training and predicting."""
    net = xt.bayesian(dense_net(), law=law, seed=9, random="all")
    layer, g = net[2], xb.Generator(9, "weight")
    for step in range(3):
        net.train()(torch.zeros(1, 4))
        for role, tensor, shape in (("kernel", 2, (6, 3)), ("bias", 3, (3,))):
            z = g.draw(law, shape, tensor=tensor, step=step)
            mu = layer._pair(role)[0].detach().numpy()
            theta = layer.drawn()[role == "bias"].detach().numpy()
            assert (theta == mu + layer.sigma(role).numpy() * z).all()
    net.eval()(torch.zeros(1, 4))
    z = g.draw(law, (6, 3), tensor=2, step=PREDICT)
    mu = layer._pair("kernel")[0].detach().numpy()
    theta = layer.drawn()[0].detach().numpy()
    assert (theta == mu + layer.sigma("kernel").numpy() * z).all()


def test_predictions_are_the_models_draws():
    net = xt.bayesian(image_net(), law="mtj", seed=3, random="all", sigma=0.2).eval()
    model = xb.from_torch(net, input_shape=(2, 6, 6), noise_std=1.0)
    assert model.law.text == xb.law("mtj").text
    x = torch.randn(4, 2, 6, 6)
    flat = x.permute(0, 2, 3, 1).reshape(4, -1).double().numpy()
    drawn = model.draws(flat, 6, seed=3)
    for s in range(6):
        np.testing.assert_allclose(net(x).detach().numpy(), drawn[s], atol=2e-6)
    xt.noise_of(net).at(2)
    np.testing.assert_allclose(net(x).detach().numpy(), drawn[2], atol=2e-6)


def test_convolutions_of_one_dimension():
    plain = nn.Sequential(
        nn.Conv1d(2, 3, 3, padding=1), nn.ELU(), nn.Conv1d(3, 3, 6), nn.Flatten()
    )
    net = xt.bayesian(plain.append(nn.Linear(3, 1)), law="mtj", seed=3, sigma=0.2).eval()
    model = xb.from_torch(net, input_shape=(2, 6), noise_std=1.0)
    x = torch.randn(4, 2, 6)
    drawn = model.draws(x.permute(0, 2, 1).reshape(4, -1).double().numpy(), 3, seed=3)
    for s in range(3):
        np.testing.assert_allclose(net(x).detach().numpy()[:, 0], drawn[s], atol=2e-6)


def c_pass(net, text, x, estimator, law, seed, dy):
    """Outputs and gradients of the same net by the library's own pass."""
    session = Session()
    model = xb.from_torch(net, noise_std=1.0)
    parsed = lib.xb_model_net(model._c)
    options = ffi.new("xb_pass_options *")
    lib.xb_pass_options_init(options, ffi.sizeof("xb_pass_options"))
    options.estimator = {"shared": 0, "example": 1, "flipout": 2}[estimator]
    out = session.make(lib.xb_pass_create, parsed, options)
    weights = lib.xb_model_weights(model._c)
    noise = ffi.new("xb_noise *")
    sampler = xb.law(law).sampler(True)  # the struct does not keep it alive
    noise.sampler = sampler
    noise.key = lib.xb_key_make(seed, lib.XB_PURPOSE_WEIGHT)
    y = np.empty(dy.shape, np.float32)
    n = lib.xb_net_param_count(parsed)
    d_mu, d_sigma = np.zeros(n, np.float32), np.zeros(n, np.float32)
    d_x = np.empty(x.shape, np.float32)
    at = lambda a: ffi.from_buffer("float[]", a)  # noqa: E731
    kept = ffi.new("xb_weights *", weights)
    session.check(
        lib.xb_pass_forward(
            session.ctx, out, at(y), at(x), len(x), kept, noise, lib.XB_MODE_PREDICT
        )
    )
    gradient = ffi.new("xb_gradient *", {"mu": at(d_mu), "sigma": at(d_sigma), "x": at(d_x)})
    session.check(lib.xb_pass_backward(session.ctx, out, gradient, at(dy)))
    assert model.net == text
    return y, d_mu, d_sigma, d_x


@pytest.mark.parametrize("estimator", ["shared", "flipout", "example"])
def test_layers_agree_with_the_librarys_pass(estimator):
    text = "dense 6, tanh, dense 3"
    net = xt.bayesian(
        dense_net(), law="mtj", seed=5, sigma=0.3, estimator=estimator, random="all"
    )
    x = torch.randn(7, 4, requires_grad=True)
    dy = torch.randn(7, 3)
    y = net(x)
    y.backward(dy)
    c_y, c_mu, c_sigma, c_x = c_pass(
        net, text, x.detach().numpy(), estimator, "mtj", 5, dy.numpy()
    )
    np.testing.assert_allclose(y.detach().numpy(), c_y, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(x.grad.numpy(), c_x, rtol=1e-4, atol=1e-5)
    at = 0
    for layer in (net[0], net[2]):
        for role in ("kernel", "bias"):
            mu, width = layer._pair(role)
            grads = [getattr(layer, f"{role}_{k}").grad for k in ("mu", "log_sigma")]
            part = slice(at, at + mu.numel())
            np.testing.assert_allclose(grads[0].reshape(-1), c_mu[part], rtol=1e-4, atol=1e-5)
            by_log = c_sigma[part] * width.detach().exp().reshape(-1).numpy()
            np.testing.assert_allclose(grads[1].reshape(-1), by_log, rtol=1e-4, atol=1e-5)
            at += mu.numel()


# ---- gradients


def called(net, names, noise):
    def run(x, *values):
        noise.at(2)
        return torch.func.functional_call(net, dict(zip(names, values)), (x,))

    return run


@pytest.mark.parametrize("estimator", ["shared", "flipout"])
@pytest.mark.parametrize("random", ["kernels", "all"])
def test_gradcheck_of_a_chain(estimator, random, monkeypatch):
    """Dense layers with relu that run as one function, here although they are small."""
    monkeypatch.setattr(passes, "_MOST", {"shared": 0, "flipout": 0})
    torch.manual_seed(4)
    plain = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 5, bias=False), nn.ReLU())
    plain.append(nn.Linear(5, 3)).append(nn.ReLU())
    net = xt.bayesian(plain, "mtj", estimator=estimator, random=random, sigma=0.3).double()
    x = torch.randn(7, 4, dtype=torch.float64, requires_grad=True)
    names = [name for name, _ in net.named_parameters()]
    values = [p.detach().requires_grad_() for p in net.parameters()]
    assert [run.chain for run in net._runs()] == [True]
    run = called(net.eval(), names, xt.noise_of(net))
    assert torch.autograd.gradcheck(run, (x, *values))


@pytest.mark.parametrize("law", ["gaussian", "mtj"])
@pytest.mark.parametrize("estimator", ["shared", "flipout", "example"])
@pytest.mark.parametrize("random", ["kernels", "all"])
def test_gradcheck(estimator, law, random):
    plain = nn.Sequential(
        nn.Conv2d(2, 2, (2, 1), groups=2), nn.Tanh(), nn.Flatten(2),
        nn.Conv1d(2, 1, 2, bias=False), nn.Flatten(), nn.Linear(1, 2),
    )  # fmt: skip
    net = xt.bayesian(plain, law=law, estimator=estimator, random=random, sigma=0.3).double()
    names = [name for name, _ in net.named_parameters()]
    x = torch.randn(2, 2, 2, 2, dtype=torch.float64, requires_grad=True)
    run = called(net.eval(), names, xt.noise_of(net))
    assert torch.autograd.gradcheck(run, (x, *net.parameters()))


@pytest.mark.parametrize(
    "prior", ["normal:sd=0.7", "laplace:b=0.5", "mixture:pi=0.4,s1=1,s2=0.1"]
)
def test_the_gradient_of_the_kl(prior):
    net = xt.bayesian(dense_net(), law="mtj", prior=prior, random="all", sigma=0.3).double()
    assert torch.autograd.gradcheck(lambda *_: xt.kl(net), tuple(net.parameters()))
    whole = float(xt.kl(net))
    assert abs(float(xt.kl(net.float())) / whole - 1) < 1e-5


def test_the_kl_is_that_of_torch():
    net = xt.bayesian(dense_net(), prior="normal:mean=0.1,sd=0.7", sigma=0.2)
    p = torch.distributions.Normal(0.1, 0.7)
    expected = 0.0
    for layer in (net[0], net[2]):
        sigma = layer.kernel_log_sigma.exp()
        q = torch.distributions.Normal(layer.kernel_mu, sigma)
        expected += torch.distributions.kl_divergence(q, p).sum()
    torch.testing.assert_close(xt.kl(net), expected, rtol=1e-5, atol=0)


def test_batches_add_up_to_the_whole_data_set():
    """sum over batches of size times free energy = NLL of all + KL, whatever the batches."""
    net = xt.bayesian(dense_net())
    nll = torch.arange(12.0)
    for parts in ([12], [4, 8], [1] * 12):
        total = 0.0
        for part in torch.split(nll, parts):
            total += len(part) * xt.free_energy(net, part.mean(), examples=12)
        torch.testing.assert_close(total, nll.sum() + xt.kl(net))


@pytest.mark.parametrize("estimator", ["shared", "flipout", "example"])
def test_the_kl_of_a_draw_is_the_kl(estimator):
    """free_energy takes what the draw computed on its way: the same gradients as apart."""
    x, grads = torch.randn(3, 4), []
    for together in (True, False):
        net = xt.bayesian(dense_net(), "mtj", estimator=estimator, random="all", sigma=0.3)
        nll = net(x).square().mean()
        loss = xt.free_energy(net, nll, 50) if together else nll + xt.kl(net) / 50
        loss.backward()
        grads.append([p.grad for p in net.parameters()] + [loss.detach()])
    for one, other in zip(*grads):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("prior", ["normal:mean=0.1,sd=0.7", "laplace:b=0.5"])
def test_the_kl_of_a_wide_layer(prior):
    """The KL and its gradient that come with a wide layer are those of the KL alone."""
    torch.manual_seed(3)
    net = xt.bayesian(nn.Linear(200, 100), "mtj", prior=prior, random="all", sigma=0.3)
    net(torch.zeros(3, 200))
    together = xt.free_energy(net, torch.zeros(()), 1)
    parts = torch.autograd.grad(together, list(net.parameters()))
    whole = xt.kl(net.double())
    alone = torch.autograd.grad(whole, list(net.parameters()))
    torch.testing.assert_close(together.double(), whole, rtol=1e-6, atol=0)
    for one, other in zip(parts, alone):
        torch.testing.assert_close(one.double(), other, rtol=1e-5, atol=1e-6)


def test_the_kl_follows_the_parameters():
    """A KL of the last draw is not used after a step."""
    net = xt.bayesian(dense_net())
    net(torch.zeros(1, 4))
    with torch.no_grad():
        net[0].kernel_log_sigma += 1
    expected = xt.kl(net)
    torch.testing.assert_close(xt.free_energy(net, torch.zeros(()), 1), expected)


def test_a_network_draws_what_its_layers_would():
    """One draw of the whole network: the numbers and gradients of layers that draw alone."""
    x, results = torch.randn(5, 2, 6, 6), []
    for together in (True, False):
        net = xt.bayesian(image_net(), law="mtj", seed=3, random="all", sigma=0.2)
        if not together:
            noise = xt.noise_of(net)
            noise.advance(True)
            y = x
            for layer in net:
                y = layer(y)
        else:
            y = net(x)
        y.square().sum().backward()
        results.append([y.detach(), *(p.grad for p in net.parameters())])
    for one, other in zip(*results):
        torch.testing.assert_close(one, other)


def grown_net(kind):
    torch.manual_seed(3)
    if kind == "dense":
        return nn.Sequential(
            nn.Linear(4, 6),
            nn.ELU(),
            nn.Linear(6, 5, bias=False),
            nn.Sigmoid(),
            nn.Linear(5, 2),
        ), (7, 4)
    if kind == "wide":  # layers too large for one pass, one by one
        return nn.Sequential(
            nn.Linear(70, 130),
            nn.Tanh(),
            nn.Linear(130, 70, bias=False),
            nn.Tanh(),
            nn.Linear(70, 2),
        ), (7, 70)
    if kind == "chain":  # the same, all of them as one function
        return nn.Sequential(
            nn.Linear(70, 130),
            nn.ReLU(),
            nn.Linear(130, 70, bias=False),
            nn.Linear(70, 40),
            nn.ReLU(inplace=True),
            nn.Linear(40, 3),
            nn.ReLU(),
        ), (7, 70)
    if kind == "line":
        return nn.Sequential(
            nn.Conv1d(2, 3, 3, padding=1),
            nn.Tanh(),
            nn.Conv1d(3, 4, 2, stride=2),
            nn.Flatten(),
            nn.Linear(12, 2),
        ), (5, 2, 6)
    return nn.Sequential(
        nn.Conv2d(2, 4, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(2),
        nn.Conv2d(4, 3, (2, 1), bias=False), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(18, 2),
    ), (5, 2, 6, 6)  # fmt: skip


@pytest.mark.parametrize("estimator", ["shared", "flipout", "example"])
@pytest.mark.parametrize("random", ["kernels", "all"])
@pytest.mark.parametrize("kind", ["dense", "wide", "chain", "line", "image"])
def test_passes_in_c_are_the_operations_of_pytorch(estimator, random, kind):
    """Outputs, KL and gradients of passes, of layers alone, and of PyTorch's operations."""
    plain, shape = grown_net(kind)
    x, results = torch.randn(shape), []
    for way in ("c", "layers", "torch"):
        net = xt.bayesian(plain, "mtj", estimator=estimator, random=random, sigma=0.3)
        noise = xt.noise_of(net)
        noise.fused = way != "torch"
        inputs = x.clone().requires_grad_()
        if way == "layers":
            noise.advance(True)
            y = inputs
            for layer in net:
                y = layer(y)
        else:
            y = net(inputs)
        assert kind == "chain" or bool(noise.runners) == (way != "torch")
        xt.free_energy(net, y.square().sum(), 50).backward()
        results.append([y.detach(), inputs.grad, *(p.grad for p in net.parameters())])
    for made in results[:2]:
        for one, other in zip(made, results[2]):
            largest = max(1.0, float(other.abs().max()))  # sums of float32 cancel to its digits
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5 * largest)


@pytest.mark.parametrize("kind", ["dense", "wide", "chain"])
@pytest.mark.parametrize("estimator", ["shared", "flipout"])
def test_a_graph_that_is_kept_and_one_of_second_order(kind, estimator):
    plain, shape = grown_net(kind)
    net, x = xt.bayesian(plain, "mtj", sigma=0.3, estimator=estimator), torch.randn(shape)
    x.requires_grad_()
    y = net(x).square().sum()
    y.backward(retain_graph=True)
    once = [p.grad.clone() for p in net.parameters()]
    net(torch.randn(shape))  # another call takes the workspace of the first
    y.backward()
    for a, p in zip(once, net.parameters()):
        torch.testing.assert_close(2 * a, p.grad)
    with pytest.raises(RuntimeError, match="fused = False"):
        torch.autograd.grad(net(x).sum(), x, create_graph=True)
    xt.noise_of(net).fused = False
    (d_x,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
    d_x.square().sum().backward()
    with pytest.raises(RuntimeError, match="second derivative"):
        net(x).sum().backward(create_graph=True)


def test_hooks_and_other_shapes_run_layer_by_layer():
    net, seen = xt.bayesian(grown_net("dense")[0], sigma=0.3).eval(), []
    noise, x = xt.noise_of(net), torch.randn(7, 4)
    whole = net(x)
    net[1].register_forward_hook(lambda m, i, o: seen.append(o.shape))
    noise.at(0)
    torch.testing.assert_close(net(x), whole, rtol=1e-5, atol=1e-6)
    assert seen == [(7, 6)]
    assert net(torch.randn(2, 3, 4)).shape == (2, 3, 2)
    assert net(torch.randn(0, 4)).shape == (0, 2)
    assert net(x.double()[:, :4].float()).shape == (7, 2)


@pytest.mark.parametrize("estimator", ["shared", "flipout"])
@pytest.mark.parametrize("rows", [1, 3, 70])
def test_products_of_wide_layers_are_those_of_pytorch(estimator, rows):
    """Of layers with many outputs, with one, and of few examples."""
    torch.manual_seed(4)
    plain = nn.Sequential(
        nn.Linear(130, 210), nn.ReLU(), nn.Linear(210, 100), nn.ReLU(), nn.Linear(100, 1)
    )
    seen = []
    for fused in (True, False):
        net = xt.bayesian(plain, estimator=estimator, random="all")
        xt.noise_of(net).fused = fused
        x = torch.linspace(-1, 1, rows * 130).view(rows, 130).requires_grad_()
        y = net(x)
        xt.free_energy(net, y.square().mean(), examples=10).backward()
        seen.append([y.detach(), x.grad, *(p.grad for p in net.parameters())])
    for ours, theirs in zip(*seen):
        torch.testing.assert_close(ours, theirs, rtol=2e-4, atol=2e-6)


def test_pooled_images_have_the_gradient_of_pytorch():
    """Channels come last, and the gradient behind a flatten has another order."""

    class ByHand(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.pool = nn.Conv2d(2, 5, 3, padding=1), nn.MaxPool2d(2)

        def forward(self, x):
            images = self.conv(x)
            images.retain_grad()
            self.seen = images
            return self.pool(images).flatten(1)

    torch.manual_seed(5)
    net = xt.bayesian(ByHand())
    assert isinstance(net.pool, nn.MaxPool2d) and repr(net.pool).startswith("MaxPool2d")
    y = net(torch.randn(3, 2, 8, 8))
    weights = torch.randn_like(y)
    (y * weights).sum().backward()
    images = net.seen.detach().contiguous().requires_grad_()
    plain = nn.functional.max_pool2d(images, 2).flatten(1)
    assert torch.equal(plain, y)
    (plain * weights).sum().backward()
    assert torch.equal(images.grad, net.seen.grad)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("channels", [5, 16, 37])
@pytest.mark.parametrize("series", [False, True])
def test_pooling_in_c_is_that_of_pytorch(size, channels, series):
    """Equal values, NaN and infinities too, and edges that no window has."""
    torch.manual_seed(7)
    sides, plain_pool = ((11,), nn.MaxPool1d) if series else ((8, 11), nn.MaxPool2d)
    x = torch.randn(3, *sides, channels).round().movedim(-1, 1)
    for value in (math.nan, math.inf, -math.inf):
        x[torch.rand(x.shape) < 0.05] = value
    x[1] = -math.inf
    x.requires_grad_()
    pool = xt.bayesian(nn.Sequential(nn.Conv2d(1, 1, 1), plain_pool(size)))[1]
    y, plain = pool(x), plain_pool(size)(x)
    made = y.grad_fn.next_functions[0][0] if series else y.grad_fn
    assert "Pool" in made.name() and "MaxPool" not in made.name()
    assert repr(pool) == repr(plain_pool(size))
    torch.testing.assert_close(y, plain, rtol=0, atol=0, equal_nan=True)
    dy = torch.randn_like(y)
    (ours,) = torch.autograd.grad(y, x, dy, retain_graph=True)
    (theirs,) = torch.autograd.grad(plain, x, dy)
    assert torch.equal(ours, theirs)
    dy.requires_grad_()
    (again,) = torch.autograd.grad(y, x, dy, create_graph=True)
    assert torch.equal(again, theirs)
    (by_dy,) = torch.autograd.grad(again.square().sum(), dy)
    assert torch.equal(by_dy, 2 * dy)


@pytest.mark.parametrize(
    ("shape", "settings", "random"),
    [
        ((1, 16, 3), {"padding": 1}, "all"),
        ((3, 32, 3), {"padding": "same"}, "kernels"),
        ((2, 16, 3), {"bias": False}, "all"),
        ((1, 48, (1, 9)), {"padding": (0, 4)}, "all"),
        ((3, 16, 3), {"padding": (2, 0)}, "all"),
    ],
)
def test_convolutions_of_few_channels_are_those_of_pytorch(shape, settings, random):
    torch.manual_seed(1)
    plain = nn.Sequential(nn.Conv2d(*shape, **settings), nn.Flatten(1, 2))
    x, results = torch.randn(5, shape[0], 7, 9), []
    for fused in (True, False):
        net = xt.bayesian(plain, "mtj", random=random, sigma=0.3)
        xt.noise_of(net).fused = fused
        assert convs._pads(net[0], x) is not None
        own = net[0](x).grad_fn.name() == "ConvBackward"
        assert own == (fused and convs._FAST)
        y = net(x)
        weights = torch.arange(y.numel()).view_as(y).cos()
        xt.free_energy(net, (y * weights).sum(), 50).backward()
        results.append([y.detach(), *(p.grad for p in net.parameters())])
    for ours, theirs in zip(*results):
        torch.testing.assert_close(
            ours, theirs, rtol=1e-4, atol=1e-5 * float(theirs.abs().max())
        )


def test_the_gradient_by_images_of_few_channels():
    """It is PyTorch's, and the KL that comes without outputs has its gradient."""
    net = xt.bayesian(nn.Conv2d(1, 16, 3), sigma=0.3)
    x = torch.randn(2, 1, 5, 5)
    wanted = x.clone().requires_grad_()
    net(wanted).square().sum().backward()
    by_images = [p.grad.clone() for p in net.parameters()]
    assert wanted.grad.abs().sum() > 0
    net.zero_grad()
    xt.noise_of(net).step = -1
    net(x).square().sum().backward()
    for one, p in zip(by_images, net.parameters()):
        torch.testing.assert_close(one, p.grad, rtol=1e-4, atol=1e-4)
    net.zero_grad()
    net(x)
    xt.free_energy(net, torch.zeros(()), 1).backward()
    alone = torch.autograd.grad(xt.kl(net), [net[0].kernel_mu, net[0].kernel_log_sigma])
    for one, other in zip((net[0].kernel_mu.grad, net[0].kernel_log_sigma.grad), alone):
        torch.testing.assert_close(one, other)


def test_a_parameter_of_another_size_is_refused():
    net = xt.bayesian(dense_net())
    x = torch.zeros(2, 4)
    net(x)
    net[0].kernel_mu = nn.Parameter(torch.zeros(4, 60))
    with pytest.raises(ValueError, match="parameters have"):
        net(x)


def test_two_calls_before_a_gradient():
    """Draws of several calls go into one loss: each has its own noise in the backward pass."""
    net = xt.bayesian(dense_net(), law="mtj", random="all", sigma=0.3)
    x = torch.randn(3, 4)
    (net(x).square().mean() + net(x).square().mean()).backward()
    both = [p.grad.clone() for p in net.parameters()]
    for p in net.parameters():
        p.grad = None
    xt.noise_of(net).step = -1
    for _ in range(2):
        net(x).square().mean().backward()
    for a, p in zip(both, net.parameters()):
        torch.testing.assert_close(a, p.grad)


def test_the_kl_is_that_of_the_parameters_used():
    """A call with other parameters does not leave its KL to the network's own."""
    net = xt.bayesian(dense_net())
    other = {k: v.detach() + 1 for k, v in net.named_parameters()}
    torch.func.functional_call(net, other, (torch.zeros(1, 4),))
    torch.testing.assert_close(xt.free_energy(net, torch.zeros(()), 1), xt.kl(net))


def test_a_network_inside_another_and_one_that_fails():
    net = xt.bayesian(dense_net())
    whole = nn.Sequential(net, nn.Linear(3, 1))
    loss = whole(torch.zeros(2, 4)).mean()
    torch.testing.assert_close(xt.free_energy(whole, loss, 1), loss + xt.kl(net))
    with pytest.raises(RuntimeError):
        net(torch.zeros(2, 5))
    net.eval()
    again = copy.deepcopy(net)
    assert (net(torch.ones(2, 4)) == again(torch.ones(2, 4))).all()


def test_threads_have_their_own_draws():
    from concurrent.futures import ThreadPoolExecutor

    net = xt.bayesian(dense_net(), law="mtj", sigma=0.3).eval()
    noise, x = xt.noise_of(net), torch.randn(6, 4)
    with torch.no_grad():
        drawn = {}
        for s in range(200):
            noise.at(s)
            drawn[net(x).numpy().tobytes()] = s
        noise.at(0)
        with ThreadPoolExecutor(4) as pool:
            for y in pool.map(lambda _: net(x).detach().numpy().tobytes(), range(150)):
                assert y in drawn


def test_layers_of_two_precisions():
    net = xt.bayesian(dense_net(), random="all")
    net[2].double()
    net[1].register_forward_hook(lambda m, i, o: o.double())
    y = net(torch.zeros(2, 4))
    assert y.dtype == torch.float64
    xt.free_energy(net, y.mean(), 10).backward()
    assert all(p.grad is not None and p.grad.dtype == p.dtype for p in net.parameters())


def test_a_linear_model_learns_its_exact_posterior():
    """y = w x + noise: mean and width of a conjugate posterior (Bishop 2006, 3.50-3.51)."""
    torch.manual_seed(4)
    n, noise_sd, prior_sd = 40, 0.5, 1.0
    x = torch.randn(n, 2)
    y = x @ torch.tensor([0.8, -0.4]) + noise_sd * torch.randn(n)
    net = xt.bayesian(
        nn.Linear(2, 1, bias=False), prior=f"normal:sd={prior_sd}", estimator="example"
    )
    adam = torch.optim.Adam(net.parameters(), lr=0.02)
    decay = torch.optim.lr_scheduler.ExponentialLR(adam, 0.998)
    for _ in range(1500):
        adam.zero_grad()
        nll = 0.5 * ((net(x)[:, 0] - y) / noise_sd).square().mean()
        xt.free_energy(net, nll, examples=n).backward()
        adam.step()
        decay.step()
    precision = x.T @ x / noise_sd**2 + torch.eye(2) / prior_sd**2
    mean = torch.linalg.solve(precision, x.T @ y / noise_sd**2)
    # The best factorised normal has the precision's diagonal (Bishop 2006, 10.13).
    width = precision.diagonal().rsqrt()
    torch.testing.assert_close(net[0].kernel_mu[:, 0], mean, atol=0.02, rtol=0)
    torch.testing.assert_close(net[0].sigma("kernel")[:, 0], width, atol=0.0, rtol=0.1)


# ---- use


def test_laws_are_swapped():
    net = xt.bayesian(dense_net(), law="gaussian", sigma=0.3).eval()
    before = [p.clone() for p in net.parameters()]
    x = torch.randn(500, 4)
    assert xt.swap_law(net, "bimodal:m=0.9") is net
    assert net[0].law.text.startswith("bimodal")
    assert all((a == b).all() for a, b in zip(before, net.parameters()))
    model = xb.from_torch(net, noise_std=1.0)
    xt.noise_of(net).at(0)
    got = net(x).detach().numpy()
    np.testing.assert_allclose(got, model.draws(x.double().numpy(), 1, seed=1)[0], atol=2e-6)


class ByHand(nn.Module):
    """Layers that the module calls itself."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 3), nn.Linear(3, 1)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))


@pytest.mark.parametrize("estimator", ["shared", "flipout", "example"])
@pytest.mark.parametrize("make", [dense_net, ByHand, image_net])
def test_compiled_networks_are_the_same(make, estimator):
    """torch.compile calls layers with noise as they are, and the rest of a step around them."""
    torch.manual_seed(4)
    plain = make()
    settings = {"law": "mtj", "estimator": estimator, "random": "all"}
    nets = [xt.bayesian(plain, **settings) for _ in range(2)]

    def loss(net, x):
        return xt.free_energy(net, net(x).square().mean(), examples=100)

    compiled = torch.compile(loss, backend="eager")
    x = torch.randn(5, 2, 6, 6) if make is image_net else torch.randn(5, 4)
    for _ in range(3):
        values = [loss(nets[0], x), compiled(nets[1], x)]
        assert torch.equal(*values)
        for value in values:
            value.backward()
    for a, b in zip(nets[0].parameters(), nets[1].parameters()):
        assert torch.equal(a.grad, b.grad)
    whole = torch.compile(nets[1].eval(), backend="eager")
    assert torch.equal(nets[0].eval()(x), whole(x))


def test_copies_and_pickles():
    net = xt.bayesian(image_net(), law="mtj", seed=3).eval()
    x = torch.randn(2, 2, 6, 6)
    twin, third = copy.deepcopy(net), pickle.loads(pickle.dumps(net))
    fourth = xt.bayesian(image_net(), law="mtj", seed=3).eval()
    fourth.load_state_dict(net.state_dict())
    first = net(x)
    for other in (twin, third, fourth):
        assert (other(x) == first).all()
    assert xt.noise_of(twin) is not xt.noise_of(net)
    assert not (net(x) == first).all()


def test_memory_is_shared(tmp_path):
    model = xb.from_torch(xt.bayesian(dense_net()), noise_std=1.0)
    for name, tensor in xt.tensors(model).items():
        assert tensor.data_ptr() == model.tensors[name].__array_interface__["data"][0]
    x = torch.randn(5, 4, dtype=torch.float64)
    kept = []
    rows = model._rows(x, kept, False)
    assert int(ffi.cast("uintptr_t", rows.x)) == x.data_ptr()
    scaled = torch.randn(5, 4)
    rows = model._rows(scaled, kept, True)
    assert int(ffi.cast("uintptr_t", rows.scaled)) == scaled.data_ptr()


def test_files_of_pytorch(tmp_path):
    net = xt.bayesian(dense_net(), law="mtj", random="all")
    path = tmp_path / "net.pt"
    torch.save(net.state_dict(), path)
    settings = {"net": "dense 6, tanh, dense 3", "inputs": 4, "noise_std": 1.0}
    stored = xb.import_file(path, **settings)
    live = xb.from_torch(net, noise_std=1.0)
    assert all((live.tensors[k] == v).all() for k, v in stored.tensors.items())
    torch.save(net, path)  # the whole object: loading it would run code
    with pytest.raises(xb.InputError, match="net.pt: holds Python objects besides tensors"):
        xb.import_file(path, **settings)
    path.write_bytes(b"no such thing")
    with pytest.raises(xb.InputError, match="net.pt"):
        xb.import_file(path, **settings)
    torch.save(torch.zeros(3), path)
    with pytest.raises(xb.InputError, match="holds a Tensor, expected a state dict"):
        xb.import_file(path, **settings)


class Boom:
    def __reduce__(self):
        return (exec, ("raise SystemExit('run')",))


def test_pickles_are_not_run(tmp_path):
    path = tmp_path / "boom.pt"
    torch.save({"a": Boom()}, path)
    with pytest.raises(xb.InputError, match="would run them"):
        xb.import_file(path, net="dense 1", inputs=1)


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda: xt.bayesian(3), TypeError, "expected a torch module, not int"),
        (lambda: xt.bayesian(nn.ReLU()), ValueError, "ReLU has no Linear"),
        (lambda: xt.bayesian(dense_net(), law="mjt"), xb.InputError, "did you mean 'mtj'"),
        (lambda: xt.bayesian(dense_net(), prior="cauchy"), xb.InputError, "cauchy"),
        (lambda: xt.bayesian(dense_net(), sigma=0), ValueError, "sigma is 0"),
        (lambda: xt.bayesian(dense_net(), sigma=math.nan), ValueError, "sigma is nan"),
        (lambda: xt.bayesian(dense_net(), estimator="local"), ValueError, "no estimator 'local'"),
        (lambda: xt.bayesian(dense_net(), random="some"), ValueError, "random is 'some'"),
        (lambda: xt.bayesian(dense_net(), seed=-1), ValueError, "seed is -1"),
        (lambda: xt.bayesian(xt.bayesian(dense_net())), ValueError, "use swap_law"),
        (lambda: xt.bayesian(dense_net(), SKEWED, estimator="flipout"), ValueError, "symmetric"),
        (lambda: xt.swap_law(dense_net(), "mtj"), ValueError, "no layer with noise"),
        (lambda: xt.kl(dense_net()), ValueError, "no layer with noise"),
        (lambda: xt.free_energy(xt.bayesian(dense_net()), torch.ones(2), 5), ValueError, "mean"),
        (lambda: xt.free_energy(xt.bayesian(dense_net()), torch.ones(()), 0), ValueError, "examples is 0"),
        (lambda: xt.bayesian(dense_net())(torch.zeros(4)), ValueError, "expected a batch"),
        (lambda: xt.bayesian(dense_net()).half()(torch.zeros(2, 4).half()), TypeError, "float16"),
        (lambda: xt.bayesian(dense_net()).to("meta")(torch.zeros(2, 4, device="meta")), ValueError, "on meta"),
        (lambda: xt.bayesian(nn.Conv2d(1, 1, 3, padding=1, padding_mode="circular")), ValueError, "circular"),
    ],
)  # fmt: skip
def test_it_is_refused(call, kind, says):
    with pytest.raises(kind, match=says):
        call()

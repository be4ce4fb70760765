"""Laws against scipy.stats and against the command line."""

from __future__ import annotations

import copy
import pickle

import crossbayes as xb
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, stats

TEXTS = [name for name in xb.families() if name != "empirical"]


@pytest.mark.parametrize(
    ("text", "peer"),
    [
        ("gaussian", stats.norm()),
        ("laplace", stats.laplace()),
        ("student:nu=5", stats.t(5)),
    ],
)
def test_the_numbers_are_those_of_scipy(text, peer):
    law = xb.law(text)
    x = np.linspace(-6, 6, 41).reshape(1, 41)
    q = np.array([1e-12, 0.1, 0.5, 0.9, 1 - 1e-6])
    for name in ("pdf", "logpdf", "cdf", "sf"):
        assert_allclose(getattr(law, name)(x), getattr(peer, name)(x), rtol=1e-11)
    for name in ("ppf", "isf"):
        assert_allclose(getattr(law, name)(q), getattr(peer, name)(q), rtol=1e-10, atol=1e-15)
    assert_allclose(law.mean(), peer.mean(), atol=1e-15)
    assert_allclose(law.std(), peer.std())
    assert_allclose(law.entropy(), peer.entropy(), rtol=1e-9)
    assert_allclose(law.interval(0.9), peer.interval(0.9))


@pytest.mark.parametrize("text", TEXTS)
def test_every_family_agrees_with_itself(text):
    law = xb.law(text)
    x = law.ppf(np.linspace(0.01, 0.99, 99))
    assert_allclose(law.cdf(x) + law.sf(x), 1)
    assert_allclose(law.cdf(x), np.linspace(0.01, 0.99, 99), atol=1e-9)
    assert [law.pdf(float(v)) for v in x] == list(law.pdf(x))
    assert law.cdf(np.float64(x[3])) == law.cdf(x)[3]
    assert isinstance(law.pdf(0), float)
    rule = law.gauss(3)
    assert_allclose(rule.weights.sum(), 1)
    assert_allclose(rule.expect(lambda v: v), law.mean(), atol=1e-12)
    assert text.split(":")[0] in repr(law)
    assert "<table>" in law._repr_html_()


def test_long_arrays_are_computed_in_parts(monkeypatch):
    """And so are long runs of words and uniforms, between two looks at Ctrl-C."""
    from crossbayes import draws, laws

    x, g = np.linspace(-1, 1, 60_000).reshape(200, 300), xb.Generator(3)
    whole = [xb.law("mtj").pdf(x), g.words(60_001, first=7), g.uniform(60_001, first=7)]
    monkeypatch.setattr(laws, "_CHUNK", 7000)
    monkeypatch.setattr(draws, "_CHUNK", 7000)
    parts = [xb.law("mtj").pdf(x), g.words(60_001, first=7), g.uniform(60_001, first=7)]
    assert all(np.array_equal(a, b) for a, b in zip(whole, parts))


def test_the_middle_of_a_symmetric_law_is_zero():
    law = xb.law("mtj")
    middle = [law.ppf(0.5), law.isf(0.5), law.median(), *law.ppf([0.5]), *law.isf([0.5])]
    assert [str(float(x)) for x in middle] == ["0.0"] * 5


def test_kl_is_the_integral():
    p, q = xb.law("gaussian"), xb.law("laplace")

    def f(x):
        return p.pdf(x) * (p.logpdf(x) - q.logpdf(x))

    direct = 2 * integrate.quad(f, 0, 12, epsabs=1e-13)[0]
    assert_allclose(p.kl(q), direct, rtol=2e-6)
    assert p.kl("gaussian") == 0
    assert p.kl("mtj") == np.inf
    assert_allclose(xb.law("mtj").kl(), 0.0481056, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("extra", [(), ("--standardise",)])
def test_draws_are_those_of_the_command_line(program, tmp_path, dtype, extra):
    file = tmp_path / "z.npy"
    program(
        "sample", "mtj:B=0.2", "-n", 10001, "-o", file, "--seed", 7, "--dtype", dtype, *extra
    )
    law = xb.law("mtj:B=0.2")
    drawn = law.rvs(10001, seed=7, dtype=dtype, standardise=bool(extra))
    assert drawn.tobytes() == np.load(file).tobytes()


def test_draws_have_an_address():
    g = xb.Generator(5, "weight")
    whole = g.draw("bimodal", 5000, tensor=2, sample=3, step=4)
    part = g.draw("bimodal", (10, 10), tensor=2, sample=3, step=4, first=300)
    assert (part.ravel() == whole[300:400]).all()
    assert not np.array_equal(whole, g.draw("bimodal", 5000, tensor=2, sample=3, step=5))
    words = g.words(64, tensor=9)
    assert (g.words(10, tensor=9, first=20) == words[20:30]).all()
    # maths R3: the top 52 bits of the word pair, and a half.
    pairs = words.reshape(-1, 2).astype(np.uint64)
    bits = ((pairs[:, 0] << np.uint64(32)) | pairs[:, 1]) >> np.uint64(12)
    assert (g.uniform(32, tensor=9) == (bits + 0.5) * 2.0**-52).all()
    threads = [xb.set_threads(n) or g.draw("mtj", 100000).tobytes() for n in (1, 2, 5, 0)]
    assert len(set(threads)) == 1


def test_a_seed_is_needed_for_the_same_draws_only():
    law = xb.law("mtj")
    assert (law.rvs(8, seed=1) == law.rvs(8, seed=1)).all()
    assert not (law.rvs(8) == law.rvs(8)).all()
    assert law.rvs(seed=1) == law.rvs(1, seed=1)[0]
    assert law.rvs(np.array([2, 3]), seed=1).shape == (2, 3)
    assert np.isnan(law.pdf(np.ma.masked_less([-0.5, 0.5], 0.0))).tolist() == [True, False]
    assert law.rvs(0, seed=1).shape == (0,)
    assert law.rvs((2, 0, 3), seed=1).shape == (2, 0, 3)


def test_laws_are_pickled_copied_and_saved(tmp_path):
    fitted = xb.fit(3e-6 + 1e-6 * xb.law("mtj").rvs(2000, seed=4, dtype="f8"), unit="S")
    empirical = xb.law_from_samples(xb.law("ecram").rvs(500, seed=1))
    for law in (xb.law("levels:x=-1/2,p=0.3/0.7,s=0.1"), fitted.law, empirical):
        again = pickle.loads(pickle.dumps(law))
        assert again == law and again.text == law.text
        assert again.placement == law.placement
        assert (again.rvs(100, seed=1) == law.rvs(100, seed=1)).all()
        law.save(tmp_path / "law.json")
        assert (
            xb.law(tmp_path / "law.json").rvs(9, seed=2).tobytes()
            == law.rvs(9, seed=2).tobytes()
        )
        assert copy.deepcopy(law) is law
    physical = fitted.law.rvs(1000, seed=1, physical=True, dtype="f8")
    assert 2.9e-6 < physical.mean() < 3.1e-6
    assert fitted.law.placement.unit == "S"


def test_a_law_of_a_fit_outlives_it():
    laws = [xb.fit(xb.law("mtj").rvs(500, seed=s)).law for s in range(3)]
    nodes = xb.law("mtj").gauss(8).nodes
    assert all(np.isfinite(law.cdf(0.1)) for law in laws)
    assert_allclose(nodes, -nodes[::-1], atol=1e-12)


def test_densities_of_ones_own():
    law = xb.law_from_density(lambda x: 0.75 * (1 - x * x), "parabola", support=(-1, 1))
    assert_allclose(law.var(), 0.2)
    z = law.rvs(20000, seed=1)
    del law
    assert abs(z.std() - 0.2**0.5) < 0.01
    with pytest.raises(xb.InputError, match=r"integrate|mass"):
        xb.law_from_density(lambda x: 0.7 * (1 - x * x), "wrong", support=(-1, 1))
    with pytest.raises(xb.InputError) as caught:
        xb.law_from_density(lambda x: 1 / 0, "broken")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_fit_is_that_of_the_command_line(program, tmp_path):
    x = 2e-6 * xb.law("mtj").rvs(3000, seed=3, dtype="f8")
    np.save(tmp_path / "noise.npy", x)
    program("fit", tmp_path / "noise.npy", "--sample-interval", "2.5ms", "--unit", "S", "-o",
            tmp_path / "law.json", "-q")  # fmt: skip
    fit = xb.fit(x, interval="2.5ms", unit="S")
    here, there = fit.report, xb.law(tmp_path / "law.json")
    assert there.placement == fit.law.placement
    assert there.params == fit.law.params
    assert here["series"]["interval_s"] == 2.5e-3
    assert fit.fits and fit.chosen.name == "mtj" and "mtj" in fit.verdict
    scale = fit.chosen.params["scale"]
    assert abs(scale - 2e-6) < 4 * scale.error
    assert 50 < fit.series.independent(2.5e-3, 100) < 101
    assert {f.name for f in fit.families} >= {"gaussian", "mtj", "laplace"}
    assert set(fit.series.spectrum()) == {"frequency", "power", "error", "fitted"}
    assert "<table>" in fit._repr_html_()


def test_the_stationary_part_is_fitted():
    x = xb.law("gaussian").rvs(4000, seed=1, dtype="f8")
    x[:1500] += 6
    fit = xb.fit(x)
    assert fit.series.values.size == 2500
    assert fit.whole is not None and fit.law.family == "gaussian"


def test_goodness_of_a_given_law():
    x = xb.law("mtj").rvs(3000, seed=8)
    assert xb.goodness("mtj", x).fits
    assert not xb.goodness("gaussian", x).fits


def test_rules():
    assert_allclose(xb.standard_rule("hermite", 5).expect(lambda x: x**4), 3)
    nodes, weights = np.polynomial.legendre.leggauss(20)
    rule = xb.standard_rule("legendre", 20)
    assert_allclose(rule.nodes, nodes, atol=1e-14)
    assert_allclose(rule.weights, weights)
    assert_allclose(xb.gauss_rule("mtj", 10).expect(np.square), xb.law("mtj").var())


def test_devices(tmp_path):
    rng = np.random.default_rng(1)
    cell = np.repeat(np.arange(200), 3)
    time = np.tile([0.0, 1.0, 100.0], 200)
    state = cell % 2
    g0 = np.repeat(np.where(np.arange(200) % 2, 50e-6, 10e-6), 3)
    value = np.abs(g0 - 1e-6 * np.log1p(time) + 1e-7 * rng.standard_normal(600))
    made = xb.measure_device(cell, state, time, value)
    assert_allclose(made.times, [1, 100])
    assert made.moved(50e-6, 100).shift == pytest.approx(-4.6e-6, rel=0.05)
    made.save(tmp_path / "device.json")
    for again in (xb.device(tmp_path / "device.json"), pickle.loads(pickle.dumps(made))):
        assert again.moved(20e-6, 10) == made.moved(20e-6, 10)
        assert again.relaxed(20e-6, 10, 0.5) == made.relaxed(20e-6, 10, 0.5)
    with pytest.raises(ValueError, match="length"):
        xb.measure_device(cell[:5], state, time, value)


def test_arrays(tmp_path):
    array = xb.Array("mtj", adc_bits=6, law="bimodal:m=0.9")
    array.save(tmp_path / "array.json")
    for again in (xb.Array(tmp_path / "array.json"), pickle.loads(pickle.dumps(array))):
        assert again.numbers == array.numbers and again.effects == array.effects
        assert repr(again) == repr(array)
    assert array.with_(adc_bits=0).effects == [e for e in array.effects if e != "adc"]
    assert "mtj" in xb.array_presets() and "adc_bits" in xb.array_fields()
    with pytest.raises(xb.Error, match="adc_bits"):
        xb.Array("mtj", adc_bitz=6)


def test_plots(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = xb.law("mtj").plot()
    xb.law("gaussian").plot(ax, color="red")
    assert len(ax.lines) == 2
    fit = xb.fit(xb.law("mtj").rvs(500, seed=1))
    fit.plot().figure.savefig(tmp_path / "fit.png")


def test_draws_into_memory_that_is_there():
    mtj = xb.law("mtj")
    for kind in (np.float32, np.float64):
        out = np.full((3, 5), np.nan, kind)
        assert mtj.rvs(out=out, seed=4) is out
        assert (out == mtj.rvs([3, 5], seed=4, dtype=kind)).all()
    out = np.empty(10, np.float32)
    g = xb.Generator(4)
    assert (g.draw("mtj", out=out, first=7) == g.draw("mtj", 17)[7:]).all()
    locked = np.zeros(3)
    locked.flags.writeable = False
    with pytest.raises(ValueError, match="that can be written"):
        mtj.rvs(out=locked)
    place = xb.fit(mtj.rvs(500, seed=1) * 1e-6 + 1e-5, unit="S").law
    out = np.empty(4)
    place.rvs(out=out, seed=1, physical=True)
    assert (out == place.rvs(4, seed=1, physical=True, dtype="f8")).all()

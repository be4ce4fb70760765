"""scikit-learn's own checks, pipelines, pandas, pickles and processes."""

from __future__ import annotations

import pickle

import crossbayes as xb
import numpy as np
import pytest
from conftest import made_data
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

REGRESSOR = xb.BayesianRegressor(
    net="dense 10, tanh, dense 1", epochs=40, mle_epochs=40, draws=200
)
# The defaults take seconds a fit, and there are a hundred.
SOON = {"epochs": 200, "mle_epochs": 200, "draws": 200}


@parametrize_with_checks([xb.BayesianRegressor(**SOON), xb.BayesianClassifier(**SOON)])
def test_check_estimator(estimator, check):
    check(estimator)


def test_the_predictive(data):
    x, y = data
    r = clone(REGRESSOR).set_params(epochs=300, mle_epochs=300).fit(x, y)
    mean, std = r.predict(x, return_std=True)
    p = r.predict_dist(x, [0.1, 0.5, 0.9])
    assert (p.mean == mean).all() and (p.std == std).all()
    assert np.allclose(p.std**2, p.epistemic**2 + p.aleatoric**2)
    assert (p.quantile[:, 0] < p.quantile[:, 2]).all()
    assert r.score(x, y) > 0.8
    swapped = r.predict_dist(x, law="bimodal:m=0.99")
    assert not np.array_equal(swapped.mean, mean)
    model = xb.train(x, y, net=r.net, epochs=300, mle_epochs=300)
    assert (model.tensors["0.kernel.mu"] == r.model_.tensors["0.kernel.mu"]).all()


def test_pandas_in_and_out(data):
    pd = pytest.importorskip("pandas")
    x = pd.DataFrame(
        data[0], columns=["a", "b", "c"], index=[f"r{i}" for i in range(len(data[0]))]
    )
    r = clone(REGRESSOR).fit(x, pd.Series(data[1]))
    assert list(r.feature_names_in_) == ["a", "b", "c"]
    table = r.predict_dist(x).to_frame()
    assert list(table.index) == list(x.index)
    with pytest.raises(ValueError, match="feature names"):
        r.predict(x[["b", "a", "c"]])


def test_classes_keep_their_labels(data):
    x, y = data
    labels = np.where(y > 0, "high", "low")
    c = xb.BayesianClassifier(epochs=100, mle_epochs=100, draws=200).fit(x, labels)
    assert list(c.classes_) == ["high", "low"]
    assert np.mean(c.predict(x) == labels) > 0.9
    assert np.allclose(c.predict_proba(x).sum(axis=1), 1)
    p = c.predict_dist(x)
    assert (p.information >= -1e-9).all() and (p.entropy <= np.log(2) + 1e-9).all()
    assert p.classes == ["high", "low"] and (p.label == c.predict(x)).all()
    assert list(p.to_frame().columns)[:3] == ["class", "p(high)", "p(low)"]
    many = np.arange(len(y)) % 12  # "10" sorts before "2" as a text
    c = xb.BayesianClassifier(epochs=2, mle_epochs=2, draws=20).fit(x, many)
    assert list(c.classes_) == list(range(12)) and c.model_.classes == [
        str(k) for k in range(12)
    ]


def test_pipelines_searches_and_processes(data):
    x, y = data
    pipe = make_pipeline(StandardScaler(), clone(REGRESSOR)).fit(x, y)
    assert (pickle.loads(pickle.dumps(pipe)).predict(x) == pipe.predict(x)).all()
    one = cross_val_score(REGRESSOR, x, y, cv=3, n_jobs=1)
    two = cross_val_score(REGRESSOR, x, y, cv=3, n_jobs=2)
    assert (one == two).all()
    search = GridSearchCV(REGRESSOR, {"law": ["gaussian", "mtj"]}, cv=2).fit(x, y)
    assert search.best_params_["law"] in ("gaussian", "mtj")


def test_a_random_state_is_a_seed(data):
    x, y = data
    a, b, c = (
        clone(REGRESSOR).set_params(random_state=s).fit(x, y).predict(x) for s in (5, 5, 6)
    )
    assert (a == b).all() and not (a == c).all()
    state = np.random.RandomState(0)
    assert clone(REGRESSOR).set_params(random_state=state).fit(x, y).seed_ >= 0


def test_settings_reach_training():
    x, y = made_data(rows=60)
    r = (
        clone(REGRESSOR)
        .set_params(settings={"estimator": "shared"}, law=xb.law("mtj"))
        .fit(x, y)
    )
    assert r.model_.law.family == "mtj"
    with pytest.raises(TypeError, match="did you mean 'estimator'"):
        clone(REGRESSOR).set_params(settings={"estimater": "shared"}).fit(x, y)
    with pytest.raises(ValueError, match="the estimator sets itself"):
        clone(REGRESSOR).set_params(settings={"epochs": 3}).fit(x, y)

"""scikit-learn estimators on top of :func:`crossbayes.train`.

>>> import numpy as np
>>> import crossbayes as xb
>>> x = np.linspace(-2, 2, 80).reshape(-1, 1)
>>> r = xb.BayesianRegressor(net="dense 8, tanh, dense 1", epochs=100).fit(x, np.sin(x[:, 0]))
>>> mean, std = r.predict(x, return_std=True)
>>> r.predict_dist(x).quantile.shape
(80, 2)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from crossbayes._library import Progress
from crossbayes.laws import Law
from crossbayes.models import Model, Prediction
from crossbayes.training import train

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data
except ImportError as error:
    raise ImportError(
        "BayesianRegressor and BayesianClassifier need scikit-learn 1.6 or later:"
        " pip install scikit-learn"
    ) from error


class _Bayesian(BaseEstimator):  # type: ignore[misc]
    """What both estimators share: settings, training, the predictive."""

    def __init__(
        self,
        *,
        law: Law | str | None = None,
        net: str | None = None,
        epochs: int | None = None,
        mle_epochs: int | None = None,
        validation: float = 0.0,
        patience: int = 0,
        prior: str | None = None,
        likelihood: str = "auto",
        members: int | None = None,
        gp: float | None = None,
        batch: int = 100,
        rate: float = 3e-3,
        draws: int = 1000,
        settings: dict[str, Any] | None = None,
        progress: Progress = None,
        random_state: Any = 1,
    ) -> None:
        self.law = law
        self.net = net
        self.epochs = epochs
        self.mle_epochs = mle_epochs
        self.validation = validation
        self.patience = patience
        self.prior = prior
        self.likelihood = likelihood
        self.members = members
        self.gp = gp
        self.batch = batch
        self.rate = rate
        self.draws = draws
        self.settings = settings
        self.progress = progress
        self.random_state = random_state

    model_: Model

    def _seed(self) -> int:
        state = self.random_state
        if isinstance(state, (int, np.integer)):
            return int(state)
        return int(check_random_state(state).randint(2**31 - 1))

    def _train(self, x: Any, y: npt.NDArray[Any], classes: bool) -> None:
        self.seed_ = self._seed()
        own: dict[str, Any] = {
            "law": self.law,
            "net": self.net,
            "classes": classes,
            "seed": self.seed_,
            "epochs": self.epochs,
            "mle_epochs": self.mle_epochs,
            "validation": self.validation,
            "patience": self.patience,
            "prior": self.prior,
            "likelihood": self.likelihood,
            "members": self.members,
            "gp": self.gp,
            "batch": self.batch,
            "rate": self.rate,
            "progress": self.progress,
        }
        others = dict(self.settings or {})
        for name in own.keys() & others.keys():
            raise ValueError(f"settings has {name!r}, which the estimator sets itself")
        self.model_ = train(x, y, **own, **others)

    def predict_dist(
        self,
        X: Any,
        quantiles: Sequence[float] = (0.025, 0.975),
        law: Law | str | None = None,
        draws: int | None = None,
    ) -> Prediction:
        """The whole predictive: quantiles, epistemic and aleatoric parts, probabilities.

        ``law``: another law of the weights' noise for the same network.
        """
        check_is_fitted(self)
        index = getattr(X, "index", None)
        x = validate_data(self, X, reset=False, dtype=np.float64)
        number = self.draws if draws is None else draws
        made = self.model_.predict(
            x, law, draws=number, quantiles=quantiles, seed=1, progress=self.progress
        )
        made.index = index
        return made


class BayesianRegressor(RegressorMixin, _Bayesian):  # type: ignore[misc]
    """A Bayesian neural network for a target of numbers, or for several (y of two dimensions).

    ``law``: the law of the weights' noise, as a text, a :class:`crossbayes.Law` or the name
    of a law file (default: gaussian). ``likelihood``: auto, gaussian, heteroscedastic,
    student, or for counts poisson and negative-binomial. ``members``: number of posteriors
    of an ensemble. ``gp``: length scale of a Gaussian process that widens intervals away
    from the training rows, e.g. 0.25 (see :func:`crossbayes.train`). ``draws``: number of
    weight draws of a prediction. ``settings``: further settings of
    :func:`crossbayes.train`, by name.

    ``fit`` sets ``model_``, a :class:`crossbayes.Model`.
    """

    def fit(self, X: Any, y: Any) -> BayesianRegressor:
        """Trains the network."""
        x, target = validate_data(
            self,
            X,
            y,
            dtype=np.float64,
            y_numeric=True,
            multi_output=True,
            ensure_min_samples=2,
        )
        if target.ndim == 2 and target.shape[1] == 1:
            target = target[:, 0]
        self._train(x, target.astype(np.float64), classes=False)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The predictive mean and, with ``return_std``, the predictive standard deviation."""
        p = self.predict_dist(X, ())
        mean, std = np.array(p.mean), np.array(p.std)
        return (mean, std) if return_std else mean


class BayesianClassifier(ClassifierMixin, _Bayesian):  # type: ignore[misc]
    """A Bayesian neural network for classes; settings: see :class:`BayesianRegressor`."""

    classes_: npt.NDArray[Any]

    def fit(self, X: Any, y: Any) -> BayesianClassifier:
        """Trains the network."""
        x, target = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(target)
        self.classes_, numbers = np.unique(target, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("Classifier can't train when only one class is present.")
        self._train(x, numbers.astype(np.int64), classes=True)
        return self

    def predict_dist(
        self,
        X: Any,
        quantiles: Sequence[float] = (0.025, 0.975),
        law: Law | str | None = None,
        draws: int | None = None,
    ) -> Prediction:
        """The whole predictive: probabilities, labels, entropy and information.

        ``law``: another law of the weights' noise for the same network. Classes have the labels
        of ``y`` here; ``model_`` only numbers them, in the order of ``classes_``.
        """
        made = super().predict_dist(X, quantiles, law, draws)
        made.name_classes(self.classes_)
        return made

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Probabilities of each class, averaged over draws of the weights."""
        return np.array(super().predict_dist(X).probability)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most probable class of each row."""
        number = np.argmax(self.predict_proba(X), axis=1)
        labels: npt.NDArray[Any] = self.classes_[number]
        return labels

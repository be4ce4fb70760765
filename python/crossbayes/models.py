"""Trained networks: predictions, scores, laws swapped, arrays.

>>> import numpy as np
>>> import crossbayes as xb
>>> x = np.linspace(-2, 2, 60).reshape(-1, 1)
>>> model = xb.train(x, np.sin(x[:, 0]), net="dense 8, tanh, dense 1", epochs=50)
>>> p = model.predict([[0.5], [1.0]])
>>> p.mean.shape, p.quantile.shape
((2,), (2, 2))
"""

from __future__ import annotations

import functools
import json
import os
import tempfile
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from crossbayes import _html, _options
from crossbayes._library import (
    Doubles,
    Handle,
    Path,
    Progress,
    Session,
    borrowed,
    count,
    doubles,
    path_bytes,
    pointer,
    quiet_session,
    text,
    view,
)
from crossbayes._native import ffi, lib
from crossbayes.fits import Estimate
from crossbayes.laws import Law, law
from crossbayes.scores import Evaluation, evaluation_of
from crossbayes.tables import input_rows, is_frame, model_inputs, target_numbers

_QUANTILES = (0.025, 0.975)
_LEVELS = np.array(_QUANTILES)
_DOUBLE = np.dtype(np.float64)
_ROWS = ffi.typeof("xb_rows *")


class Prediction:
    """The predictive of n inputs, in the target's units.

    For numbers: ``mean``, ``std``, ``epistemic`` and ``aleatoric`` (standard deviations) are
    [n], ``quantile`` is [n][levels]; with several targets they are [n][targets] and
    [n][targets][levels]. For classes: ``probability`` [n][classes], ``label`` [n],
    ``entropy`` and ``information`` [n] in nats. Attributes that do not apply are None.
    """

    def __init__(self, pointer: Any, model: Model, levels: Doubles, index: Any) -> None:
        self._c = pointer
        self.levels = levels
        self.index = index
        self._model = model._c
        self._labels: Any = None

    def name_classes(self, labels: npt.NDArray[Any]) -> None:
        """Sets the labels of the classes, one each, for a model that only numbers them."""
        self._labels = labels
        self.classes = [str(label) for label in labels]

    @functools.cached_property
    def classes(self) -> list[str]:
        """The names of the model's classes; none for a target of numbers."""
        return Model(self._model).classes

    @functools.cached_property
    def targets(self) -> list[str]:
        """The names of the model's targets."""
        return Model(self._model).targets

    @functools.cached_property
    def _several(self) -> tuple[int, ...]:
        return () if len(self.targets) == 1 else (len(self.targets),)

    def __len__(self) -> int:
        return int(lib.xb_prediction_count(self._c))

    @property
    def draws(self) -> int:
        """The number of weight draws."""
        return int(lib.xb_prediction_draws(self._c))

    @property
    def error(self) -> float:
        """The largest Monte Carlo error of a mean, in units of the predictive's std."""
        return float(lib.xb_prediction_mc_error(self._c))

    def _array(self, name: str, *columns: int, dtype: Any = np.float64) -> Any:
        address = getattr(lib, f"xb_prediction_{name}")(self._c)
        if not address and len(self) > 0:
            return None
        return view(address, (len(self), *columns), dtype, self._c)

    @property
    def mean(self) -> Any:
        return self._array("mean", *self._several)

    @property
    def std(self) -> Any:
        return self._array("sd", *self._several)

    @property
    def epistemic(self) -> Any:
        return self._array("epistemic", *self._several)

    @property
    def aleatoric(self) -> Any:
        return self._array("aleatoric", *self._several)

    @property
    def disagreement(self) -> Any:
        """The standard deviation between an ensemble's members, a part of ``epistemic``.

        For classes it is the mutual information of class and member. None for one posterior.
        """
        if lib.xb_model_member_count(self._model) < 2:
            return None
        return self._array("disagreement", *self._several)

    @property
    def quantile(self) -> Any:
        if self.classes:
            return None
        return self._array("quantile", *self._several, len(self.levels))

    @property
    def probability(self) -> Any:
        return self._array("probability", len(self.classes)) if self.classes else None

    @property
    def entropy(self) -> Any:
        return self._array("entropy")

    @property
    def information(self) -> Any:
        return self._array("information")

    @property
    def label(self) -> Any:
        """The most probable class of each input."""
        if not self.classes:
            return None
        names = np.array(self.classes, dtype=object) if self._labels is None else self._labels
        return names[self._array("class", dtype=np.int64)]

    def to_frame(self) -> Any:
        """The prediction as a pandas data frame, with the index of the inputs, if any."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("data frames need pandas: pip install pandas") from None

        if self.classes:
            columns = {
                f"p({name})": self.probability[:, k] for k, name in enumerate(self.classes)
            }
            columns = {"class": self.label, **columns, "entropy": self.entropy}
            return pd.DataFrame({**columns, "information": self.information}, index=self.index)
        columns = {}
        for k, target in enumerate(self.targets):
            one = (slice(None), k) if self._several else slice(None)
            label = f"{target} " if self._several else ""
            for name in ("mean", "std", "epistemic", "aleatoric"):
                columns[label + name] = getattr(self, name)[one]
            for j, level in enumerate(self.levels):
                columns[f"{label}q{level:g}"] = self.quantile[one][:, j]
        return pd.DataFrame(columns, index=self.index)

    def __reduce__(self) -> tuple[Any, ...]:
        values = {name: getattr(self, name) for name in _KEPT}
        return _kept_prediction, (values,)

    def __repr__(self) -> str:
        return f"Prediction({len(self)} inputs, {self.draws} draws)"


_KEPT = (
    "levels", "index", "classes", "targets", "draws", "error", "mean", "std", "epistemic",
    "aleatoric", "disagreement", "quantile", "probability", "entropy", "information", "label",
)  # fmt: skip


class _KeptPrediction(Prediction):
    """A prediction that was pickled: its arrays, without the library's object."""

    def __init__(self, values: dict[str, Any]) -> None:
        vars(self).update(values)

    def __len__(self) -> int:
        return len(self.mean if self.probability is None else self.probability)


for _name in _KEPT:  # what the library computes is in the object itself
    if isinstance(getattr(Prediction, _name, None), property):
        setattr(_KeptPrediction, _name, None)


def _kept_prediction(values: dict[str, Any]) -> Prediction:
    return _KeptPrediction(values)


class Model(Handle):
    """A trained network with everything that prediction needs. It never changes."""

    _what = "model"

    def __init__(self, path_or_pointer: Any) -> None:
        if isinstance(path_or_pointer, (str, os.PathLike)):
            path = path_bytes(path_or_pointer, read=True)
            self._pointer = Session().make(lib.xb_model_load, path)
        elif isinstance(path_or_pointer, ffi.CData):
            self._pointer = path_or_pointer
        else:
            kind = type(path_or_pointer).__name__
            raise TypeError(f"expected the path of a model file, not {kind}")
        self.report: Any = None

    @classmethod
    def load(cls, path: Path) -> Model:
        """Loads a model file that ``crossbayes train`` or :meth:`save` wrote."""
        return cls(path)

    def save(self, path: Path) -> None:
        """Saves the model file (safetensors); only a complete file replaces an old one."""
        session = Session()
        session.check(lib.xb_model_save(session.ctx, self._c, path_bytes(path)))

    def __reduce__(self) -> tuple[Any, ...]:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.safetensors")
            self.save(path)
            with open(path, "rb") as file:
                return _from_bytes, (file.read(), self.report)

    # ---- what it is

    @property
    def net(self) -> str:
        return text(lib.xb_model_net_text(self._c))

    @property
    def law(self) -> Law:
        return Law(borrowed(lib.xb_model_law(self._c), self._c))

    @property
    def likelihood(self) -> str:
        return text(lib.xb_likelihood_name(lib.xb_model_likelihood(self._c)))

    @property
    def features(self) -> list[str]:
        n = lib.xb_model_feature_count(self._c)
        return [text(lib.xb_model_feature_name(self._c, i)) for i in range(n)]

    @property
    def columns(self) -> list[str]:
        """The columns that features are made from."""
        recipe = lib.xb_model_recipe(self._c)
        if not recipe:
            return self.features
        n = lib.xb_recipe_column_count(recipe)
        return [text(lib.xb_recipe_column_name(recipe, i)) for i in range(n)]

    @property
    def target(self) -> str:
        """The target's name; with several targets all names, separated by commas."""
        return text(lib.xb_model_target_name(self._c))

    @property
    def targets(self) -> list[str]:
        n = lib.xb_model_target_count(self._c)
        return [text(lib.xb_model_target_at(self._c, k).name) for k in range(n)]

    @property
    def classes(self) -> list[str]:
        """The names of classes; none for a target of numbers."""
        n = lib.xb_model_class_count(self._c)
        return [text(lib.xb_model_class_name(self._c, k)) for k in range(n)]

    @property
    def members(self) -> list[Model]:
        """The members of an ensemble, each a model of its own; without an ensemble, one."""
        n = lib.xb_model_member_count(self._c)
        at = (lib.xb_model_member_at(self._c, i) for i in range(n))
        return [Model(borrowed(member, self._c)) for member in at]

    @property
    def noise_std(self) -> float:
        """The sd of the noise (gaussian, student) in the target's units; NaN for the others.

        For the negative binomial likelihood it is the square root of :attr:`dispersion`.
        """
        return float(lib.xb_model_noise_sd(self._c))

    @property
    def noise_degrees(self) -> float:
        """Degrees of freedom of the student likelihood; NaN for the others."""
        return float(lib.xb_model_noise_degrees(self._c))

    @property
    def dispersion(self) -> Any:
        """Dispersion of counts: the variance at rate r is r + dispersion r². NaN for others.

        With several targets it is an array.
        """
        n = lib.xb_model_target_count(self._c)
        values = [float(lib.xb_model_dispersion(self._c, k)) for k in range(n)]
        return values[0] if n == 1 else np.array(values)

    @property
    def process_length(self) -> float:
        """The length of the Gaussian process beside the net (``gp``); NaN if there is none."""
        return float(lib.xb_model_process_length(self._c))

    @property
    def cells(self) -> str | None:
        """The cells that each weight is made of, as a text; None if widths are free."""
        cells = lib.xb_model_cells(self._c)
        return text(lib.xb_weight_cells_text(cells)) if cells else None

    @property
    def cell_states(self) -> dict[str, npt.NDArray[np.float32]]:
        """The states of weights that are made of cells, [cells][...] by tensor."""
        cells, net = lib.xb_model_cells(self._c), lib.xb_model_net(self._c)
        made: dict[str, npt.NDArray[np.float32]] = {}
        for i in range(lib.xb_net_tensor_count(net) if cells else 0):
            states, tensor = lib.xb_model_cell_states(self._c, i), lib.xb_net_tensor_at(net, i)
            shape = [tensor.shape[d] for d in range(tensor.ndim)]
            if states:
                many = int(lib.xb_weight_cells_count(cells))
                made[text(tensor.name)] = view(states, [many, *shape], np.float32, self._c)
        return made

    @property
    def settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = json.loads(text(lib.xb_model_settings(self._c)))
        return settings

    @property
    def provenance(self) -> dict[str, Any]:
        provenance: dict[str, Any] = json.loads(text(lib.xb_model_provenance(self._c)))
        return provenance

    @property
    def tensors(self) -> dict[str, npt.NDArray[np.float32]]:
        """Means and standard deviations by name, e.g. "0.kernel.mu"; views, not copies."""
        net, weights = lib.xb_model_net(self._c), lib.xb_model_weights(self._c)
        made: dict[str, npt.NDArray[np.float32]] = {}
        for i in range(lib.xb_net_tensor_count(net)):
            tensor = lib.xb_net_tensor_at(net, i)
            name = text(tensor.name)
            shape = [tensor.shape[d] for d in range(tensor.ndim)]
            at = tensor.offset
            made[f"{name}.mu"] = view(weights.mu + at, shape, np.float32, self._c)
            if tensor.stochastic:
                made[f"{name}.sigma"] = view(weights.sigma + at, shape, np.float32, self._c)
        return made

    # ---- what it says

    def _rows(self, x: Any, keep: list[Any], scaled: bool) -> Any:
        plain = type(x) is np.ndarray and x.dtype is _DOUBLE and x.ndim == 2 and not scaled
        if not plain or not x.flags.c_contiguous:
            return input_rows(self._c, x, keep, scaled)
        n, features = x.shape
        if features != lib.xb_model_feature_count(self._c):
            return input_rows(self._c, x, keep, scaled)
        rows = ffi.new(_ROWS)
        rows.x, rows.n, rows.features = pointer(x), n, features
        keep.append(x)
        return rows

    def predict(
        self,
        x: Any,
        law: Law | str | None = None,
        *,
        draws: int = 1000,
        quantiles: Sequence[float] = _QUANTILES,
        seed: int = 1,
        scaled: bool = False,
        progress: Progress = None,
        **settings: Any,
    ) -> Prediction:
        """The predictive of each row of x, under the model's law or another one.

        ``draws``: number of weight draws, 0 for as many as ``tolerance`` requires. Arrays
        of float64 are read without a copy, and so are float32 with ``scaled=True``, which
        says that x is what the net takes, and uint8 images [n][h][w][c]. Further
        settings: tolerance, max_draws, antithetic, backend.
        """
        keep: list[Any] = []
        rows = self._rows(x, keep, scaled)
        usual = quantiles is _QUANTILES
        levels = _LEVELS if usual else doubles(quantiles, "quantiles", 1)
        options = self._predict_options(law, seed, settings, keep)
        plain = type(draws) is int and 0 <= draws < 2**62
        options.draws = draws if plain else count(draws, "draws")
        if not usual:  # the library's own levels are the same
            options.quantile, options.quantiles = pointer(levels), levels.size
        with quiet_session() if progress is None else Session(progress) as session:
            made = session.make(lib.xb_predict_rows, self._c, rows, options)
        return Prediction(made, self, levels, x.index if is_frame(x) else None)

    def _predict_options(
        self, law: Law | str | None, seed: int, settings: dict[str, Any], keep: list[Any]
    ) -> Any:
        if law is None and not settings and type(seed) is int and 0 <= seed < 2**63:
            options = _options.defaults("predict")
            options.seed = seed
            return options
        values = {"law": law, "seed": seed, **settings}
        return _options.make("predict", values, keep, ("quantiles", "scaled", "progress"))

    def draws(
        self,
        x: Any,
        draws: int = 1000,
        law: Law | str | None = None,
        *,
        first: int = 0,
        seed: int = 1,
        scaled: bool = False,
        progress: Progress = None,
        **settings: Any,
    ) -> Doubles:
        """The net's outputs under each draw of the weights: [draws][n].

        With several targets they are [draws][n][targets]; for classes they are probabilities,
        [draws][n][classes].
        """
        keep: list[Any] = []
        rows = self._rows(x, keep, scaled)
        options = self._predict_options(law, seed, settings, keep)
        out = np.empty((count(draws, "draws"), int(rows.n), *self._outputs()))
        with Session(progress) as session:
            session.check(
                lib.xb_predict_draws_rows(
                    session.ctx, pointer(out), ffi.NULL, self._c, rows,
                    count(first, "first"), len(out), options,
                )
            )  # fmt: skip
        return out

    def _outputs(self) -> tuple[int, ...]:
        """The number of values of a draw at one input, if there are several."""
        several = lib.xb_model_class_count(self._c) or lib.xb_model_target_count(self._c)
        return (int(several),) if several > 1 else ()

    def evaluate(
        self,
        x: Any,
        y: Any,
        laws: Sequence[Law | str | None] = (),
        *,
        scaled: bool = False,
        progress: Progress = None,
        **settings: Any,
    ) -> Evaluation:
        """Scores on rows with targets under each law, and how far the laws are apart.

        ``None`` among the laws, and no laws at all, stand for the model's own. Settings:
        draws (1000), tolerance, max_draws, seed, backend.
        """
        keep: list[Any] = []
        if isinstance(laws, (str, os.PathLike, Law)):
            laws = [laws]
        rows = self._rows(x, keep, scaled)
        target = target_numbers(self._c, y, int(rows.n))
        kept = [None if name is None else _law(name) for name in laws]
        pointers = ffi.new("xb_law *[]", [ffi.NULL if k is None else k._c for k in kept] or 1)
        options = _options.make("evaluate", settings, keep)
        with Session(progress) as session:
            made = session.make(
                lib.xb_evaluate, self._c, rows, pointer(target), pointers, len(kept), options
            )
        return evaluation_of(made)

    def plan(
        self,
        law: Law | str,
        x: npt.ArrayLike | None = None,
        *,
        progress: Progress = None,
        **settings: Any,
    ) -> Plan:
        """Will the shape of a law matter to the output at x (default: the mean of the inputs)?

        Settings: tolerance (1e-3 nats), measure, draws, weight_draws, seed, backend.
        """
        n = int(lib.xb_model_feature_count(self._c))
        mean = view(lib.xb_model_input_mean(self._c), (n,), np.float64, self._c)
        one = x
        if x is not None and not is_frame(x):
            one = doubles(x, "x")
            one = one if one.ndim == 2 and one.shape[1] == n else one.reshape(1, -1)
        rows = mean[None] if one is None else model_inputs(self._c, one, [])
        if len(rows) != 1:
            raise ValueError(f"x has {len(rows)} rows, expected one")
        row = rows[0]
        scaled = [lib.xb_model_scaled_input(self._c, j, float(row[j])) for j in range(n)]
        inputs = np.array(scaled if one is not None else np.zeros(n), dtype=np.float32)
        options = _options.make("plan", settings, [])
        weights = ffi.new("xb_weights *", lib.xb_model_weights(self._c))
        kept = _law(law)
        with Session(progress) as session:
            made = session.make(
                lib.xb_plan_create, lib.xb_model_net(self._c), weights,
                pointer(inputs, "float"), kept._c, options,
            )  # fmt: skip
        return Plan(made)

    def on(self, array: Any, calibration: npt.ArrayLike | None = None, **settings: Any) -> Any:
        """The model on a simulated array: a :class:`crossbayes.Array` or a preset's name."""
        from crossbayes.analog import AnalogModel

        return AnalogModel(self, array, calibration, **settings)

    def __repr__(self) -> str:
        if self._pointer is None:
            return "Model(closed)"
        return f"Model({self.net!r}, law={self.law.text!r}, target={self.target!r})"

    def _repr_html_(self) -> str:
        net = lib.xb_model_net(self._c)
        rows: dict[str, Any] = {"law": self.law.text, "likelihood": self.likelihood}
        rows |= {"inputs": len(self.features), "target": self.target}
        rows |= {"weights": lib.xb_net_param_count(net)}
        rows |= {"random weights": lib.xb_net_stochastic_count(net)}
        return _html.table(self.net, rows)


_law = law  # inside Model, `law` is an argument


def _from_bytes(content: bytes, report: Any = None) -> Model:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.safetensors")
        with open(path, "wb") as file:
            file.write(content)
        made = Model(path)
    made.report = report
    return made


class Plan(Handle):
    """A forecast of how far a law's predictive is from the Gaussian's."""

    _what = "plan"

    def __init__(self, pointer: Any) -> None:
        self._pointer = pointer

    def _estimate(self, e: Any) -> Estimate:
        return Estimate(e.value, e.std_error)

    @property
    def predicted(self) -> Estimate:
        """KL(law || Gaussian) of the output, nats."""
        return self._estimate(lib.xb_plan_predicted(self._c))

    @property
    def measured(self) -> Estimate:
        """The same, measured by draws of all weights; NaN if that was not requested."""
        return self._estimate(lib.xb_plan_measured(self._c))

    @property
    def verdict(self) -> str:
        """From the measured KL; without it from the predicted one, if that is reliable."""
        return text(lib.xb_plan_verdict_name(lib.xb_plan_verdict_of(self._c)))

    @property
    def trusted(self) -> bool:
        """Whether the predicted KL is reliable."""
        return bool(lib.xb_plan_trusted(self._c))

    @property
    def n_eff(self) -> float:
        """The effective number of random weights behind the output."""
        return float(lib.xb_plan_n_eff(self._c))

    @property
    def needed(self) -> float:
        """The number of equal weights that the tolerance requires."""
        return float(lib.xb_plan_n_eff_needed(self._c))

    def __repr__(self) -> str:
        return (
            f"Plan({self.verdict}: predicted {self.predicted!r} nats, n_eff {self.n_eff:.3g})"
        )

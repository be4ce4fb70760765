"""Bayesian neural networks on noisy analog memory, from Python.

>>> import crossbayes as xb
>>> mtj = xb.law("mtj:B=0.15,w=0.5")
>>> mtj
Law('mtj:B=0.15,w=0.5')
"""

from __future__ import annotations

from typing import Any

from crossbayes._library import (
    ArgumentError,
    Cancelled,
    Error,
    FileError,
    InputError,
    NumericError,
    set_threads,
    text,
)
from crossbayes._native import lib
from crossbayes.analog import AnalogModel, Assay
from crossbayes.building import model_from_arrays
from crossbayes.devices import (
    Array,
    Device,
    Move,
    array_fields,
    array_presets,
    device,
    measure_device,
)
from crossbayes.draws import Generator, Rule, composite_rule, gauss_rule, standard_rule
from crossbayes.fits import Estimate, Fit, Goodness, Series, fit, goodness, series
from crossbayes.interchange import (
    Scaling,
    from_numpyro,
    from_posteriors,
    from_pyro,
    from_tfp,
    from_torch,
    import_file,
    scaling,
    to_aihwkit,
    to_crosssim,
    to_onnx,
    to_state_dict,
    to_torch,
)
from crossbayes.laws import Law, Moments, families, law, law_from_density, law_from_samples
from crossbayes.models import Model, Plan, Prediction
from crossbayes.reading import read_table
from crossbayes.scores import Comparison, Evaluation, Score, Scores
from crossbayes.training import Epoch, TrainReport, train, train_presets

_LEARN = ("BayesianClassifier", "BayesianRegressor")


def __getattr__(name: str) -> Any:
    """Loads the estimators at first use, because they need scikit-learn."""
    if name in _LEARN:
        from crossbayes import estimators

        return getattr(estimators, name)
    raise AttributeError(f"module 'crossbayes' has no attribute {name!r}")


__version__ = text(lib.xb_version())
build_id = text(lib.xb_build_id())

__all__ = [
    "AnalogModel",
    "ArgumentError",
    "Array",
    "Assay",
    "Cancelled",
    "Comparison",
    "Device",
    "Epoch",
    "Error",
    "Estimate",
    "Evaluation",
    "FileError",
    "Fit",
    "Generator",
    "Goodness",
    "InputError",
    "Law",
    "Model",
    "Moments",
    "Move",
    "NumericError",
    "Plan",
    "Prediction",
    "Rule",
    "Scaling",
    "Score",
    "Scores",
    "Series",
    "TrainReport",
    "array_fields",
    "array_presets",
    "build_id",
    "composite_rule",
    "device",
    "families",
    "fit",
    "from_numpyro",
    "from_posteriors",
    "from_pyro",
    "from_tfp",
    "from_torch",
    "gauss_rule",
    "goodness",
    "import_file",
    "law",
    "law_from_density",
    "law_from_samples",
    "measure_device",
    "model_from_arrays",
    "read_table",
    "scaling",
    "series",
    "set_threads",
    "standard_rule",
    "to_aihwkit",
    "to_crosssim",
    "to_onnx",
    "to_state_dict",
    "to_torch",
    "train",
    "train_presets",
]

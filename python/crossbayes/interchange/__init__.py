"""Models of other libraries as models of this one, and back."""

from crossbayes.interchange.described import Scaling, scaling
from crossbayes.interchange.exporting import to_state_dict, to_torch
from crossbayes.interchange.files import import_file
from crossbayes.interchange.keras_layers import from_tfp
from crossbayes.interchange.onnx_models import to_onnx
from crossbayes.interchange.simulators import to_aihwkit, to_crosssim
from crossbayes.interchange.sites import from_numpyro, from_posteriors, from_pyro
from crossbayes.interchange.torch_modules import from_torch

__all__ = [
    "Scaling",
    "from_numpyro",
    "from_posteriors",
    "from_pyro",
    "from_tfp",
    "from_torch",
    "import_file",
    "scaling",
    "to_aihwkit",
    "to_crosssim",
    "to_onnx",
    "to_state_dict",
    "to_torch",
]

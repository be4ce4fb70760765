"""Models of other libraries as models of this one, and back."""

from crossbayes.interchange.files import import_file
from crossbayes.interchange.keras_layers import from_tfp
from crossbayes.interchange.sites import from_numpyro, from_posteriors, from_pyro
from crossbayes.interchange.torch_modules import from_torch

__all__ = [
    "from_numpyro",
    "from_posteriors",
    "from_pyro",
    "from_tfp",
    "from_torch",
    "import_file",
]

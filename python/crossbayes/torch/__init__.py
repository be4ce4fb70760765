"""Networks of PyTorch with a device's noise on their weights.

>>> import torch, crossbayes.torch as xt
>>> net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
>>> net = xt.bayesian(net, law="mtj", prior="normal:sd=1", seed=1)
>>> y = net(torch.zeros(5, 3))
>>> loss = xt.free_energy(net, y.square().mean(), examples=1000)
>>> loss.backward()
>>> _ = xt.swap_law(net.eval(), "bimodal:m=0.9")

Layers with noise run on the CPU. Draws are those of the C library, bit by bit.
"""

from crossbayes.torch.layers import NoisyConv, NoisyLayer, NoisyLinear
from crossbayes.torch.networks import (
    bayesian,
    free_energy,
    kl,
    noise_of,
    swap_law,
    tensors,
)
from crossbayes.torch.noise import Noise

__all__ = [
    "Noise",
    "NoisyConv",
    "NoisyLayer",
    "NoisyLinear",
    "bayesian",
    "free_energy",
    "kl",
    "noise_of",
    "swap_law",
    "tensors",
]

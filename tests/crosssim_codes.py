"""crosssim_codes.py DIR: every layer that `crossbar --export` wrote to DIR is run by Sandia's CrossSim, and its ADC
gives the codes that the converters of array.json give. For arrays whose only effects are converters."""

import json
import sys

import numpy as np
from simulator import AnalogCore, CrossSimParameters


def tiles(core, inputs):
    """CrossSim cuts a matrix that needs several tiles in a way of its own."""
    return [(first, end) for _, first, end in getattr(core, "col_partition_bounds", [(0, 0, inputs)])]


def expected(layer, matrix, x, cuts):
    """The sum over tiles of the ADC's codes."""
    dac, adc = layer["dac"], layer["adc"]
    steps = 2 ** (dac["bits"] - dac["signed"]) - 1
    levels = 2 ** (adc["bits"] - 1) - 1
    x = np.rint(x / dac["range"] * steps) * dac["range"] / steps
    sums = [matrix[:, i:j] @ x[i:j] for i, j in cuts]
    return sum(np.rint(np.clip(s / adc["range"], -1, 1) * levels) for s in sums)


def check(folder, layer):
    path = f"{folder}/crosssim/layer{layer['layer']}"
    with open(path + ".json") as file:
        inputs = json.load(file)["core"]["mapping"]["inputs"]["mvm"]
    matrix = np.load(path + "_matrix.npy")
    core = AnalogCore(matrix, CrossSimParameters.from_json(path + ".json"))
    cuts = tiles(core, matrix.shape[1])
    unit = layer["adc"]["range"] / (2 ** (layer["adc"]["bits"] - 1) - 1)
    random = np.random.default_rng(1)
    for _ in range(40):
        x = random.uniform(inputs["min"], inputs["max"], matrix.shape[1])
        code = np.asarray(core.matvec(x)) / unit
        assert np.abs(code - expected(layer, matrix, x, cuts)).max() < 1e-6, path


with open(sys.argv[1] + "/array.json") as described:
    for one in json.load(described)["layers"]:
        check(sys.argv[1], one)

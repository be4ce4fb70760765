"""Writes python/tests/fixtures/interchange: files as the libraries save them, and what they predict.

    python python/tests/peers/record.py OUT_FOLDER [CASE ...]

State dicts become safetensors, so that reading them needs no PyTorch.
"""

from __future__ import annotations

import json
import sys
import tempfile
import zipfile
from pathlib import Path

import agreement
import cases
import numpy as np

DRAWS = 10_000


def without_code(config):
    """A configuration of Keras without the compiled functions that it keeps for layers."""
    if isinstance(config, dict):
        kept = {
            k: v for k, v in config.items() if not k.endswith(("_fn", "_fn_args", "_fn_kwargs"))
        }
        return {k: without_code(v) for k, v in kept.items()}
    return [without_code(v) for v in config] if isinstance(config, list) else config


def keras(path, target):
    """A copy of a Keras file without code."""
    if path.suffix == ".keras":
        with (
            zipfile.ZipFile(path) as old,
            zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new,
        ):
            config = without_code(json.loads(old.read("config.json")))
            new.writestr("config.json", json.dumps(config))
            new.writestr("model.weights.h5", old.read("model.weights.h5"))
        return
    import h5py

    with h5py.File(path) as old, h5py.File(target, "w") as new:
        for name in old:
            old.copy(name, new)
        if "model_config" in old.attrs:
            config = without_code(json.loads(old.attrs["model_config"]))
            new.attrs["model_config"] = json.dumps(config)
        if "layer_names" in old.attrs:
            new.attrs["layer_names"] = old.attrs["layer_names"]


def flat(path, out):
    """A file that the short tests can read: PyTorch's as safetensors."""
    if path.suffix != ".pt":
        target = out.with_suffix("".join(path.suffixes))
        if path.suffix in (".h5", ".keras"):
            keras(path, target)
        else:
            target.write_bytes(path.read_bytes())
        return target.name
    import torch
    from safetensors.numpy import save_file

    state = torch.load(path, weights_only=True)
    if "log_sd_diag" in state:
        state = {f"{a}/{b}": v for a, part in state.items() for b, v in part.items()}
    arrays = {k: np.ascontiguousarray(v.numpy()) for k, v in state.items() if v is not None}
    save_file(arrays, out.with_suffix(".safetensors"))
    return out.with_suffix(".safetensors").name


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True, parents=True)
    for make in cases.CASES:
        if len(sys.argv) > 2 and make.__name__ not in sys.argv[2:]:
            continue
        case = cases.seeded(make)
        mean, sd, mean_error, sd_error = agreement.moments(case.draw(DRAWS))
        with tempfile.TemporaryDirectory() as temporary:
            path, settings = case.save(Path(temporary))
            name = flat(path, folder / make.__name__)
        recorded = {
            "file": name, "settings": settings, "x": case.x.tolist(), "mean": mean.tolist(),
            "sd": sd.tolist(), "mean_error": mean_error.tolist(), "sd_error": sd_error.tolist(),
        }  # fmt: skip
        (folder / f"{make.__name__}.json").write_text(json.dumps(recorded) + "\n")
        print(make.__name__, flush=True)


if __name__ == "__main__":
    main()

"""A file of another library as a model: what it is, and who reads it.

Nothing in a file is run. PyTorch's files are opened with ``weights_only=True``, archives of
NumPy without pickles, Keras's configuration as JSON.
"""

from __future__ import annotations

import json
import os
import pickle
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from crossbayes._library import InputError, Path, Session, path_bytes, text, view
from crossbayes._native import lib
from crossbayes.interchange.keras_layers import from_tfp
from crossbayes.interchange.sites import from_numpyro, from_posteriors, from_pyro
from crossbayes.interchange.torch_modules import from_torch
from crossbayes.models import Model

_TORCH = (".pt", ".pth", ".bin", ".ckpt", ".tar")
_KERAS = (".h5", ".hdf5", ".keras")


def import_file(path: Path, **settings: Any) -> Model:
    """The model that a file of another library holds.

    ``.pt`` and ``.pth`` (a state dict of bayesian-torch, torchbnn, BLiTZ, torch-uncertainty,
    crossbayes.torch or plain PyTorch; a guide of Pyro; ``params`` and ``log_sd_diag`` of
    posteriors), the same as ``.safetensors``, ``.npz`` (parameters of NumPyro), ``.h5`` and
    ``.keras`` (TensorFlow Probability). Weights alone need ``net`` and ``inputs``. Settings
    are those of :func:`from_torch`, :func:`from_tfp`, :func:`from_numpyro` and
    :func:`from_pyro`.
    """
    path_bytes(path, read=True)
    name = os.fspath(path).lower()
    try:
        if name.endswith(_KERAS):
            return _keras(path, settings)
        if name.endswith(".npz"):
            return _from_arrays(_npz(path), settings)
        if name.endswith(".safetensors"):
            return _from_arrays(_safetensors(path), settings)
        if name.endswith(_TORCH):
            return _from_arrays(_torch(path), settings)
    except InputError as error:
        raise InputError(f"{os.fspath(path)}: {error}") from None
    known = ", ".join((*_TORCH, ".safetensors", ".npz", *_KERAS))
    raise InputError(f"{os.fspath(path)}: unknown kind of file, expected one of {known}")


def _keras(path: Path, settings: dict[str, Any]) -> Model:
    try:
        import h5py  # noqa: F401 (asked for here, so that the message says what to do)
    except ImportError:
        raise ImportError("reading Keras's files needs h5py: pip install h5py") from None
    try:
        return from_tfp(path, **settings)
    except (OSError, KeyError, json.JSONDecodeError, zipfile.BadZipFile) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"not a file of Keras: {first}") from None


def _npz(path: Path) -> dict[str, Any]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"not an archive of arrays: {error}") from None


def _safetensors(path: Path) -> dict[str, Any]:
    session = Session()
    file = session.make(lib.xb_safetensors_open, path_bytes(path))
    kinds = {lib.XB_STORED_F32: "f4", lib.XB_STORED_F64: "f8"}
    arrays: dict[str, Any] = {}
    for i in range(lib.xb_safetensors_count(file)):
        stored = lib.xb_safetensors_at(file, i)
        if stored.type in kinds:
            shape = [stored.shape[d] for d in range(stored.ndim)]
            arrays[text(stored.name)] = view(stored.data, shape, kinds[stored.type], file)
    if {"input.mean", "input.sd"} <= set(arrays):
        raise InputError("this is a model of crossbayes already: xb.Model(path) loads it")
    return arrays


def _torch(path: Path) -> dict[str, Any]:
    try:
        import torch
    except ImportError:
        raise ImportError("reading PyTorch's files needs torch: pip install torch") from None
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        raise InputError(
            "holds Python objects besides tensors, which are not loaded because that would"
            " run them; save module.state_dict() instead"
        ) from None
    except (RuntimeError, EOFError, OSError, KeyError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"not a file of PyTorch: {first}") from None
    while isinstance(found, Mapping) and isinstance(found.get("state_dict"), Mapping):
        found = found["state_dict"]  # of Lightning and its kin
    if not isinstance(found, Mapping) or not found:
        raise InputError(f"holds a {type(found).__name__}, expected a state dict")
    return dict(found)


def _from_arrays(arrays: dict[str, Any], settings: dict[str, Any]) -> Model:
    """The reader whose names these are."""
    if {"params", "log_sd_diag"} <= set(arrays):
        return from_posteriors(arrays, **_with_net(settings))
    if _any(arrays, "_auto_loc") or "auto_loc" in arrays:
        return from_numpyro(arrays, **_with_net(settings))
    if any(name.startswith("locs.") for name in arrays) or "scale_unconstrained" in arrays:
        return from_pyro(arrays, **_with_net(settings))
    settings = {k: v for k, v in settings.items() if k not in ("sites", "ignore", "layout")}
    return from_torch(arrays, **settings)


def _any(names: Mapping[str, Any], ending: str) -> bool:
    return any(name.endswith(ending) for name in names)


def _with_net(settings: dict[str, Any]) -> dict[str, Any]:
    if settings.get("net") is None or settings.get("inputs") is None:
        raise InputError("a guide has no layers: give the net and its inputs")
    return settings

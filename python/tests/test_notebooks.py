"""The notebooks run from start to end and draw their figures."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(os.environ.get("CROSSBAYES_NOTEBOOKS") or Path(__file__).parents[1] / "notebooks")


@pytest.mark.parametrize(("name", "figures"), [("device_noise", 1), ("my_network", 2)])
def test_a_notebook_runs(name, figures, tmp_path, monkeypatch):
    monkeypatch.delenv("MPLBACKEND", raising=False)
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", 4)
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": tmp_path}})
    client.execute()
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", [])]
    drawn = [out for out in outputs if "image/png" in out.get("data", {})]
    assert len(drawn) == figures
    assert any("text/html" in out.get("data", {}) for out in outputs)
    kept = os.environ.get("CROSSBAYES_EXECUTED")
    if kept:
        nbformat.write(notebook, Path(kept) / f"{name}.ipynb")

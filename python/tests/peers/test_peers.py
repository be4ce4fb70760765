"""Every library's own predictive beside the imported model's, at 10,000 draws each.

Needs python/tests/peers/requirements.txt; `python/check.sh BUILD peers` installs it.
"""

from __future__ import annotations

import agreement
import cases
import crossbayes as xb
import numpy as np
import pytest

DRAWS = 10_000


@pytest.mark.parametrize("make", cases.CASES, ids=lambda make: make.__name__)
def test_imported_models_predict_as_their_library_does(make, tmp_path):
    case = cases.seeded(make)
    theirs = agreement.moments(case.draw(DRAWS))
    assert theirs[1].min() > 0, "the library's own net is random"
    live = case.imported()
    path, settings = case.save(tmp_path)
    stored = xb.import_file(path, **settings)
    for model in (live, stored):
        ours = agreement.moments(agreement.outputs(model, case.x, DRAWS))
        by_mean, by_sd = agreement.distance(ours, theirs)
        print(f"{make.__name__}: mean {by_mean:.2f}, sd {by_sd:.2f} errors apart")
        assert by_mean < agreement.WORST
        assert by_sd < agreement.WORST
    for name, tensor in live.tensors.items():
        # TensorFlow gives the live posterior's deviations in float32.
        np.testing.assert_allclose(tensor, stored.tensors[name], rtol=1e-6, err_msg=name)

"""Work that goes block by block gives what it would give in one go."""

import numpy as np
import pytest

import tempocal as tc
from tempocal.kernels.min_max import BLOCK as COMPARED
from tempocal.kernels.min_max import MANY, min_max
from tempocal.links import proba_from_logits
from tempocal.maps.proba import BLOCK


@pytest.mark.parametrize("n", [1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities(n, n_classes):
    rng = np.random.default_rng(0)
    z = rng.normal(size=n) if n_classes == 2 else rng.normal(size=(n, n_classes))
    y = rng.integers(0, n_classes, 300)
    few = np.eye(n_classes)[y] + rng.normal(size=(300, n_classes))
    calibrator = tc.TemperatureScaling().fit(few if n_classes > 2 else few[:, 1] - few[:, 0], y)
    found = calibrator.predict_proba(z)
    np.testing.assert_array_equal(found, proba_from_logits(z * calibrator.inverse_temperature_))


@pytest.mark.parametrize("shape", [(1,), (MANY - 1,), (MANY + 3,), (MANY // 4 + 5, 4), (2, MANY)])
@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_extremes(shape, dtype):
    values = (1e3 * np.random.default_rng(0).normal(size=shape)).astype(dtype)
    assert min_max(values) == (values.min(), values.max())


@pytest.mark.parametrize("row", [0, COMPARED, MANY])
def test_nan_is_its_own_extreme(row):
    values = np.zeros(MANY + 1)
    values[row] = np.nan
    assert np.isnan(min_max(values)).all()

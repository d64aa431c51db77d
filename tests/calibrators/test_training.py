"""What a fit starts from."""

import numpy as np
import pytest

from tempocal.calibrators.training import Training
from tempocal.inputs import Groups
from tempocal.kernels import counting


@pytest.mark.parametrize("most", [0, 2**26])
def test_groups_of_each_key_are_counted_once(monkeypatch, most):
    monkeypatch.setattr(counting, "MOST_PAIRS", most)
    rng = np.random.default_rng(0)
    keys, codes = rng.integers(0, 5, 300), rng.integers(0, 40, 300)
    rows = Training(np.zeros(300), np.zeros(300, dtype=int), None, Groups(codes, 40), 2)
    found = rows.groups_by_key(keys, 7)
    assert found.tolist() == [len(set(codes[keys == key])) for key in range(7)]
    assert found.dtype == np.float64

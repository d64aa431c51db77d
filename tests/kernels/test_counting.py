"""Rows counted and sorted part by part are what they would be in one go."""

import os

import numpy as np
import pytest

from tempocal.kernels import cores, counting, native
from tempocal.kernels.counting import count_keys, parts_of, scatter

PART = 100
compiled = pytest.mark.skipif(
    native is None and not os.environ.get("TEMPOCAL_CI"), reason="the loops are not compiled"
)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(counting, "PART", PART)
    monkeypatch.setattr(counting, "ROWS_A_KEY", 1)


@pytest.mark.parametrize("n", [0, 1, PART - 1, PART, PART + 1, 7 * PART + 3])
@pytest.mark.parametrize("n_keys", [1, 5, 400])
def test_parts_hold_every_row_once(n, n_keys):
    rows = [row for part in parts_of(n, n_keys) for row in range(part.start, part.stop)]
    assert rows == list(range(n))


@pytest.mark.parametrize("n", [0, 1, PART, PART + 1, 1234])
@pytest.mark.parametrize("n_keys", [1, 5, 400])
@pytest.mark.parametrize("in_order", [True, False])
def test_counts(n, n_keys, in_order):
    keys = np.random.default_rng(n).integers(0, n_keys, n)
    keys = np.sort(keys) if in_order else keys
    counts, found = count_keys(keys, n_keys)
    np.testing.assert_array_equal(counts.sum(axis=0), np.bincount(keys, minlength=n_keys))
    assert found == bool((np.diff(keys) >= 0).all())


@pytest.mark.parametrize("row", [1, PART - 1, PART, PART + 1, 3 * PART])
def test_one_row_out_of_order_is_seen_wherever_it_stands(row):
    keys = np.ones(4 * PART, dtype=np.intp)
    keys[row] = 0
    assert count_keys(keys, 2)[1] is False


@compiled
@pytest.mark.parametrize("n_cores", [1, 2, 5])
@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.bool_])
def test_sorting_keeps_rows_of_a_key_in_their_order(n_cores, dtype, monkeypatch):
    monkeypatch.setattr(cores, "_available_cores", lambda: n_cores)
    keys = np.random.default_rng(0).integers(0, 9, 1234)
    keys[keys == 4] = 5  # a key without rows
    values = (np.arange(1234) * 7 % 1000 - 300).astype(dtype)
    values[::3] = 0
    out = np.empty(1234, dtype=dtype)
    scatter(values, keys, count_keys(keys, 9)[0], out)
    np.testing.assert_array_equal(out, values[np.argsort(keys, kind="stable")])


@compiled
def test_keys_that_there_are_not_are_refused():
    for key in (-1, 3):
        with pytest.raises(ValueError, match="do not go together"):
            native.count_keys(np.array([0, key]), np.zeros(3, dtype=np.int64))
    with pytest.raises(TypeError, match="kind"):
        native.count_keys(np.zeros(2), np.zeros(3, dtype=np.int64))

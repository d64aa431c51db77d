"""Rows counted and sorted part by part are what they would be in one go."""

import os

import numpy as np
import pytest

from tempocal.kernels import key_counts, native
from tempocal.kernels.key_counts import (
    KEY_TYPES,
    as_keys,
    count_keys,
    part_size,
    parts_of,
    scatter,
    sum_by_key,
)

PART = 100
compiled = pytest.mark.skipif(
    native is None and not os.environ.get("TEMPOCAL_CI"), reason="the loops are not compiled"
)
every_type = pytest.mark.parametrize("type_of_keys", KEY_TYPES)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(key_counts, "PART", PART)
    monkeypatch.setattr(key_counts, "MIN_ROWS_PER_KEY", 1)
    monkeypatch.setattr(key_counts, "PART_ROWS_PER_KEY", 1)


@pytest.mark.parametrize("n", [0, 1, PART - 1, PART, PART + 1, 7 * PART + 3])
@pytest.mark.parametrize("n_keys", [1, 5, 400])
def test_parts_hold_every_row_once(n, n_keys):
    rows = [row for part in parts_of(n, n_keys) for row in range(part.start, part.stop)]
    assert rows == list(range(n))


@every_type
@pytest.mark.parametrize("n", [0, 1, PART, PART + 1, 1234])
@pytest.mark.parametrize("n_keys", [1, 5, 400])
@pytest.mark.parametrize("in_order", [True, False])
def test_counts(type_of_keys, n, n_keys, in_order):
    keys = np.random.default_rng(n).integers(0, n_keys, n).astype(type_of_keys)
    keys = np.sort(keys) if in_order else keys
    counts, found = count_keys(keys, n_keys)
    np.testing.assert_array_equal(counts.sum(axis=0), np.bincount(keys, minlength=n_keys))
    assert found == bool((keys[1:] >= keys[:-1]).all())


@pytest.mark.parametrize("row", [1, PART - 1, PART, PART + 1, 3 * PART])
def test_one_row_out_of_order_is_seen_wherever_it_stands(row):
    keys = np.ones(4 * PART, dtype=np.intp)
    keys[row] = 0
    assert count_keys(keys, 2)[1] is False


@compiled
@pytest.mark.parametrize("n_cores", [1, 2, 5])
@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.bool_])
@every_type
def test_sorting_keeps_rows_of_a_key_in_their_order(n_cores, dtype, type_of_keys, set_cores):
    set_cores(n_cores)
    keys = np.random.default_rng(0).integers(0, 9, 1234).astype(type_of_keys)
    keys[keys == 4] = 5  # a key without rows
    values = (np.arange(1234) * 7 % 1000 - 300).astype(dtype)
    values[::3] = 0
    out = np.empty(1234, dtype=dtype)
    scatter(values, keys, count_keys(keys, 9)[0], out)
    np.testing.assert_array_equal(out, values[np.argsort(keys, kind="stable")])


@pytest.mark.parametrize("dtype", [*KEY_TYPES, np.uint8, np.int16, ">i8", np.uint32])
def test_keys_are_made_wider_only_where_the_loops_do_not_know_them(dtype):
    keys = np.arange(10, dtype=dtype)[::2]
    found = as_keys(keys)
    np.testing.assert_array_equal(found, keys)
    assert found.flags.c_contiguous
    assert found.dtype == (dtype if dtype in KEY_TYPES else np.intp)


def test_parts_of_wide_rows_have_fewer_of_them():
    one, tenth = part_size(10**6, 3), part_size(10**6, 3, 10)
    assert tenth == one // 10
    keys = np.zeros(10**6, dtype=np.uint16)
    assert len(count_keys(keys, 3, 10)[0]) == (1 if native is None else -(-(10**6) // tenth))


def counters():
    return (np.zeros(3, dtype=np.int64),)


@compiled
@pytest.mark.parametrize("key", [-1, 3, 2**31 - 1])
def test_keys_that_there_are_not_are_refused(key):
    for dtype in (np.int32, np.int64):
        with pytest.raises(ValueError, match="do not go together"):
            native.count_keys(np.array([0, key], dtype=dtype), *counters())


@compiled
def test_keys_of_two_bytes_that_there_are_not_are_refused_as_well():
    keys = np.array([0, 3], dtype=np.uint16)
    with pytest.raises(ValueError, match="do not go together"):
        native.count_keys(keys, *counters())
    with pytest.raises(ValueError, match="do not go together"):
        native.scatter(np.ones((1, 2)), keys, *counters(), np.empty((1, 2)))
    with pytest.raises(ValueError, match="do not go together"):
        native.linear_terms(np.ones(2), np.ones(2), None, keys, np.zeros(3))


@compiled
def test_keys_are_integers():
    with pytest.raises(TypeError, match="kind"):
        native.count_keys(np.zeros(2), *counters())


@every_type
def test_sums_by_key_are_those_of_all_rows_at_once(type_of_keys):
    rng = np.random.default_rng(0)
    keys, values = rng.integers(0, 7, 1234).astype(type_of_keys), rng.normal(size=1234)
    found = sum_by_key(keys, 9, lambda rows: values[rows])
    np.testing.assert_allclose(found, np.bincount(keys, values, minlength=9), rtol=1e-12)

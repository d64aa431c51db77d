"""Moments of rows in cells of their size, and linear terms."""

import os
from itertools import pairwise

import numpy as np
import pytest

from tempocal.kernels import native
from tempocal.rows import moment_matching
from tempocal.rows.compiled import points

pytestmark = pytest.mark.skipif(
    native is None and not os.environ.get("TEMPOCAL_CI"), reason="the loops are not compiled"
)


@pytest.mark.parametrize("step", [1, 2], ids=["all cells", "every second key"])
def test_points_are_those_of_numpy(step, monkeypatch):
    rng = np.random.default_rng(0)
    sums = np.zeros((6, 17, 4))
    sums[..., 0] = rng.integers(0, 3, (6, 17))
    sums[2] = 0.0
    sums[..., 1] = sums[..., 0] * rng.random((6, 17))
    # A variance of a little less than nothing is what rounding may leave.
    spread = rng.choice([0.0, 0.01, -1e-17], (6, 17))
    sums[..., 2] = sums[..., 0] * spread + sums[..., 1] ** 2 / np.maximum(sums[..., 0], 1.0)
    given = sums[::step, :-1]
    sizes, weights, offsets = points(given)
    for key, (start, stop) in enumerate(pairwise(offsets)):
        own = given[key][given[key, :, 0] > 0]
        x, w = sizes[start:stop].reshape(-1, 2), weights[start:stop].reshape(-1, 2)
        np.testing.assert_allclose(w.sum(axis=1), own[:, 0], rtol=1e-14)
        np.testing.assert_allclose((w * x).sum(axis=1), own[:, 1], rtol=1e-14)
        np.testing.assert_allclose((w * x * x).sum(axis=1), own[:, 2], rtol=1e-12, atol=1e-15)
    monkeypatch.setattr(moment_matching, "native", None)
    for one, other in zip(
        (sizes, weights, offsets), moment_matching._two_points(given), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-15)


def test_points_of_arrays_that_do_not_go_together_are_refused():
    good = np.zeros((2, 3, 4)), np.empty(12), np.empty(12), np.empty(3, dtype=np.int64)
    native.points(*good)
    for place, wrong in (
        (0, np.zeros((2, 3, 5))[..., :4]),
        (0, np.zeros((2, 6, 4))[:, ::2]),
        (0, np.zeros((2, 3, 3))),
        (1, np.empty(11)),
        (2, np.empty(13)),
        (3, np.empty(2, dtype=np.int64)),
    ):
        given = [*good[:place], wrong, *good[place + 1 :]]
        with pytest.raises(ValueError, match="do not go together"):
            native.points(*given)


@pytest.mark.parametrize("n", [32_767, 32_776, 32_777, 100_001])
def test_pieces_of_a_key_add_up(n):
    """Keys of more than 32,768 rows are cut, and what is found in their pieces is added up."""
    rng = np.random.default_rng(n)
    x, labels = 3.0 * rng.normal(size=n), rng.integers(0, 2, n)
    cells, bounds, sums, linear = 64, np.array([0, 5, n - 3, n]), np.zeros((3, 64, 4)), np.zeros(3)
    native.moments(x, None, bounds, np.array([8.0]), sums, labels, linear)
    for key, (start, stop) in enumerate(pairwise(bounds)):
        own = x[start:stop]
        place = (np.abs(own) * 8.0).astype(int)
        wanted = np.bincount(place[place < cells], minlength=cells)
        np.testing.assert_array_equal(sums[key, :, 0], wanted)
        np.testing.assert_allclose(linear[key], ((0.5 - labels[start:stop]) * own).sum(), atol=1e-9)


def test_float32_is_read_as_it_is():
    rng = np.random.default_rng(0)
    x = rng.normal(size=1001).astype(np.float32)
    targets, bounds = rng.random(1001) < 0.5, np.array([0, 1001])
    for loop, given in (
        (native.linear_terms, lambda x, found: (x, targets, None, None, found)),
        (native.moments, lambda x, found: (x, None, bounds, np.array([4.0]), found, None, None)),
    ):
        shape = (1, 1) if loop is native.linear_terms else (1, 16, 4)
        found, wanted = np.zeros(shape), np.zeros(shape)
        loop(*given(x, found))
        loop(*given(x.astype(np.float64), wanted))
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.int64])
def test_linear_sums(weighted, dtype):
    rng = np.random.default_rng(0)
    x, targets = rng.normal(size=500), rng.random(500)
    keys = rng.integers(0, 7, 500).astype(dtype)
    weights = rng.exponential(size=500) if weighted else None
    w = 1.0 if weights is None else weights
    wanted = np.bincount(keys, w * (0.5 - targets) * x, minlength=9)
    for parts in (1, 2, 7, 501):
        found = np.zeros((parts, 9))
        native.linear_terms(x, targets, weights, keys, found)
        np.testing.assert_allclose(found.sum(axis=0), wanted, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("n", [0, 1, 3, 4, 501])
def test_linear_sums_of_one_key_and_labels(weighted, n):
    rng = np.random.default_rng(0)
    x, targets = rng.normal(size=n), rng.random(n) < 0.3
    weights = rng.exponential(size=n) if weighted else None
    found = np.zeros((3, 1))
    native.linear_terms(x, targets, weights, None, found)
    w = 1.0 if weights is None else weights
    np.testing.assert_allclose(found.sum(), np.sum(w * (0.5 - targets) * x), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("weighted", [True, False])
def test_moments(weighted):
    rng = np.random.default_rng(0)
    x = rng.normal(size=1000)
    x[0] = 1e100
    weights = rng.exponential(size=1000) if weighted else None
    bounds, cells, scale = np.array([0, 0, 300, 1000]), 16, 5.0
    found = np.zeros((3, cells, 4))
    native.moments(x, weights, bounds, np.array([scale]), found, None, None)
    w = np.ones(1000) if weights is None else weights
    size = np.abs(x)
    # What lies beyond the last cell is in none.
    beyond = size * scale >= cells
    assert beyond.any()
    w, size = np.where(beyond, 0.0, w), np.where(beyond, 0.0, size)
    cell = (size * scale).astype(int)
    for piece, (start, stop) in enumerate(pairwise(bounds)):
        own = slice(start, stop)
        for k, values in enumerate((w, w * size, w * size * size)):
            wanted = np.bincount(cell[own], values[own], minlength=cells)
            np.testing.assert_allclose(found[piece, :, k], wanted, rtol=1e-12)
        assert found[piece, :, 3].sum() == (~beyond[own]).sum()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("key_type", [np.uint16, np.int32, np.int64])
@pytest.mark.parametrize("weighted", [True, False])
def test_linear_terms_of_integer_labels_are_those_of_booleans(loops, dtype, key_type, weighted):
    rng = np.random.default_rng(0)
    x, labels = rng.normal(size=4003).astype(dtype), rng.integers(0, 2, 4003)
    weights = rng.random(4003) if weighted else None
    for keys in (None, rng.integers(0, 5, 4003).astype(key_type)):
        found, wanted = np.zeros((2, 5)), np.zeros((2, 5))
        loops.linear_terms(x, labels, weights, keys, found)
        loops.linear_terms(x, labels.astype(bool), weights, keys, wanted)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_keys_that_are_none_are_refused():
    with pytest.raises(ValueError, match="do not go together"):
        native.linear_terms(
            np.ones(3), np.array([0, 1, 1]), None, np.array([0, 1, 2]), np.zeros((1, 2))
        )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("bounds", [[0, 1], [0, 7, 8], [0, 0, 1015, 1015], [0, 3, 4003]])
def test_linear_terms_are_summed_in_pieces(loops, dtype, bounds):
    """By themselves, and in passing."""
    rng = np.random.default_rng(0)
    n = bounds[-1]
    x, labels = rng.normal(size=n).astype(dtype), rng.integers(0, 2, n)
    wanted = [((0.5 - labels[a:b]) * x[a:b].astype(np.float64)).sum() for a, b in pairwise(bounds)]
    starts, found = np.array(bounds), np.zeros(len(bounds) - 1)
    loops.linear_terms_sorted(x, labels, starts, found)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    again, cells = np.zeros_like(found), np.zeros((len(found), 16, 4))
    loops.moments(x, None, starts, np.array([4.0]), cells, labels, again)
    np.testing.assert_array_equal(again, found)


@pytest.mark.parametrize(
    ("labels", "sums", "weights"),
    [
        (np.zeros(5, dtype=np.int64), np.zeros(1), None),
        (np.zeros(6, dtype=np.int64), np.zeros(2), None),
        (np.zeros(6, dtype=np.int64), None, None),
        (None, np.zeros(1), None),
        (np.zeros(6, dtype=np.int64), np.zeros(1), np.ones(6)),
    ],
)
def test_labels_that_do_not_go_with_the_rows_are_refused(labels, sums, weights):
    given = np.ones(6), weights, np.array([0, 6]), np.ones(1), np.zeros((1, 16, 4))
    with pytest.raises(ValueError, match="do not go together"):
        native.moments(*given, labels, sums)
    if weights is None:
        with pytest.raises((ValueError, TypeError, BufferError)):
            native.linear_terms_sorted(given[0], labels, given[2], sums)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_many_rows_are_counted_in_narrow_cells(loops, dtype):
    """Of each cell the number of rows is right, and mean and square nearly so."""
    rng = np.random.default_rng(0)
    n, cells, scale = 40_000, 16, 4.0
    x = rng.normal(size=n).astype(dtype)
    x[:3] = 1e9, -1e300 if dtype is np.float64 else -1e30, 17.0
    found, wanted = np.zeros((1, cells, 4)), np.zeros((1, cells, 4))
    bounds = np.array([0, n])
    loops.moments(x, None, bounds, np.array([scale]), found, None, None)
    loops.moments(x, np.ones(n), bounds, np.array([scale]), wanted, None, None)
    np.testing.assert_array_equal(found[..., [0, 3]], wanted[..., [0, 3]])
    rows = wanted[..., 0]
    # Rows lie anywhere within a narrow cell, a 128th of a cell wide: so do their means.
    off = 5.0 / (128 * scale) / np.sqrt(12 * np.maximum(rows, 1))
    assert (np.abs(found - wanted)[..., 1] <= off * rows).all()
    assert (np.abs(found - wanted)[..., 2] <= 2 * (cells / scale) * off * rows).all()

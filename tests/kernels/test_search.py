"""What a search for one coefficient of each key rests on, and where it ends."""

import os
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from tempocal.kernels import native

pytestmark = pytest.mark.skipif(
    native is None and not os.environ.get("TEMPOCAL_CI"), reason="the loops are not compiled"
)


def make_keys(rng, sizes):
    """Rows of some keys, one after the other, with another slope and scale in each."""
    parts = []
    for size in sizes:
        x = rng.uniform(0.5, 4.0) * rng.normal(size=size)
        slope = rng.uniform(0.2, 2.0)
        parts.append((x, rng.random(size) < 1 / (1 + np.exp(-slope * x))))
    x, y = (np.concatenate(each) for each in zip(*parts, strict=True))
    return x, y, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def objective(theta, x, y, weights, pull):
    loss = np.logaddexp(0.0, theta * x) - y * theta * x
    return float((weights * loss).sum() + 0.5 * pull * (theta - 1.0) ** 2)


def search(loops, x, y, bounds, *, weights=None, pull=0.0, lower=-np.inf):
    n_keys = len(bounds) - 1
    w = np.ones(len(x)) if weights is None else weights
    linear = np.array(
        [(w[a:b] * (0.5 - y[a:b]) * x[a:b]).sum() for a, b in pairwise(bounds)], dtype=np.float64
    )
    theta, doubts = np.ones(n_keys), np.ones(n_keys, dtype=bool)
    pulls, lowest = np.full(n_keys, pull), np.full(n_keys, lower)
    loops.descend(x, weights, linear, pulls, np.ones(n_keys), lowest, bounds, theta, doubts)
    return theta, doubts


@pytest.mark.parametrize("pull", [0.0, 5.0])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_each_key_ends_next_to_its_optimum(loops, dtype, weighted, pull):
    rng = np.random.default_rng(0)
    x, y, bounds = make_keys(rng, [300, 77, 1016, 2500, 64])
    x = x.astype(dtype)
    weights = rng.exponential(size=len(x)) if weighted else None
    found, doubts = search(loops, x, y, bounds, weights=weights, pull=pull)
    assert not doubts.any()
    w = np.ones(len(x)) if weights is None else weights
    for theta, (a, b) in zip(found, pairwise(bounds), strict=True):
        own = (x[a:b].astype(np.float64), y[a:b], w[a:b], pull)
        best = minimize_scalar(objective, args=own, bracket=(0.1, 1.0), tol=1e-12)
        assert objective(theta, *own) <= best.fun + 1e-12 * (b - a)


def test_no_coefficient_is_below_its_least(loops):
    rng = np.random.default_rng(0)
    x, y, bounds = make_keys(rng, [400, 400])
    found, _ = search(loops, x, ~y, bounds, lower=0.01)
    np.testing.assert_array_equal(found, 0.01)


def test_where_there_may_be_no_end_there_is_doubt(loops):
    """One key is separated; of the other logits are so large that zero is the better start."""
    x = np.array([-2.0, -1.0, 1.0, 2.0, -900.0, 800.0, 700.0, 850.0])
    y = np.array([False, False, True, True, True, True, False, False])
    found, doubts = search(loops, x, y, np.array([0, 4, 8]))
    np.testing.assert_array_equal(doubts, [True, False])
    assert abs(found[1]) < 0.01
    # Nothing is followed for ever.
    found, doubts = search(loops, 1e-3 * x[:4], y[:4], np.array([0, 4]))
    np.testing.assert_array_equal(found, 1.0)
    np.testing.assert_array_equal(doubts, False)


def test_logits_that_say_nothing_leave_the_identity(loops):
    found, _ = search(loops, np.zeros(9), np.arange(9) % 2 == 0, np.array([0, 9]))
    np.testing.assert_array_equal(found, 1.0)


def test_a_key_without_rows_stays_where_it_is(loops):
    rng = np.random.default_rng(0)
    x, y, _ = make_keys(rng, [100])
    assert search(loops, x, y, np.array([0, 0, 100]))[0][0] == 1.0


GOOD = {
    "x": np.ones(6),
    "weights": np.ones(6),
    "linear": np.zeros(2),
    "pull": np.ones(2),
    "identity": np.ones(2),
    "lower": np.zeros(2),
    "starts": np.array([0, 2, 6]),
    "theta": np.ones(2),
    "doubts": np.zeros(2, dtype=bool),
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("x", np.ones(5)),
        ("x", np.ones(6, dtype=np.int64)),
        ("weights", np.ones(7)),
        ("linear", np.zeros(1)),
        ("pull", np.zeros(3)),
        ("identity", np.zeros(3)),
        ("lower", np.zeros(1)),
        ("starts", np.array([0, 3, 7])),
        ("starts", np.array([0, 6])),
        ("theta", np.ones(3)),
        ("doubts", np.zeros(3, dtype=bool)),
        ("doubts", np.zeros(2)),
    ],
)
def test_arrays_that_do_not_go_together_are_refused(name, value):
    native.descend(*GOOD.values())
    with pytest.raises((TypeError, ValueError, BufferError)):
        native.descend(*{**GOOD, name: value}.values())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("key_type", [np.uint16, np.int32, np.int64])
@pytest.mark.parametrize("weighted", [True, False])
def test_labels_that_are_whole_numbers_pull_as_booleans_do(loops, dtype, key_type, weighted):
    rng = np.random.default_rng(0)
    x, labels = rng.normal(size=4003).astype(dtype), rng.integers(0, 2, 4003)
    weights = rng.random(4003) if weighted else None
    for keys in (None, rng.integers(0, 5, 4003).astype(key_type)):
        found, wanted = np.zeros(5), np.zeros(5)
        loops.linear_sums(x, labels, weights, keys, found)
        loops.linear_sums(x, labels.astype(bool), weights, keys, wanted)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_keys_that_are_none_are_refused():
    with pytest.raises(ValueError, match="do not go together"):
        native.linear_sums(np.ones(3), np.array([0, 1, 1]), None, np.array([0, 1, 2]), np.zeros(2))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("bounds", [[0, 1], [0, 7, 8], [0, 0, 1015, 1015], [0, 3, 4003]])
def test_labels_pull_in_pieces(loops, dtype, bounds):
    """By themselves, and in passing."""
    rng = np.random.default_rng(0)
    n = bounds[-1]
    x, labels = rng.normal(size=n).astype(dtype), rng.integers(0, 2, n)
    wanted = [((0.5 - labels[a:b]) * x[a:b].astype(np.float64)).sum() for a, b in pairwise(bounds)]
    starts, found = np.array(bounds), np.zeros(len(bounds) - 1)
    loops.pulls(x, labels, starts, found)
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
            native.pulls(given[0], labels, given[2], sums)


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

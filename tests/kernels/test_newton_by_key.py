"""Newton's method for one coefficient per key."""

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


def objective(theta, x, y, weights, penalty):
    loss = np.logaddexp(0.0, theta * x) - y * theta * x
    return float((weights * loss).sum() + 0.5 * penalty * (theta - 1.0) ** 2)


def newton(loops, x, y, bounds, *, weights=None, penalty=0.0, lower=-np.inf):
    n_keys = len(bounds) - 1
    w = np.ones(len(x)) if weights is None else weights
    linear = np.array(
        [(w[a:b] * (0.5 - y[a:b]) * x[a:b]).sum() for a, b in pairwise(bounds)], dtype=np.float64
    )
    theta, doubtful = np.ones(n_keys), np.ones(n_keys, dtype=bool)
    penalties, lowest = np.full(n_keys, penalty), np.full(n_keys, lower)
    loops.newton_by_key(
        x, weights, linear, penalties, np.ones(n_keys), lowest, bounds, theta, doubtful
    )
    return theta, doubtful


@pytest.mark.parametrize("penalty", [0.0, 5.0])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_each_key_is_close_to_its_optimum(loops, dtype, weighted, penalty):
    rng = np.random.default_rng(0)
    x, y, bounds = make_keys(rng, [300, 77, 1016, 2500, 64])
    x = x.astype(dtype)
    weights = rng.exponential(size=len(x)) if weighted else None
    found, doubtful = newton(loops, x, y, bounds, weights=weights, penalty=penalty)
    assert not doubtful.any()
    w = np.ones(len(x)) if weights is None else weights
    for theta, (a, b) in zip(found, pairwise(bounds), strict=True):
        own = (x[a:b].astype(np.float64), y[a:b], w[a:b], penalty)
        best = minimize_scalar(objective, args=own, bracket=(0.1, 1.0), tol=1e-12)
        assert objective(theta, *own) <= best.fun + 1e-12 * (b - a)


def test_no_coefficient_is_below_its_least(loops):
    rng = np.random.default_rng(0)
    x, y, bounds = make_keys(rng, [400, 400])
    found, _ = newton(loops, x, ~y, bounds, lower=0.01)
    np.testing.assert_array_equal(found, 0.01)


def test_where_there_may_be_no_end_there_is_doubt(loops):
    """One key is separated; of the other logits are so large that zero is the better start."""
    x = np.array([-2.0, -1.0, 1.0, 2.0, -900.0, 800.0, 700.0, 850.0])
    y = np.array([False, False, True, True, True, True, False, False])
    found, doubtful = newton(loops, x, y, np.array([0, 4, 8]))
    np.testing.assert_array_equal(doubtful, [True, False])
    assert abs(found[1]) < 0.01
    # Nothing is followed for ever.
    found, doubtful = newton(loops, 1e-3 * x[:4], y[:4], np.array([0, 4]))
    np.testing.assert_array_equal(found, 1.0)
    np.testing.assert_array_equal(doubtful, False)


def test_logits_that_say_nothing_leave_the_identity(loops):
    found, _ = newton(loops, np.zeros(9), np.arange(9) % 2 == 0, np.array([0, 9]))
    np.testing.assert_array_equal(found, 1.0)


def test_a_key_without_rows_stays_where_it_is(loops):
    rng = np.random.default_rng(0)
    x, y, _ = make_keys(rng, [100])
    assert newton(loops, x, y, np.array([0, 0, 100]))[0][0] == 1.0


GOOD = {
    "x": np.ones(6),
    "weights": np.ones(6),
    "linear": np.zeros(2),
    "penalty": np.ones(2),
    "identity": np.ones(2),
    "lower": np.zeros(2),
    "starts": np.array([0, 2, 6]),
    "theta": np.ones(2),
    "doubtful": np.zeros(2, dtype=bool),
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("x", np.ones(5)),
        ("x", np.ones(6, dtype=np.int64)),
        ("weights", np.ones(7)),
        ("linear", np.zeros(1)),
        ("penalty", np.zeros(3)),
        ("identity", np.zeros(3)),
        ("lower", np.zeros(1)),
        ("starts", np.array([0, 3, 7])),
        ("starts", np.array([0, 6])),
        ("theta", np.ones(3)),
        ("doubtful", np.zeros(3, dtype=bool)),
        ("doubtful", np.zeros(2)),
    ],
)
def test_arrays_that_do_not_go_together_are_refused(name, value):
    native.newton_by_key(*GOOD.values())
    with pytest.raises((TypeError, ValueError, BufferError)):
        native.newton_by_key(*{**GOOD, name: value}.values())

"""Sums over unsorted rows, part by part, are those of a sorted copy."""

import os
from contextlib import nullcontext

import numpy as np
import pytest

import tempocal as tc
from tempocal.kernels import key_counts, native
from tempocal.rows import BinaryRows, SharedRows, sigmoid

pytestmark = pytest.mark.skipif(
    native is None and not os.environ.get("TEMPOCAL_CI"), reason="the loops are not compiled"
)


@pytest.fixture
def sizes(monkeypatch):
    """Make parts small, and rows few enough for them."""
    monkeypatch.setattr(key_counts, "PART", 1000)
    monkeypatch.setattr(key_counts, "PART_ROWS_PER_KEY", 16)
    monkeypatch.setattr(sigmoid, "SMALL", 100)


def simulate(n, n_keys, dtype=np.uint16):
    rng = np.random.default_rng(n)
    x, keys = 3.0 * rng.normal(size=n), rng.integers(0, n_keys, n).astype(dtype)
    keys[:n_keys] = np.arange(n_keys)[::-1]
    return x, (rng.random(n) < 1 / (1 + np.exp(-0.6 * x))).astype(np.int64), keys


def unsorted_and_sorted(n, n_keys, dtype=np.uint16, weights=None):
    x, y, keys = simulate(n, n_keys, dtype)
    order = np.argsort(keys, kind="stable")
    unsorted_rows = BinaryRows(x[None], y, keys=keys, n_keys=n_keys, weights=weights)
    own = None if weights is None else weights[order]
    sorted_rows = BinaryRows(x[order][None], y[order], keys=keys[order], n_keys=n_keys, weights=own)
    assert unsorted_rows._sums_unsorted
    assert not sorted_rows._sums_unsorted
    return unsorted_rows, sorted_rows


@pytest.mark.parametrize("dtype", key_counts.KEY_TYPES)
@pytest.mark.parametrize(("n", "n_keys"), [(512, 2), (5000, 7), (30_000, 100), (3000, 3)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.usefixtures("sizes")
def test_sums_are_those_of_sorted_rows(n, n_keys, dtype, weighted):
    weights = np.random.default_rng(0).exponential(size=n) if weighted else None
    unsorted_rows, sorted_rows = unsorted_and_sorted(n, n_keys, dtype, weights)
    theta = np.linspace(0.1, 2.0, n_keys)[:, None]
    wanted = sorted_rows.sums(theta)
    for hessian in (True, False):
        found = unsorted_rows.sums(theta, hessian=hessian)
        np.testing.assert_allclose(found.loss, wanted.loss, rtol=1e-12)
        np.testing.assert_allclose(found.gradient, wanted.gradient, rtol=1e-10, atol=1e-9)
        if hessian:
            np.testing.assert_allclose(found.hessian, wanted.hessian, rtol=1e-12)
    np.testing.assert_allclose(unsorted_rows.losses(theta), sorted_rows.losses(theta), rtol=1e-12)
    np.testing.assert_allclose(unsorted_rows.mean_squares, sorted_rows.mean_squares, rtol=1e-12)
    np.testing.assert_allclose(unsorted_rows.key_weights, sorted_rows.key_weights, rtol=1e-12)
    # No sorted copy was made for any of it.
    assert not {"_features", "_weights"} & unsorted_rows.__dict__.keys()


def test_any_number_of_cores_gives_the_same_bits(set_cores):
    x, y, keys = simulate(300_000, 50)
    found = set()
    for count in (1, 2, 5):
        set_cores(count)
        cal = tc.TemporalCalibrator(curve=tc.PerStep(), shrinkage=0).fit(x, y, time=keys)
        found.add(cal.predict_proba(x[:100], time=keys[:100]).tobytes())
    assert len(found) == 1


def test_fits_do_not_depend_on_the_order_of_the_rows():
    x, y, keys = simulate(100_000, 20)
    order = np.argsort(keys, kind="stable")
    assert BinaryRows(x[None], y, keys=keys, n_keys=20)._sums_unsorted
    for curve in (tc.PerStep(), tc.ExponentialDecay(), tc.Spline()):
        cal = tc.TemporalCalibrator(curve=curve, shrinkage=0)
        one = cal.fit(x, y, time=keys).parameters_at(np.arange(20))
        two = cal.fit(x[order], y[order], time=keys[order]).parameters_at(np.arange(20))
        np.testing.assert_allclose(
            one["inverse_temperature"], two["inverse_temperature"], rtol=1e-9
        )


def test_few_rows_per_key_and_keys_without_rows_are_sorted():
    x, y, keys = simulate(50_000, 1000)
    assert not BinaryRows(x[None], y, keys=keys, n_keys=1000)._sums_unsorted
    x, y, keys = simulate(50_000, 5)
    assert not BinaryRows(x[None], y, keys=keys, n_keys=6)._sums_unsorted
    assert BinaryRows(x[None], y, keys=keys, n_keys=5)._sums_unsorted


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_classes", [3, 10])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.usefixtures("sizes")
def test_sums_of_a_softmax_are_those_of_sorted_rows(loops, n_classes, dtype, weighted, transposed):
    """Whatever the memory layout of the logits, and with keys that have no rows."""
    rng = np.random.default_rng(0)
    n, n_keys = 7001, 40
    z = (3.0 * rng.normal(size=(n, n_classes))).astype(dtype)
    y, keys = z.argmax(axis=1), rng.integers(0, n_keys, n).astype(np.uint16)
    y[::5] = rng.integers(0, n_classes, len(y[::5]))
    keys[keys == 3] = 4
    w = rng.exponential(size=n) if weighted else None
    order = np.argsort(keys, kind="stable")
    given = np.ascontiguousarray(z.T) if transposed else z.T
    unsorted_rows = SharedRows(given, y, keys=keys, n_keys=n_keys, weights=w)
    own = None if w is None else w[order]
    sorted_rows = SharedRows(z[order].T, y[order], keys=keys[order], n_keys=n_keys, weights=own)
    theta = np.linspace(-1.0, 2.0, n_keys)[:, None]
    found, wanted = unsorted_rows.sums(theta), sorted_rows.sums(theta)
    np.testing.assert_allclose(found.loss, wanted.loss, rtol=1e-12)
    np.testing.assert_allclose(found.gradient, wanted.gradient, rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(found.hessian, wanted.hessian, rtol=1e-10, atol=1e-12)
    assert found.loss[3] == found.gradient[3, 0] == found.hessian[3, 0, 0] == 0.0
    # No sorted copy was made for any of it.
    assert not {"_features", "_weights", "_targets"} & unsorted_rows.__dict__.keys()


@pytest.mark.parametrize("step", [1, 3, 50, 1000])
@pytest.mark.parametrize("dtype", key_counts.KEY_TYPES)
@pytest.mark.usefixtures("sizes")
def test_every_nth_row_is_that_of_sorted_rows(step, dtype):
    _, _, keys = simulate(5003, 7, dtype)
    counts, _ = key_counts.count_keys(keys, 7)
    assert len(counts) > 1
    wanted = np.argsort(keys, kind="stable")[::step]
    np.testing.assert_array_equal(key_counts.every_nth(step, keys, counts), wanted)
    for bad in (
        {},
        {"first_and_step": np.array([1000, 0])},
        {"first_and_step": np.array([1000])},
        {"found": np.empty(3, dtype=np.int64)},
        {"keys": np.full(5003, 7, dtype=dtype)},
    ):
        given = {
            "keys": keys,
            "first_and_step": np.array([0, step]),
            "next": np.cumsum(counts.sum(axis=0)) - counts.sum(axis=0),
            "found": np.empty(-(-5003 // step), dtype=np.int64),
        }
        refused = pytest.raises(ValueError, match="do not go together")
        with refused if bad else nullcontext():
            native.every_nth(*{**given, **bad}.values())

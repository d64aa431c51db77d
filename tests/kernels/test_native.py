"""The compiled loops: every instruction set gives what NumPy gives, and bad arrays are refused."""

import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

import tempocal as tc
from tempocal.kernels import native

pytestmark = pytest.mark.skipif(
    native is None and not os.environ.get("TEMPOCAL_CI"), reason="the loops are not compiled"
)
EPSILON = np.finfo(np.float64).eps
ONE, ZERO = np.ones(1), np.zeros(1)


def test_exp_is_right_to_the_last_digit(loops):
    rng = np.random.default_rng(0)
    x = np.concatenate(
        [-rng.exponential(20.0, 100_000), rng.uniform(-708.0, 709.0, 100_000), [0.0, -0.0, 709.0]]
    )
    x = x[x >= -708.0]
    found = np.empty_like(x)
    loops.exponential(x, found)
    wanted = np.exp(x.astype(np.longdouble))
    assert np.abs((found - wanted) / wanted).max() < EPSILON
    # What would no longer be a normal number is 0.
    found = np.ones(4)
    loops.exponential(np.array([-708.5, -1e4, -1e300, -np.inf]), found)
    assert not found.any()


def test_log_is_right_to_the_last_digit(loops):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(1.0, 2.0, 100_000), rng.lognormal(0.0, 9.0, 100_000), [1.0]])
    found = np.empty_like(x)
    loops.logarithm(x, found)
    wanted = np.log(x.astype(np.longdouble))
    assert (np.abs(found - wanted) <= EPSILON * np.maximum(np.abs(wanted), 1.0)).all()


def sums_like(theta, *, hessian):
    n_keys, width = theta.shape
    return (
        np.zeros(n_keys),
        np.zeros((n_keys, width)),
        np.zeros((n_keys, width, width)) if hessian else None,
    )


def keys_of(n_rows, n_keys, rng):
    """Return bounds of keys, of which some have no row or one."""
    inner = np.sort(rng.integers(0, n_rows + 1, n_keys - 1))
    return np.concatenate([[0], inner, [n_rows]]).astype(np.int64)


def summed_by_key(values, bounds):
    return np.array([values[a:b].sum(axis=0) for a, b in pairwise(bounds)])


@pytest.mark.parametrize("hessian", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("width", "n_rows"),
    [(1, 1), (1, 3), (1, 4), (1, 1016), (2, 5), (2, 1017), (3, 16), (1, 5000), (3, 5000)],
)
def test_sums_of_a_binary_model(loops, width, n_rows, dtype, *, weighted, hessian):
    rng = np.random.default_rng(n_rows + width)
    x = (5.0 * rng.normal(size=(width, n_rows))).astype(dtype)
    x[:, : n_rows // 7] *= 200.0
    weights = rng.exponential(size=n_rows) if weighted else None
    bounds, theta = keys_of(n_rows, 4, rng), rng.normal(size=(4, width))
    found = sums_like(theta, hessian=hessian)
    loops.even_sums(x, weights, theta, bounds, *found)

    wide = x.astype(np.float64)
    spread = np.repeat(theta, np.diff(bounds), axis=0)
    eta = (spread.T * wide).sum(axis=0)
    w = np.ones(n_rows) if weights is None else weights
    loss = np.logaddexp(0.5 * eta, -0.5 * eta)
    slope = 0.5 * np.tanh(0.5 * eta)
    bend = np.exp(-np.abs(eta)) / (1.0 + np.exp(-np.abs(eta))) ** 2
    size = 1.0 + np.abs(wide).max()
    np.testing.assert_allclose(found[0], summed_by_key(w * loss, bounds), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(
        found[1], summed_by_key((w * slope * wide).T, bounds), rtol=1e-12, atol=1e-13 * size
    )
    if hessian:
        outer = np.einsum("i,pi,qi->ipq", w * bend, wide, wide)
        np.testing.assert_allclose(
            found[2], summed_by_key(outer, bounds), rtol=1e-12, atol=1e-14 * size**2
        )


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_classes", [2, 3, 10, 300])
@pytest.mark.parametrize("n_rows", [1, 5, 700])
def test_sums_of_a_softmax(loops, n_rows, n_classes, dtype, weighted):
    rng = np.random.default_rng(n_rows + n_classes)
    z = (4.0 * rng.normal(size=(n_rows, n_classes))).astype(dtype)
    z[: n_rows // 9, 0] = -1e9  # a class that is masked
    labels = 1 + rng.integers(n_classes - 1, size=n_rows)
    weights = rng.exponential(size=n_rows) if weighted else None
    bounds, theta = keys_of(n_rows, 4, rng), np.array([[0.7], [0.0], [3.0], [0.2]])
    found = sums_like(theta, hessian=True)
    loops.shared_sums(z.T, weights, labels, theta, bounds, *found)
    # However they lie in memory, the sums have the same bits.
    other = np.full((2 * n_rows, n_classes + 3), np.nan, dtype=dtype)
    other[::2, 1:-2] = z
    for lie in (np.ascontiguousarray(z.T), other[::2, 1:-2].T, z[::-1].copy()[::-1].T):
        again = sums_like(theta, hessian=True)
        loops.shared_sums(lie, weights, labels, theta, bounds, *again)
        for one, two in zip(found, again, strict=True):
            np.testing.assert_array_equal(one, two)
    wide = (z - z.max(axis=1, keepdims=True).astype(np.float64)).T
    true = wide[labels, np.arange(n_rows)]

    slope = np.repeat(theta[:, 0], np.diff(bounds))
    eta = slope * wide
    top = eta.max(axis=0)
    p = np.exp(eta - top)
    total = p.sum(axis=0)
    p /= total
    mean = (p * wide).sum(axis=0)
    variance = (p * (wide - mean) ** 2).sum(axis=0)
    w = np.ones(n_rows) if weights is None else weights
    loss = (top - slope * true) + np.log(total)
    size = 1.0 + np.abs(mean).max()
    for one, values in zip(found, (loss, mean - true, variance), strict=True):
        np.testing.assert_allclose(
            one.ravel(), summed_by_key(w * values, bounds), rtol=1e-11, atol=1e-12 * size**2
        )


@pytest.mark.parametrize("theta", [-0.5, -3.0])
@pytest.mark.parametrize("weighted", [True, False])
def test_a_softmax_that_is_turned_around(loops, theta, weighted):
    """With a coefficient below zero it is that of the logits with the other sign."""
    rng = np.random.default_rng(0)
    z, labels = 50.0 * rng.normal(size=(4, 333)), rng.integers(4, size=333)
    weights = rng.exponential(size=333) if weighted else None
    bounds = np.array([0, 333])
    found, wanted = (sums_like(np.ones((1, 1)), hessian=True) for _ in range(2))
    loops.shared_sums(z, weights, labels, np.array([[theta]]), bounds, *found)
    loops.shared_sums(-z, weights, labels, np.array([[-theta]]), bounds, *wanted)
    for one, two, sign in zip(found, wanted, (1, -1, 1), strict=True):
        np.testing.assert_array_equal(one, sign * two)


@pytest.mark.parametrize("diagonal", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_classes", [1, 2, 5, 11])
@pytest.mark.parametrize("n_rows", [1, 5, 256, 700])
def test_sums_of_a_softmax_by_class(loops, n_rows, n_classes, dtype, *, weighted, diagonal):
    rng = np.random.default_rng(n_rows + n_classes)
    x = (2.0 * rng.normal(size=(n_classes, n_rows))).astype(dtype)
    x[0, : n_rows // 9] *= 100.0
    labels = rng.integers(n_classes, size=n_rows)
    weights = rng.exponential(size=n_rows) if weighted else None
    width = 2 if diagonal else n_classes + 1
    bounds, theta = keys_of(n_rows, 3, rng), rng.normal(size=(3, n_classes * width))
    found = sums_like(theta, hessian=True)
    loop = loops.diagonal_sums if diagonal else loops.full_sums
    loop(x, weights, labels, theta, bounds, *found)
    # Row by row in memory it is the same.
    again = sums_like(theta, hessian=True)
    loop(np.ascontiguousarray(x.T).T, weights, labels, theta, bounds, *again)
    for one, two in zip(found, again, strict=True):
        np.testing.assert_array_equal(one, two)

    # What the coefficients of each class multiply, (rows, classes, width).
    ones = np.ones((n_rows, n_classes, 1))
    own = x.T[:, :, None] if diagonal else np.tile(x.T[:, None, :], (1, n_classes, 1))
    seen = np.concatenate([own.astype(np.float64), ones], axis=2)
    table = np.repeat(theta, np.diff(bounds), axis=0).reshape(n_rows, n_classes, width)
    eta = (table * seen).sum(axis=2)
    top = eta.max(axis=1)
    p = np.exp(eta - top[:, None])
    total = p.sum(axis=1)
    p /= total[:, None]
    true = np.eye(n_classes)[labels]
    w = np.ones(n_rows) if weights is None else weights
    loss = w * ((top - eta[np.arange(n_rows), labels]) + np.log(total))
    gradient = (w[:, None] * (p - true))[:, :, None] * seen
    bend = w[:, None, None] * (p[:, :, None] * (np.eye(n_classes) - p[:, None, :]))
    hessian = np.einsum("ikl,ika,ilb->ikalb", bend, seen, seen)
    size = theta.shape[1]
    for one, values in zip(
        found, (loss, gradient.reshape(-1, size), hessian.reshape(-1, size, size)), strict=True
    ):
        wanted = summed_by_key(values, bounds)
        # A probability next to 1 is right to the last digit, and squares of x multiply that.
        rounding = 1e-15 * (1.0 + np.abs(seen).max()) ** 2
        np.testing.assert_allclose(one, wanted, rtol=1e-11, atol=rounding)
    np.testing.assert_array_equal(found[2], found[2].transpose(0, 2, 1))
    again = sums_like(theta, hessian=False)
    loop(x, weights, labels, theta, bounds, *again)
    for one, other in zip(found[:2], again[:2], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("n_rows", [1, 3, 4, 1016, 4003])
def test_losses_before_and_after(loops, n_rows, weighted):
    rng = np.random.default_rng(n_rows)
    one, other = 5.0 * rng.normal(size=(2, n_rows))
    one[: n_rows // 5] *= 1e3
    labels = rng.integers(0, 2, n_rows)
    weights = rng.exponential(size=n_rows) if weighted else None
    gains, sums = np.empty(n_rows), np.zeros(4)
    loops.compare(one, other, None, labels, weights, gains, sums)
    against = 1.0 - 2.0 * labels
    before, after = np.logaddexp(0.0, one * against), np.logaddexp(0.0, other * against)
    np.testing.assert_allclose(gains, before - after, rtol=1e-12, atol=1e-12)
    w = np.ones(n_rows) if weights is None else weights
    wanted = [w @ before, w @ after, w @ (before - after), w @ (before - after) ** 2]
    np.testing.assert_allclose(sums, wanted, rtol=1e-12, atol=1e-11)
    again = np.zeros(4)
    loops.compare(one, other, None, labels, weights, None, again)
    np.testing.assert_array_equal(again, sums)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.int64])
def test_rows_that_are_multiplied_by_the_number_of_their_key(loops, dtype, weighted):
    rng = np.random.default_rng(0)
    one, numbers = 5.0 * rng.normal(size=2500), rng.random(7)
    keys, labels = rng.integers(0, 7, 2500).astype(dtype), rng.integers(0, 2, 2500)
    weights = rng.exponential(size=2500) if weighted else None
    gains, sums = np.empty((2, 2500)), np.zeros((2, 4))
    loops.compare(one, numbers[keys] * one, None, labels, weights, gains[0], sums[0])
    loops.compare(one, numbers, keys, labels, weights, gains[1], sums[1])
    np.testing.assert_array_equal(gains[0], gains[1])
    np.testing.assert_array_equal(sums[0], sums[1])


@pytest.mark.parametrize("key", [-1, 2, 2**31 - 1])
def test_no_row_is_compared_by_a_key_that_there_is_not(loops, key):
    given = (np.zeros(2, dtype=np.int64), None, None, np.zeros(4))
    for dtype in (np.int32, np.int64):
        with pytest.raises(ValueError, match="do not go together"):
            loops.compare(np.ones(2), np.ones(2), np.array([0, key], dtype=dtype), *given)
    with pytest.raises(TypeError, match="kind"):
        loops.compare(np.ones(2), np.ones(2), np.zeros(2, dtype=np.int8), *given)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("n_rows", [1, 2, 7, 31, 32, 33, 1000, 50_001])
def test_the_lowest_the_highest_and_the_sum(loops, n_rows, dtype):
    rng = np.random.default_rng(n_rows)

    def found(x):
        ends = np.empty(3, dtype=dtype)
        loops.min_max_sum(x, ends)
        return ends.tolist()

    for _ in range(20):
        x = (1e9 * rng.normal(size=n_rows)).astype(dtype)
        *ends, total = found(x)
        assert ends == [x.min(), x.max()]
        size = np.abs(x.astype(np.float64)).sum()
        rounding = 0.0 if dtype == np.int64 else n_rows * np.finfo(dtype).eps * size
        assert total == pytest.approx(x.sum(dtype=np.float64), rel=0.0, abs=rounding)
        if dtype != np.int64:
            x[rng.integers(n_rows)] = np.inf
            assert found(x)[1] == np.inf
            x[rng.integers(n_rows)] = np.nan
            assert np.isnan(found(x)).all()
    other = np.float32 if dtype != np.float32 else np.float64
    for given, ends in (
        (x, np.empty(2, dtype)),
        (x, np.empty(3, other)),
        (x[:0], np.empty(3, dtype)),
    ):
        with pytest.raises(ValueError, match="do not go together"):
            loops.min_max_sum(given, ends)


def test_the_smallest_gains_keep_their_digits(loops):
    odds, label = np.linspace(20.0, 700.0, 41), np.ones(1, dtype=np.int64)
    for one, weights in ((odds[k : k + 1], w) for k in range(41) for w in (None, np.ones(1))):
        sums, gains = np.zeros(4), np.empty(1)
        loops.compare(one, one + 1.0, None, label, weights, gains, sums)
        before, after = np.log1p(np.exp(-one[0])), np.log1p(np.exp(-one[0] - 1.0))
        assert gains[0] == pytest.approx(before - after, rel=1e-13)
        # Losses without weights are factors of a product that begins with 1.
        close = {"rel": 1e-14} if weights is not None else {"abs": 1e-15}
        assert sums[0] == pytest.approx(before, **close)
        assert sums[1] == pytest.approx(after, **close)


def test_numbers_that_would_lead_out_of_an_array_are_refused():
    cells = np.zeros((1, 3, 4))
    far = np.array([1e300, np.inf, np.nan])
    native.sum_cells(far, None, None, None, np.ones(1), cells)
    assert not cells[0, :2].any()
    for edges in ([0.0, 0.5], [0.1, 1.0], [0.0, 0.6, 0.5, 1.0], [0.0, np.nan, 1.0]):
        bins = len(edges) - 1
        given = (np.full((3, 1), 0.9), np.ones(3, dtype=np.int64), np.array(edges))
        with pytest.raises(ValueError, match="do not go together"):
            native.bin_sums(*given, np.ones(1, bool), np.zeros((bins, 2, 2)), np.zeros(2, np.int64))


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_rows_are_scattered_in_their_order(dtype):
    rng = np.random.default_rng(0)
    keys, values = rng.integers(0, 5, 1000), np.arange(1000).astype(dtype)
    following = np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=5))[:-1]])
    found = np.empty_like(values)
    native.scatter(values[None], keys, following, found[None])
    np.testing.assert_array_equal(found, values[np.argsort(keys, kind="stable")])


@pytest.mark.parametrize("keys", [[0, 1, 2], [0, -1, 1], [0, 1]])
def test_keys_that_are_none_are_refused(keys):
    keys = np.array(keys)
    with pytest.raises(ValueError, match="do not go together"):
        native.scatter(np.ones((1, 3)), keys, np.array([0, 2]), np.empty((1, 3)))
    with pytest.raises(ValueError, match="do not go together"):
        native.linear_terms(np.ones(3), np.ones(3), None, keys, np.zeros(2))


def test_places_beyond_the_end_are_refused():
    keys = np.zeros(3, dtype=np.int64)
    for place in (1, -1, -5):
        with pytest.raises(ValueError, match="do not go together"):
            native.scatter(np.ones((1, 3)), keys, np.array([place]), np.empty((1, 3)))


@pytest.mark.parametrize("n_rows", [0, 1, 7, 8, 1003])
def test_probabilities_of_two_classes(loops, n_rows):
    odds = np.linspace(-800.0, 800.0, n_rows)
    found = np.empty((n_rows, 2))
    assert loops.sigmoid(odds, ONE, ZERO, found)
    with np.errstate(over="ignore"):
        wanted = np.stack([1.0 / (1.0 + np.exp(odds)), 1.0 / (1.0 + np.exp(-odds))], axis=1)
    np.testing.assert_allclose(found, wanted, rtol=4 * EPSILON, atol=1e-307)


@pytest.mark.parametrize("n_classes", [1, 2, 3, 11, 200])
@pytest.mark.parametrize("n_rows", [0, 1, 5, 333])
def test_probabilities_of_many_classes(loops, n_rows, n_classes):
    rng = np.random.default_rng(n_classes)
    logits = 30.0 * rng.normal(size=(n_rows, n_classes))
    logits[: n_rows // 3, 1:] = -np.inf
    found = np.empty_like(logits)
    # Infinity is out of order, but what becomes of it is right.
    assert loops.softmax(logits, ONE, found) == (n_rows < 3 or n_classes == 1)
    shares = np.exp(logits - logits.max(axis=1, keepdims=True)) if n_rows else logits
    np.testing.assert_allclose(
        found, shares / shares.sum(axis=1, keepdims=True), rtol=1e-14, atol=1e-307
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("own_bias", [True, False])
@pytest.mark.parametrize("own_scale", [True, False])
@pytest.mark.parametrize("n_rows", [1, 2, 7, 8, 9, 1003])
def test_a_line_is_that_of_numpy_to_the_bit(loops, n_rows, dtype, *, own_scale, own_bias):
    rng = np.random.default_rng(n_rows)
    logits = (20.0 * rng.normal(size=n_rows)).astype(dtype)
    scale, bias = (rng.normal(size=n_rows if own else 1) for own in (own_scale, own_bias))
    found, wanted = np.empty((2, n_rows, 2))
    assert loops.sigmoid(logits, scale, bias, found)
    loops.sigmoid(scale * logits.astype(np.float64) + bias, ONE, ZERO, wanted)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_classes", [1, 2, 3, 8, 10, 3000])
@pytest.mark.parametrize("n_rows", [1, 2, 7, 8, 9, 103])
def test_a_scale_is_that_of_numpy_to_the_bit(loops, n_rows, n_classes, dtype):
    rng = np.random.default_rng(n_rows)
    logits = (5.0 * rng.normal(size=(n_rows, n_classes))).astype(dtype)
    scale = np.array([0.7])
    found, wanted = np.empty((2, n_rows, n_classes))
    assert loops.softmax(logits, scale, found)
    loops.softmax(scale * logits.astype(np.float64), ONE, wanted)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -(2.0**53) * 1.0000001])
def test_logits_out_of_order_are_told(loops, value, dtype):
    for n_rows in (1, 7, 8, 17):
        for place in range(n_rows):
            logits = np.full(n_rows, 2.0**53, dtype=dtype)
            assert loops.sigmoid(logits, ONE, ZERO, np.empty((n_rows, 2)))
            logits[place] = value
            assert not loops.sigmoid(logits, ONE, ZERO, np.empty((n_rows, 2)))
            for column in range(3):
                table = np.full((n_rows, 3), -(2.0**53), dtype=dtype)
                assert loops.softmax(table, ONE, np.empty((n_rows, 3)))
                table[place, column] = value
                assert not loops.softmax(table, ONE, np.empty((n_rows, 3)))


def test_nan_stays_nan(loops):
    found = np.empty((2, 2))
    assert not loops.sigmoid(np.array([np.nan, 0.0]), ONE, ZERO, found)
    assert np.isnan(found[0]).all()
    np.testing.assert_array_equal(found[1], 0.5)
    for place in range(3):
        logits, proba = np.zeros((1, 3)), np.empty((1, 3))
        logits[0, place] = np.nan
        assert not loops.softmax(logits, ONE, proba)
        assert np.isnan(proba).all()


def test_instruction_sets_that_are_not_there_are_refused():
    with pytest.raises(ValueError, match="no instruction set 'avx9000'"):
        native.use("avx9000")


GOOD = {
    "x": np.ones((2, 6)),
    "weights": np.ones(6),
    "theta": np.ones((1, 2)),
    "starts": np.array([0, 6]),
    "loss": np.zeros(1),
    "gradient": np.zeros((1, 2)),
    "hessian": np.zeros((1, 2, 2)),
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("x", np.ones((2, 5))),
        ("x", np.ones(6)),
        ("x", np.ones((2, 6), dtype=np.int64)),
        ("x", np.ones((2, 6), dtype=np.float16)),
        ("x", np.ones((6, 2)).T),
        ("x", np.ones((2, 6), dtype=">f8")),
        ("x", np.ones((4, 6))),
        ("x", "text"),
        ("x", None),
        ("weights", np.ones(5)),
        ("weights", np.ones(12)[::2]),
        ("weights", np.ones(6, dtype=np.float32)),
        ("theta", np.ones((2, 2))),
        ("theta", np.ones((1, 3))),
        ("starts", np.array([0, 7])),
        ("starts", np.array([1, 6])),
        ("starts", np.array([0, 6], dtype=np.int32)),
        ("starts", np.array([0, 3, 6])),
        ("loss", np.zeros(2)),
        ("loss", np.zeros(0)),
        ("gradient", np.zeros((1, 3))),
        ("hessian", np.zeros((1, 2, 3))),
    ],
)
def test_arrays_that_do_not_go_together_are_refused(name, value):
    """Nothing is read or written beyond the end of an array."""
    native.even_sums(*GOOD.values())
    with pytest.raises((TypeError, ValueError, BufferError)):
        native.even_sums(*{**GOOD, name: value}.values())


GOOD_BY_CLASS = {
    "x": np.ones((3, 6)),
    "weights": None,
    "labels": np.array([0, 1, 2, 0, 1, 2]),
    "theta": np.ones((1, 12)),
    "starts": np.array([0, 6]),
    "loss": np.zeros(1),
    "gradient": np.zeros((1, 12)),
    "hessian": np.zeros((1, 12, 12)),
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("x", np.ones((4, 6))),
        ("x", np.ones((3, 5))),
        ("labels", np.array([0, 1, 2, 0, 1, 3])),
        ("labels", np.array([0, 1, 2, 0, 1, -1])),
        ("labels", np.zeros(5, dtype=np.int64)),
        ("labels", np.zeros(6, dtype=np.int32)),
        ("labels", None),
        ("theta", np.ones((1, 11))),
        ("theta", np.ones((1, 0))),
        ("theta", np.ones((2, 12))),
        ("gradient", np.zeros((1, 8))),
        ("hessian", np.zeros((1, 12, 8))),
        ("hessian", np.zeros((2, 12, 12))),
    ],
)
def test_labels_and_coefficients_that_do_not_go_together_are_refused(name, value):
    native.full_sums(*GOOD_BY_CLASS.values())
    with pytest.raises((TypeError, ValueError, BufferError)):
        native.full_sums(*{**GOOD_BY_CLASS, name: value}.values())
    with pytest.raises(ValueError, match="do not go together"):
        native.diagonal_sums(*GOOD_BY_CLASS.values())


def test_arrays_that_must_not_be_written_to_are_not():
    frozen = np.zeros(1)
    frozen.flags.writeable = False
    with pytest.raises((ValueError, BufferError)):
        native.even_sums(*{**GOOD, "loss": frozen}.values())


@pytest.mark.parametrize("function", ["sigmoid", "softmax", "exponential", "even_sums"])
def test_the_number_of_arguments_is_checked(function):
    with pytest.raises(TypeError):
        getattr(native, function)(np.ones(3))


def test_results_must_have_room():
    with pytest.raises(ValueError, match="do not go together"):
        native.sigmoid(np.ones(4), ONE, ZERO, np.empty((3, 2)))
    with pytest.raises(ValueError, match="do not go together"):
        native.softmax(np.ones((4, 3)), ONE, np.empty((3, 4)))


@pytest.mark.parametrize("lengths", [(2, 2), (1, 2), (3, 1), (0, 0), (5, 5)])
def test_lines_are_one_or_one_for_each_row(lengths):
    with pytest.raises(ValueError, match="do not go together"):
        native.sigmoid(np.ones(4), *map(np.ones, lengths), np.empty((4, 2)))
    with pytest.raises(ValueError, match="do not go together"):
        native.softmax(np.ones((4, 3)), np.ones(2), np.empty((4, 3)))


def test_without_them_a_fit_is_the_same():
    code = (
        "import numpy as np, tempocal as tc\n"
        "m = tc.datasets.simulate_match(300)\n"
        "cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline())\n"
        "cal.fit(m.logits, m.label, time=m.time, groups=m.sequence)\n"
        "from tempocal.kernels import native\n"
        "print(native is None, repr(cal.decision_function([1.0, -2.0], time=[3, 9]).tolist()))\n"
    )
    said = {}
    for kernels in ("numpy", "native"):
        run = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "TEMPOCAL_KERNELS": kernels},
            capture_output=True,
            text=True,
            check=True,
        )
        said[kernels] = run.stdout.split(maxsplit=1)
    assert said["numpy"][0] == "True"
    assert said["native"][0] == "False"
    np.testing.assert_allclose(eval(said["numpy"][1]), eval(said["native"][1]), rtol=1e-9)


def test_doubles_at_odd_addresses_are_read():
    rng = np.random.default_rng(0)

    def odd(values):
        return np.frombuffer(b"x" + values.tobytes(), dtype=values.dtype, offset=1)

    z, weights = 2.0 * rng.normal(size=300), rng.exponential(size=300)
    y = (rng.uniform(size=300) < 0.5).astype(int)
    for kind in (tc.TemperatureScaling, tc.PlattScaling, tc.BetaCalibration):
        wanted = kind().fit(z, y, sample_weight=weights).predict_proba(z)
        found = kind().fit(odd(z), odd(y), sample_weight=odd(weights)).predict_proba(odd(z))
        np.testing.assert_array_equal(found, wanted)


def test_a_word_that_means_nothing_is_told():
    code = "import tempocal.kernels"
    told = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TEMPOCAL_KERNELS": "Numpy"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "TEMPOCAL_KERNELS is 'Numpy'" in told.stderr

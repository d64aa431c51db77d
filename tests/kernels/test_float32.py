"""Every loop gives the same for float32 as for the same numbers in float64."""

import os

import numpy as np
import pytest

from tempocal.kernels import key_counts, native

pytestmark = pytest.mark.skipif(
    native is None and not os.environ.get("TEMPOCAL_CI"), reason="the loops are not compiled"
)

N, N_KEYS = 5003, 7


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    x = (3.0 * rng.normal(size=N)).astype(np.float32)
    x[:4] = 0.0, -0.0, 1e30, -1e-30
    return x, rng.integers(0, 2, N), rng.integers(0, N_KEYS, N), rng.exponential(size=N)


def both(x):
    return x, x.astype(np.float64)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("key_type", [None, *key_counts.KEY_TYPES])
def test_losses_before_and_after(loops, rows, weighted, key_type):
    x, labels, keys, weights = rows
    other = 0.7 * x.astype(np.float64) if key_type is None else np.linspace(0.2, 2.0, N_KEYS)
    given = None if key_type is None else keys.astype(key_type)
    found = []
    for before in both(x):
        sums, gains = np.zeros((3, 4)), np.empty(N)
        own = weights if weighted else None
        loops.compare(before, other, given, labels, own, gains, sums)
        found.append((gains, sums))
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)
        assert one.any()


@pytest.mark.parametrize("key_type", key_counts.KEY_TYPES)
def test_rows_in_the_order_of_their_keys(loops, rows, key_type):
    x, _, keys, _ = rows
    keys = keys.astype(key_type)
    counts, _ = key_counts.count_keys(keys, N_KEYS)
    into = np.empty_like(x)
    key_counts.scatter(x, keys, counts, into)
    np.testing.assert_array_equal(into, x[np.argsort(keys, kind="stable")])
    with pytest.raises(ValueError, match="do not go together"):
        key_counts.scatter(x, keys, counts, np.empty(N))


@pytest.mark.parametrize("key_type", key_counts.KEY_TYPES)
@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_rows_in_no_order(loops, rows, key_type, order, weighted):
    x, _, keys, weights = rows
    own = weights if weighted else None
    x = np.where(np.abs(x) < 1e3, x, np.float32(1.0))
    bounds = np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=N_KEYS))])[None]
    found = []
    for feature in both(x):
        sums = [np.zeros((1, N_KEYS)) for _ in range(order + 1)]
        given = keys.astype(key_type), bounds, np.linspace(0.2, 2.0, N_KEYS)
        loops.unsorted_sums(feature[None], own, None, *given, *sums, *[None] * (2 - order))
        found.append(sums)
    np.testing.assert_allclose(*found, rtol=1e-14)
    assert all(one.all() for one in found[0])


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_rows_in_order(loops, rows, weighted):
    x, _, keys, weights = rows
    x = np.where(np.abs(x) < 1e3, x, np.float32(1.0))
    own = weights if weighted else None
    starts = np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=N_KEYS))])
    theta, found = np.linspace(0.2, 2.0, N_KEYS)[:, None], []
    for feature in both(x):
        sums = np.zeros(N_KEYS), np.zeros((N_KEYS, 1)), np.zeros((N_KEYS, 1, 1))
        loops.even_sums(feature[None], own, theta, starts, *sums)
        found.append(sums)
    for one, two in zip(*found, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-13, atol=1e-13)

"""The compiled sort, merge and pools give what NumPy and SciPy give, and bad arrays are refused."""

import os
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.optimize import isotonic_regression

from tempocal.kernels import native
from tempocal.kernels.order import BUCKET_ROWS, merge, pool, sorted_classes

pytestmark = pytest.mark.skipif(
    native is None and not os.environ.get("TEMPOCAL_CI"), reason="the loops are not compiled"
)
SIZES = [0, 1, 2, 31, 32, 33, 1001, BUCKET_ROWS, BUCKET_ROWS + 1, 200_001]
TINY = np.finfo(np.float64).smallest_subnormal


def special(n, rng):
    found = [0.0, -0.0, TINY, -TINY, 3 * TINY, 1e308, -1e308, np.inf, -np.inf, 1.0]
    return rng.choice(np.array(found), n)


def crowded(n, rng):
    """All but one differ in their last digits only."""
    return np.where(np.arange(n) == n // 2, -1e300, 1.0 + 1e-15 * rng.integers(0, 99, n))


# Doubles that are hard to sort in one way or another.
NUMBERS = {
    "normal": lambda n, rng: 2.0 * rng.normal(size=n),
    "ascending": lambda n, rng: np.sort(rng.normal(size=n)),
    "descending": lambda n, rng: -np.sort(rng.normal(size=n)),
    "duplicates": lambda n, rng: rng.normal(size=n).round(1),
    "equal": lambda n, rng: np.full(n, -3.25),
    "crowded": crowded,
    "single precision": lambda n, rng: rng.normal(size=n).astype(np.float32).astype(np.float64),
    "any size": lambda n, rng: rng.normal(size=n) * 10.0 ** rng.integers(-300, 300, n),
    "denormal": lambda n, rng: TINY * rng.integers(-1000, 1000, n),
    "special": special,
}
all_numbers = pytest.mark.parametrize("make", NUMBERS.values(), ids=NUMBERS.keys())


@all_numbers
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
def test_buckets_of_two_classes_are_the_two_sorted_classes(make, n, share):
    rng = np.random.default_rng(n)
    values, is_second = make(n, rng), rng.random(n) < share
    buckets = sorted_classes(values, is_second)
    for code in (0, 1):
        found = np.concatenate([classes[code] for classes in buckets])
        assert_array_equal(found, np.sort(values[is_second == code]))
        assert not np.signbit(found[found == 0.0]).any()
    # A value is in one bucket only, whatever its class and the sign of zero.
    assert n == 0 or all(len(one) + len(other) for one, other in buckets)
    ranges = [(np.min(both), np.max(both)) for both in map(np.concatenate, buckets) if len(both)]
    assert all(one[1] < other[0] for one, other in pairwise(ranges))


def test_many_rows_are_in_many_buckets():
    rng = np.random.default_rng(0)
    values = 2.0 * rng.normal(size=300_000)
    sizes = [len(a) + len(b) for a, b in sorted_classes(values, rng.random(300_000) < 0.3)]
    assert max(sizes) < 2 * BUCKET_ROWS


def test_arrays_of_any_layout_are_sorted():
    rng = np.random.default_rng(0)
    values, is_second = rng.normal(size=(1000, 2)), rng.random((1000, 2)) < 0.5
    odd = np.frombuffer(b"x" + values[:, 0].tobytes(), dtype=np.float64, offset=1)
    wanted = np.sort(values[is_second[:, 0], 0])
    for given in (values[:, 0], odd):
        ((_, found),) = sorted_classes(given, is_second[:, 0])
        assert_array_equal(found, wanted)
    before = values.copy()
    sorted_classes(values[:, 0], is_second[:, 0])
    assert_array_equal(values, before)


@all_numbers
@pytest.mark.parametrize(("n", "m"), [(0, 0), (0, 5), (5, 0), (1, 1), (40, 3), (500, 801)])
def test_merged_classes_are_counts_of_distinct_values(make, n, m):
    rng = np.random.default_rng(n + m)
    firsts, seconds = make(n, rng), make(m, rng)
    firsts.sort()
    seconds.sort()
    room = np.full((3, n + m), np.nan)
    count = merge((firsts, seconds), room)
    wanted, weights = np.unique(np.concatenate([firsts, seconds]), return_counts=True)
    assert_array_equal(room[0, :count], wanted)
    assert_array_equal(room[1, :count], weights)
    assert_array_equal(room[2, :count], [np.count_nonzero(seconds == value) for value in wanted])
    assert np.isnan(room[:, count:]).all()


@pytest.mark.parametrize("most", [1, 5])
@pytest.mark.parametrize("n", [1, 2, 3, 10, 1000, 20_001])
def test_blocks_are_those_of_scipy(n, most):
    rng = np.random.default_rng(n)
    weights = rng.integers(1, most + 1, n).astype(np.float64)
    positives = rng.binomial(weights.astype(int), np.linspace(0.1, 0.9, n)).astype(np.float64)
    wanted = isotonic_regression(positives / weights, weights=weights).x
    starts, sums, sums_of_positives = pool(weights, positives)
    assert_array_equal(sums, np.add.reduceat(weights, starts))
    assert_array_equal(sums_of_positives, np.add.reduceat(positives, starts))
    means = sums_of_positives / sums
    assert (np.diff(means) > 0).all()
    found = np.repeat(means, np.diff(np.append(starts, n)))
    assert found == pytest.approx(wanted, rel=1e-13)


def test_nothing_is_pooled_to_nothing():
    assert [len(one) for one in pool(np.empty(0), np.empty(0))] == [0, 0, 0]


def test_blocks_of_no_weight_stay_within_the_arrays():
    nothing = np.zeros(9)
    assert len(pool(nothing, nothing)[0]) == 9
    assert len(pool(np.full(9, np.nan), nothing)[0]) == 9


GOOD = {
    "merge": (np.ones(2), np.ones(1), np.empty(3), np.empty(3), np.empty(3)),
    "pool": (np.ones(3), np.ones(3), np.empty(3, dtype=np.int64), np.empty(3), np.empty(3)),
}


@pytest.mark.parametrize(
    ("name", "index"),
    [(name, index) for name, given in GOOD.items() for index in range(len(given))],
)
def test_arrays_that_do_not_go_together_are_refused(name, index):
    """Nothing is read or written beyond the end of an array."""
    loop, good = getattr(native, name), [one.copy() for one in GOOD[name]]
    loop(*good)
    one = GOOD[name][index]
    bad = [one[:-1], np.ones((2, 3, 4)), np.ones(6)[::2], one.astype(np.complex128), "text", None]
    for other in bad:
        with pytest.raises((TypeError, ValueError, BufferError)):
            loop(*good[:index], other, *good[index + 1 :])
    with pytest.raises(TypeError):
        loop(*good[:-1])

"""The compiled sort, merge and pools give what NumPy and SciPy give, and bad arrays are refused."""

import os
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.optimize import isotonic_regression

from tempocal.kernels import native
from tempocal.kernels.order import map_sorted, merge, pool, sort, sorted_classes
from tempocal.kernels.partition import BUCKET_ROWS, CELLS

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
def test_sorted_numbers_are_those_of_numpy(make, n):
    values = make(n, np.random.default_rng(n))
    wanted = np.sort(values)
    sort(values)
    assert_array_equal(values, wanted)
    assert not np.signbit(values[values == 0.0]).any()


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
    # A value is in one bucket only, whatever its class and the sign of zero.
    assert n == 0 or all(len(one) + len(other) for one, other in buckets)
    ranges = [(np.min(both), np.max(both)) for both in map(np.concatenate, buckets) if len(both)]
    assert all(one[1] < other[0] for one, other in pairwise(ranges))


@all_numbers
@pytest.mark.parametrize("n", [1, BUCKET_ROWS, BUCKET_ROWS + 1, 200_001])
@pytest.mark.parametrize("n_groups", [2, 5, 1000])
def test_groups_one_after_the_other_are_all_buckets(make, n, n_groups):
    """Ties and either sign of zero are in one group, whatever values it begins and ends at."""
    rng = np.random.default_rng(n)
    values, is_second = make(n, rng), rng.random(n) < 0.3
    found = map_sorted(lambda classes: classes, values, is_second, n_groups)
    for one, other in zip(found, sorted_classes(values, is_second), strict=True):
        assert_array_equal(one[0], other[0])
        assert_array_equal(one[1], other[1])


@pytest.mark.parametrize("n_groups", [1, 2, 7])
def test_groups_are_cut_at_any_cell(n_groups):
    """At the lowest value of each cell, what is next to it, and the numbers of the last digit."""
    octaves = 2.0 ** np.arange(-9, 10)
    edges = (octaves[:, None] * (1.0 + np.arange(64) / 64)).ravel()
    near = [edges, np.nextafter(edges, 0.0), np.nextafter(edges, np.inf), [0.0, -0.0, TINY, np.inf]]
    values = np.concatenate([sign * np.concatenate(near) for sign in (1.0, -1.0)])
    values = np.random.default_rng(0).permutation(np.tile(values, 30))
    is_second = np.arange(len(values)) % 3 == 0
    found = map_sorted(lambda classes: classes, values, is_second, n_groups)
    assert len(found) >= n_groups
    for code in (0, 1):
        wanted = np.sort(values[is_second == code])
        assert_array_equal(np.concatenate([classes[code] for classes in found]), wanted)


def test_rows_are_held_a_group_at_a_time():
    n = 40 * BUCKET_ROWS
    rng = np.random.default_rng(0)
    values, is_second = rng.normal(size=n), rng.random(n) < 0.3

    def peak(n_groups):
        tracemalloc.start()
        sizes = map_sorted(lambda classes: sum(map(len, classes)), values, is_second, n_groups)
        assert sum(sizes) == n
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(1) > 8 * n > 4 * peak(8)


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
    sort(firsts)
    sort(seconds)
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


COUNTS = np.zeros((CELLS, 2), dtype=np.int64)
ALL_CELLS = np.array([0, CELLS])
GOOD = {
    "count_cells": (np.ones(3), np.ones(3, dtype=bool), COUNTS.copy()),
    "scatter_by_cell": (np.ones(3), np.ones(3, dtype=bool), ALL_CELLS, COUNTS.copy(), np.empty(3)),
    "sort": (np.ones(3), np.empty(3)),
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
    # What the spare array of a sort has too much of does no harm, and one value less is a sort.
    bad = bad[1:] if (name, index) == ("sort", 0) else bad
    for other in bad:
        with pytest.raises((TypeError, ValueError, BufferError)):
            loop(*good[:index], other, *good[index + 1 :])
    with pytest.raises(TypeError):
        loop(*good[:-1])


def test_positions_beyond_the_end_are_refused():
    next_positions = np.full((CELLS, 2), 2, dtype=np.int64)
    for values in (np.ones(2), -np.ones(2), np.array([np.nan, np.nan]), np.array([np.inf, np.inf])):
        with pytest.raises(ValueError, match="do not go together"):
            native.scatter_by_cell(
                values, np.ones(2, dtype=bool), ALL_CELLS, next_positions.copy(), np.empty(3)
            )


def test_cells_that_are_none_hold_all_rows_or_no_rows():
    values = np.array([-1.0, 1.0, np.inf])
    for cells, rows in (([-7, CELLS + 7], 3), ([5, 5], 0), ([CELLS, 0], 0), ([2**62, 2**62], 3)):
        places = np.zeros((CELLS, 2), dtype=np.int64)
        native.scatter_by_cell(values, values > 0.0, np.array(cells), places, np.empty(3))
        assert places.sum() == rows


def test_what_must_not_be_written_to_is_not():
    frozen = np.ones(3)
    frozen.flags.writeable = False
    with pytest.raises((ValueError, BufferError)):
        sort(frozen)

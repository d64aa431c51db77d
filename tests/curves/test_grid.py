"""Where rows are summed: the law is that nothing but the times and their counts decides."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from support.examples import examples
from tempocal.curves.grid import (
    CELLS,
    COUNTED_SPAN,
    NARROW,
    distinct,
    fine,
    in_cells,
    pairs,
    single,
)

quick = examples(60)
whole = arrays(np.int64, st.integers(1, 40), elements=st.integers(-(2**20), 2**20))
broken = arrays(np.float64, st.integers(1, 40), elements=st.floats(-1e9, 1e9, width=32))
offsets = pytest.mark.parametrize("offset", [0.0, -3.5, 1.7e9, 1e12])


def assert_is_the_grid_of_distinct_times(grid, times):
    found, keys, counts = np.unique(times, return_inverse=True, return_counts=True)
    np.testing.assert_array_equal(grid.times, found)
    np.testing.assert_array_equal(grid.keys, keys)
    np.testing.assert_array_equal(grid.weights, counts)
    assert grid.times.dtype == np.float64


@given(times=whole)
@quick
def test_whole_numbers_are_counted_as_sorting_would(times):
    assert_is_the_grid_of_distinct_times(distinct(times.astype(float), None), times)


@given(times=broken)
@quick
def test_other_numbers_are_sorted(times):
    assert_is_the_grid_of_distinct_times(distinct(times, None), times)


@pytest.mark.parametrize("span", [COUNTED_SPAN - 1, COUNTED_SPAN, COUNTED_SPAN + 1, 10**12])
def test_both_ways_agree_at_the_span_where_they_change(span):
    times = np.array([5.0, 5.0 + span, 7.0, 5.0])
    assert_is_the_grid_of_distinct_times(distinct(times, None), times)


@given(times=st.one_of(whole, broken), seed=st.integers(0, 99))
@quick
def test_weights_are_repetitions(times, seed):
    times = times.astype(float)
    counts = np.random.default_rng(seed).integers(1, 4, size=len(times))
    weighted = distinct(times, counts.astype(float))
    repeated = distinct(np.repeat(times, counts), None)
    np.testing.assert_array_equal(weighted.times, repeated.times)
    np.testing.assert_array_equal(weighted.weights, repeated.weights)


@pytest.mark.parametrize("n_times", [CELLS, CELLS + 1])
def test_few_distinct_times_are_kept_and_many_go_into_cells(n_times):
    times = np.random.default_rng(0).permutation(np.arange(n_times) / 7.0)
    grid = fine(times, None)
    if n_times <= CELLS:
        assert_is_the_grid_of_distinct_times(grid, times)
    else:
        assert grid.n_keys <= CELLS


def test_many_rows_of_few_times_are_not_taken_for_continuous():
    times = np.tile(np.arange(36.0), 5000)
    assert_is_the_grid_of_distinct_times(fine(times, None), times)


def test_a_sample_that_misses_the_rare_times_does_not_decide():
    """Every tenth row has the same time, and the rows between them all differ."""
    times = np.arange(30_000.0) + 0.25
    times[::10] = 0.0
    assert fine(times, None).n_keys <= CELLS


@offsets
def test_continuous_times_go_into_cells_at_their_means(offset):
    """Of a hundred thousand distinct times, wherever they start."""
    since = np.random.default_rng(0).exponential(3600.0, size=100_000)
    times = offset + since
    grid = fine(times, None)
    assert grid.n_keys <= CELLS
    assert (np.diff(grid.times) > 0).all()
    assert grid.weights.sum() == 100_000
    for key in [0, 1, grid.n_keys // 2, grid.n_keys - 1]:
        of_cell = times[grid.keys == key]
        rounding = 4 * np.spacing(times.max())
        assert grid.times[key] == pytest.approx(of_cell.mean(), abs=rounding + 1e-9)
        assert grid.weights[key] == len(of_cell)
    # The grid never moves a row by more than half a percent of its time since the start, beside
    # the width of the first cell.
    moved = np.abs(grid.times[grid.keys] - times)
    start, span = times.min(), np.ptp(times)
    first_width = span * np.expm1(np.log1p(NARROW) / CELLS) / NARROW
    assert (moved <= 0.005 * (times - start) + first_width + 1e-3).all()


@offsets
def test_an_offset_changes_no_key(offset):
    since = np.arange(5000) / 8.0  # exact in double precision whatever the offset
    since = since[np.random.default_rng(1).permutation(5000)]
    plain, shifted = fine(since, None), fine(offset + since, None)
    np.testing.assert_array_equal(plain.keys, shifted.keys)
    np.testing.assert_allclose(shifted.times - offset, plain.times, atol=2e-4)


@pytest.mark.parametrize("cells", [8, CELLS])
def test_the_order_of_the_rows_does_not_matter(cells):
    rng = np.random.default_rng(0)
    times, weights = rng.gamma(2.0, size=20_000), rng.random(20_000)
    order = rng.permutation(20_000)
    a, b = fine(times, weights, cells), fine(times[order], weights[order], cells)
    np.testing.assert_array_equal(a.keys[order], b.keys)
    np.testing.assert_allclose(a.times, b.times, rtol=1e-12)
    np.testing.assert_allclose(a.weights, b.weights, rtol=1e-12)


def test_the_mean_of_a_cell_is_weighted():
    grid = in_cells(np.array([2, 2, 7]), np.array([1.0, 4.0, 9.0]), np.array([2.0, 1.0, 1.0]))
    np.testing.assert_allclose(grid.times, [2.0, 9.0])
    np.testing.assert_array_equal(grid.weights, [3.0, 1.0])
    np.testing.assert_array_equal(grid.keys, [0, 0, 1])


def test_one_key_for_all_and_one_for_every_pair_that_occurs():
    times = np.array([1.0, 2.0, 2.0, 9.0])
    assert single(times, None).n_keys == 1
    assert single(times, np.array([1.0, 2.0, 3.0, 4.0])).weights.tolist() == [10.0]
    other = np.array([5.0, 6.0, 6.0, 5.0])
    grid = pairs(distinct(times, None), distinct(other, None), None)
    assert grid.times.tolist() == [[1.0, 5.0], [2.0, 6.0], [9.0, 5.0]]
    assert grid.keys.tolist() == [0, 1, 1, 2]
    assert grid.weights.tolist() == [1.0, 2.0, 1.0]

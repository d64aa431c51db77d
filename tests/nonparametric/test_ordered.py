import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tempocal.kernels.order import BUCKET_ROWS
from tempocal.links import sigmoid
from tempocal.maps import Knots, Steps
from tempocal.nonparametric import fit_isotonic, losses_before_and_after, sort_rows
from tempocal.nonparametric.blocks import pool, pool_parts
from tempocal.nonparametric.distinct import collapse, count_classes
from tempocal.nonparametric.ordered import is_isotonic

SIZES = [1, 2, 100, BUCKET_ROWS + 1, 3 * BUCKET_ROWS]


def rows_of(n, digits):
    rng = np.random.default_rng(n)
    odds = rng.normal(0.0, 2.0, n).round(digits)
    odds[::7] = rng.choice([0.0, -0.0], len(odds[::7]))
    return odds, rng.random(n) < sigmoid(odds)


def assert_same(one, other):
    for name in ("odds", "weights", "positives", "negatives"):
        assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("digits", [1, 12])
@pytest.mark.parametrize("n", SIZES)
def test_rows_counted_by_class_are_rows_of_weight_one(n, digits):
    odds, targets = rows_of(n, digits)
    wanted = collapse(odds, targets.astype(float), np.ones(n))
    assert_same(sort_rows(odds, targets, None).distinct(), wanted)
    assert_same(count_classes(odds, targets), wanted)


@pytest.mark.parametrize("n", SIZES)
def test_buckets_one_after_the_other_are_all_rows(n):
    odds, targets = rows_of(n, 3)
    for rows in (sort_rows(odds, targets, None), sort_rows(odds, targets, np.ones(n))):
        buckets = rows.map(lambda data: data)
        joined = np.concatenate([data.odds for data in buckets])
        assert_array_equal(joined, rows.distinct().odds)
        classes = rows.map_classes(lambda odds, code, weights: (odds, code, weights))
        for k, mass in enumerate((rows.distinct().negatives, rows.distinct().positives)):
            own = [one for one, code, _ in classes if code == k]
            assert_array_equal(np.unique(np.concatenate(own)), rows.distinct().odds[mass > 0])


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("weighted", [False, True])
def test_losses_are_the_written_out_ones(n, weighted):
    odds, targets = rows_of(n, 2)
    weights = np.random.default_rng(0).exponential(size=n) if weighted else None
    fitted = Knots(np.array([-3.0, 0.0, 2.0]), np.array([0.01, 0.6, 0.9]))
    found = losses_before_and_after(sort_rows(odds, targets, weights), fitted)
    against = np.where(targets, -1.0, 1.0)
    wanted = [
        np.average(np.logaddexp(0.0, against * one), weights=weights)
        for one in (odds, fitted(odds))
    ]
    assert found == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("weights", [None, np.array([1.0, 3.0, 1.0])])
def test_what_is_certain_and_right_costs_nothing(weights):
    rows = sort_rows(np.array([-1.0, 1.0, 2.0]), np.array([False, True, True]), weights)
    assert losses_before_and_after(rows, Steps(np.array([0.0]), np.array([0.0, 1.0])))[1] == 0.0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cuts", [[1], [500], [3, 4, 999], list(range(1, 1000))])
def test_blocks_are_the_same_however_rows_are_cut(cuts, weighted):
    odds, targets = rows_of(1000, 2)
    weights = np.random.default_rng(0).integers(1, 5, 1000) * 0.5 if weighted else None
    data = collapse(odds, targets, weights)
    cuts = [cut for cut in cuts if cut < len(data.odds)]
    bounds = zip([0, *cuts], [*cuts, len(data.odds)], strict=True)
    parts = pool_parts([pool(data.part(slice(start, stop))) for start, stop in bounds])
    whole = pool(data)
    for name in ("first", "last", "weights", "positives"):
        assert_array_equal(getattr(parts, name), getattr(whole, name))
    assert parts.predicted == pytest.approx(whole.predicted, rel=1e-12)


@pytest.mark.parametrize("digits", [1, 12])
def test_blocks_are_the_same_without_compiled_loops(digits, monkeypatch):
    odds, targets = rows_of(20_000, digits)
    data = collapse(odds, targets, None)
    found = pool(data)
    monkeypatch.setattr("tempocal.nonparametric.blocks.native", None)
    wanted = pool(data)
    for name in ("first", "last", "weights", "positives", "predicted"):
        assert_array_equal(getattr(found, name), getattr(wanted, name))


def test_blocks_of_equal_means_are_one():
    """As 1/3 of 3, of 6 and of 9 rows are, though thirds are rounded."""
    targets = np.tile([1.0, 0.0, 0.0], 6)
    blocks = pool(collapse(np.arange(18.0), targets, None))
    assert len(blocks.first) == 1


@pytest.mark.parametrize("digits", [0, 1, 12])
def test_blocks_are_the_same_in_buckets_of_any_size(digits, monkeypatch):
    odds, targets = rows_of(4 * BUCKET_ROWS + 1, digits)
    whole = sort_rows(odds, targets, None).blocks
    monkeypatch.setattr("tempocal.kernels.order.BUCKET_ROWS", 1000)
    parts = sort_rows(odds, targets, None).blocks
    wanted = sort_rows(odds, targets, np.ones(len(odds))).blocks
    for blocks in (whole, parts):
        for name in ("first", "last", "weights", "positives"):
            assert_array_equal(getattr(blocks, name), getattr(wanted, name))
        assert blocks.predicted == pytest.approx(wanted.predicted, rel=1e-12)


@pytest.mark.parametrize("shrinkage", [0.0, 1.0, 30.0])
@pytest.mark.parametrize("n", SIZES)
def test_losses_of_an_isotonic_fit_are_the_written_out_ones(n, shrinkage):
    odds, targets = rows_of(n, 12)
    rows = sort_rows(odds, targets, None)
    fitted = fit_isotonic(rows, shrinkage=shrinkage)
    assert is_isotonic(fitted, rows)
    against = np.where(targets, -1.0, 1.0)
    wanted = [np.mean(np.logaddexp(0.0, against * one)) for one in (odds, fitted(odds))]
    assert losses_before_and_after(rows, fitted) == pytest.approx(wanted, rel=1e-12)


def test_curves_that_turn_or_rise_within_a_block_are_not_isotonic():
    odds, targets = np.arange(6.0), np.array([False, True, False, True, False, True])
    rows = sort_rows(odds, targets, None)
    assert rows.blocks.first.tolist() == [0.0, 1.0, 5.0]
    flat = np.array([0.1, 0.5, 0.5, 0.9])
    assert is_isotonic(Knots(np.array([0.0, 1.0, 4.0, 5.0]), flat), rows)
    assert not is_isotonic(Knots(np.array([0.0, 2.0, 4.0, 5.0]), flat), rows)
    turned = Knots(np.array([0.0, 1.0, 2.0, 4.0, 5.0]), np.array([0.1, 0.5, 0.2, 0.5, 0.9]))
    assert not is_isotonic(turned, rows)
    wanted = np.mean(np.logaddexp(0.0, np.where(targets, -1.0, 1.0) * turned(odds)))
    assert losses_before_and_after(rows, turned)[1] == pytest.approx(wanted, rel=1e-12)

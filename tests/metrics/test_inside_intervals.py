"""Every estimate lies in its own interval, whatever the metric and however few the rows."""

from functools import partial
from itertools import product

import numpy as np
import polars as pl
import pytest

from support.lanes import by_turns
from tempocal.metrics import (
    brier,
    classwise_ece,
    ece,
    gain,
    max_calibration_error,
    nll,
    over_time,
    over_time_table,
    overconfidence,
    reliability_curve,
    smooth_ece,
    with_interval,
    with_interval_table,
)
from tempocal.metrics.absolute_sum import absolute_sum_interval
from tempocal.metrics.gap_sums import GapSums, calibration_error_from_sums

BY_SUMS = {
    "ece": ece,
    "equal mass": partial(ece, binning="equal_mass"),
    "classwise": classwise_ece,
    "nll": partial(nll, clip=1e-9),
    "brier": brier,
    "overconfidence": overconfidence,
}
BY_JACKKNIFE = {"smooth": smooth_ece, "max": max_calibration_error}
# Each number of rows with and without groups and weights.
KINDS = list(product((False, True), repeat=2))


def simulate(seed, n_classes, n):
    """Probabilities that are right, too sure or turned around; labels; times."""
    random = np.random.default_rng([seed, n_classes, n])
    z = random.normal(size=(n, n_classes)) * random.choice([0.5, 1.0, 3.0])
    told, true = (np.exp(z * tilt) for tilt in (1.0, random.choice([1.0, 0.4, -1.0])))
    told, true = (each / each.sum(axis=1, keepdims=True) for each in (told, true))
    label = (random.random(n)[:, None] > true.cumsum(axis=1)[:, :-1]).sum(axis=1)
    groups, weight = random.integers(0, max(2, n // 5), n), random.integers(1, 4, n).astype(float)
    return label, told, random.integers(0, 4, n), groups, weight


def cases(n_classes, seeds, sizes=(6, 20, 60, 200)):
    for seed, n, (grouped, weighted) in product(range(seeds), sizes, KINDS):
        y, proba, time, groups, weight = simulate(seed, n_classes, n)
        yield y, proba, time, groups if grouped else None, weight if weighted else None


def assert_inside(table):
    assert (table.lower <= table.value).all()
    assert (table.value <= table.upper).all()
    assert_holds(table.mean)


def assert_holds(estimate):
    assert estimate.lower <= estimate <= estimate.upper


@pytest.mark.parametrize(("name", "n_classes"), by_turns(BY_SUMS | BY_JACKKNIFE, [2, 3], every=2))
def test_by_arrays(name, n_classes):
    metric = (BY_SUMS | BY_JACKKNIFE)[name]
    # A jackknife calls the metric hundreds of times.
    many = {"seeds": 4} if name in BY_SUMS else {"seeds": 1, "sizes": (12,)}
    for y, proba, time, groups, weight in cases(n_classes, **many):
        given = {"groups": groups, "sample_weight": weight, "classes": range(n_classes)}
        assert_inside(over_time(metric, y, proba, time, bins=3, **given))
        assert_holds(with_interval(metric, y, proba, **given))


@pytest.mark.parametrize(("name", "n_classes"), by_turns(BY_SUMS, [2, 3], every=2))
def test_by_tables(name, n_classes):
    columns = [f"p{k}" for k in range(n_classes)]
    for y, proba, time, groups, weight in cases(n_classes, 1, (6, 100)):
        table = pl.DataFrame(dict(zip(columns, proba.T, strict=True)) | {"y": y, "t": time})
        given = {"label": "y", "proba": columns, "classes": range(n_classes)}
        for column, values in (("groups", groups), ("sample_weight", weight)):
            if values is not None:
                table, given = (
                    table.with_columns(pl.Series(column, values)),
                    given | {column: column},
                )
        assert_inside(over_time_table(BY_SUMS[name], table, time="t", bins=3, **given))
        assert_holds(with_interval_table(BY_SUMS[name], table, **given))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("metric", [brier, BY_SUMS["nll"]], ids=["brier", "nll"])
def test_gains(metric, n_classes):
    for y, proba, _, groups, weight in cases(n_classes, 3):
        even = np.full_like(proba, 1 / n_classes)
        given = {"groups": groups, "sample_weight": weight, "classes": range(n_classes)}
        assert_holds(gain(metric, y, proba, even, **given))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_frequencies(n_classes):
    for y, proba, _, groups, weight in cases(n_classes, 6):
        table = reliability_curve(
            y, proba, groups=groups, sample_weight=weight, classes=range(n_classes)
        )
        filled = table.count > 0
        assert (table.lower_frequency <= table.frequency)[filled].all()
        assert (table.frequency <= table.upper_frequency)[filled].all()


def test_an_interval_that_lies_below_its_value_ends_there():
    """Noise in thirty small gaps adds so much that hardly any true error explains so little."""
    noise = 0.05 * np.random.default_rng(0).standard_normal((400, 30))
    gaps = np.full(30, 0.01)
    _, upper = absolute_sum_interval(gaps, noise, 0.95)
    assert upper < gaps.sum()
    sums = GapSums(gaps[None], noise[None], np.full((20, 1), 0.01), np.array([400.0]), 400.0)
    (found,) = calibration_error_from_sums(sums, "ECE", 0.95).by_time_bin
    assert not found.only_upper
    assert found.lower < found.value == found.upper == gaps.sum()

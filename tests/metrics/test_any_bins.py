"""Any number of bins is taken or refused in words, and costs no more than the rows do."""

from functools import partial

import numpy as np
import polars as pl
import pytest

import tempocal as tc
from tempocal.errors import InputError
from tempocal.metrics import (
    classwise_ece,
    ece,
    max_calibration_error,
    over_time,
    over_time_table,
    reliability_curve,
)

RANDOM = np.random.default_rng(0)
N = 300
PROBA = RANDOM.random(N)
LOGITS = np.log(PROBA / (1 - PROBA))
LABEL = (RANDOM.random(N) < PROBA).astype(int)
TIME, WEIGHT = RANDOM.random(N), np.ones(N)
TABLE = pl.DataFrame({"y": LABEL, "p": PROBA, "t": TIME})
NAMED = {"label": "y", "proba": "p", "time": "t"}

TIME_BINS = {
    "arrays": lambda bins: over_time(ece, LABEL, PROBA, TIME, bins=bins),
    "weights": lambda bins: over_time(ece, LABEL, PROBA, TIME, bins=bins, sample_weight=WEIGHT),
    "table": lambda bins: over_time_table(ece, TABLE, bins=bins, **NAMED),
    "display": lambda bins: tc.plots.ErrorOverTimeDisplay.from_predictions(
        LABEL, PROBA, time=TIME, bins=bins
    ),
    "curve": lambda bins: tc.TemporalCalibrator(tc.TemperatureScaling(), tc.PerStep(bins=bins)).fit(
        LOGITS, LABEL, time=TIME
    ),
}
CONFIDENCE = {
    "ece": lambda bins: ece(LABEL, PROBA, bins=bins),
    "weights": lambda bins: ece(LABEL, PROBA, bins=bins, sample_weight=WEIGHT),
    "mass": lambda bins: ece(LABEL, PROBA, bins=bins, binning="equal_mass"),
    "classwise": lambda bins: classwise_ece(LABEL, PROBA, bins=bins),
    "largest": lambda bins: max_calibration_error(LABEL, PROBA, bins=bins),
    "reliability": lambda bins: reliability_curve(LABEL, PROBA, bins=bins),
    "display": lambda bins: tc.plots.ReliabilityDisplay.from_predictions(LABEL, PROBA, bins=bins),
    "over time": lambda bins: over_time(partial(ece, bins=bins), LABEL, PROBA, TIME, bins=3),
    "table": lambda bins: over_time_table(partial(ece, bins=bins), TABLE, bins=3, **NAMED),
    "histogram": lambda bins: tc.HistogramBinning(bins=bins).fit(LOGITS, LABEL),
    "even": lambda bins: tc.HistogramBinning(bins=bins, binning="equal_width").fit(LOGITS, LABEL),
}
every_call = pytest.mark.parametrize(
    "call",
    [*TIME_BINS.values(), *CONFIDENCE.values()],
    ids=[*(f"time bins, {name}" for name in TIME_BINS), *CONFIDENCE],
)
NO_NUMBER = [0, -3, float("nan"), 2.0, True, "", np.array([0.1, 0.5]), [2, 3]]


@pytest.mark.parametrize("bins", NO_NUMBER, ids=repr)
@every_call
def test_what_is_no_number_of_bins_is_refused(call, bins):
    with pytest.raises(InputError, match="bins must be a whole number of at least 1, but it is"):
        call(bins)


@every_call
def test_numbers_of_any_type_are_numbers(call):
    for bins in (np.int32(5), np.uint8(5), np.array(5)):
        call(bins)


@pytest.mark.parametrize("bins", [10**6, 2**63, 10**30], ids=["1e6", "2**63", "1e30"])
@pytest.mark.parametrize("call", TIME_BINS.values(), ids=TIME_BINS)
def test_time_bins_are_no_more_than_times(call, bins):
    call(bins)


def test_more_time_bins_than_times_are_the_steps():
    steps = over_time(ece, LABEL, PROBA, TIME, bins="steps")
    for bins in (10**6, 10**30):
        found = over_time(ece, LABEL, PROBA, TIME, bins=bins)
        np.testing.assert_array_equal(found.time_from, steps.time_from)
        np.testing.assert_array_equal(found.value, steps.value)


@pytest.mark.parametrize(
    "bins", [10**6 + 1, 2**63, 10**30, 10**5000], ids=["1e6", "2**63", "1e30", "1e5000"]
)
@pytest.mark.parametrize("call", CONFIDENCE.values(), ids=CONFIDENCE)
def test_bins_of_confidence_beyond_use_are_refused(call, bins):
    with pytest.raises(InputError, match="bins must be at most 1,000,000, but it is more"):
        call(bins)


@pytest.mark.parametrize("metric", [ece, classwise_ece])
@pytest.mark.parametrize("binning", ["equal_width", "equal_mass"])
def test_a_million_bins_over_time_have_the_values_of_each_time_bin(metric, binning):
    many = partial(metric, bins=10**6, binning=binning)
    table = over_time(many, LABEL, PROBA, TIME, bins=3)
    for k in range(len(table)):
        inside = (table.time_from[k] <= TIME) & (table.time_to[k] >= TIME)
        assert table.value[k] == pytest.approx(many(LABEL[inside], PROBA[inside]), rel=1e-12)
        assert table.lower[k] <= table.value[k] <= table.upper[k]


def test_cells_without_rows_change_nothing(monkeypatch):
    some = partial(ece, bins=50)
    usual = over_time(some, LABEL, PROBA, TIME, bins=4)
    monkeypatch.setattr("tempocal.metrics.scored_arrays.FEW_KEYS", 1)
    found = over_time(some, LABEL, PROBA, TIME, bins=4)
    for name in ("value", "lower", "upper", "floor"):
        np.testing.assert_allclose(getattr(found, name), getattr(usual, name), rtol=1e-5)


def test_noise_that_does_not_go_into_memory_is_refused(monkeypatch):
    monkeypatch.setattr("tempocal.metrics.gaps_by_unit.MAX_NOISE_NUMBERS", 10_000)
    with pytest.raises(InputError, match=r"metric has 60 bins, of which .* Take fewer bins"):
        over_time(partial(ece, bins=60), LABEL, PROBA, TIME)

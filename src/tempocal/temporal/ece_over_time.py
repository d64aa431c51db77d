"""Expected calibration error (ECE), averaged over bins of time."""

import numpy as np

from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.table_fit_data import TableFitData
from tempocal.curves.per_step import PerStep
from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.tables.losses_by_key import MappedRows

# Time bins of about equal row counts, as in the paper's figures, on the first clock if there are
# two. Within each, confidence bins of equal width as in `tempocal.metrics.ece`.
TIME_BINS, BINS = 20, 15


def ece_over_time(proba: Array, data: FitData) -> float:
    """Mean over time bins of the ECE of the predicted class, from sums over (time bin, bin)."""
    assert data.times is not None
    weights = np.ones(len(proba)) if data.weights is None else data.weights
    time_bin = _time_bins(data.times, data.weights)
    predicted = proba.argmax(axis=1)
    confidence = proba[np.arange(len(proba)), predicted]
    bins = np.clip(np.ceil(confidence * BINS).astype(np.intp) - 1, 0, BINS - 1)
    gap = ((predicted == data.labels) - confidence) * weights
    gaps = np.bincount(time_bin * BINS + bins, gap, minlength=TIME_BINS * BINS)
    totals = np.bincount(time_bin, weights, minlength=TIME_BINS)
    errors = np.abs(gaps).reshape(TIME_BINS, BINS).sum(axis=1)[totals > 0] / totals[totals > 0]
    return float(errors.mean())


def ece_over_time_of_table(data: TableFitData, mapped: MappedRows) -> float:
    """Return the same for the rows of a table, summed by (time bin, bin) in the table."""
    keys = data.finest_keys
    time_range = None if keys.time_keys is None else keys.time_keys.time_range
    time_bin_of_key = PerStep(bins=TIME_BINS).track(keys.times, keys.weights, time_range).grid.keys
    sums = mapped.gaps(time_bin_of_key, BINS)
    gaps = np.bincount(sums["time_bin"], np.abs(sums["gap"]), minlength=TIME_BINS)
    totals = np.bincount(sums["time_bin"], sums["mass"], minlength=TIME_BINS)
    return float((gaps[totals > 0] / totals[totals > 0]).mean())


def _time_bins(times: Array, weights: Array | None) -> Codes:
    first = times if times.ndim == 1 else times[:, 0]
    return PerStep(bins=TIME_BINS).track(first, weights).grid.keys

"""Calibration error on average over stretches of time."""

import numpy as np

from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.table_fit_data import TableFitData
from tempocal.curves import PerStep
from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.tables.losses_by_key import MappedRows

# Stretches of about as many rows each, as in the paper's figures; where there are two clocks, of
# the first one. Within each, bins of equal width as in `tempocal.metrics.ece`.
TIME_BINS, BINS = 20, 15


def ece_over_time(proba: Array, data: FitData) -> float:
    """Mean over stretches of time of the calibration error of the predicted class.

    All stretches at once: sums over (stretch, bin), as the metrics make them over bins.
    """
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


def ece_over_time_of_table(data: TableFitData, scored: MappedRows) -> float:
    """Return the same of the rows of a table, in two sums by stretch and bin."""
    atoms = data.finest_keys
    ends = None if atoms.time_keys is None else atoms.time_keys.time_range
    stretch_of = PerStep(bins=TIME_BINS).track(atoms.times, atoms.weights, ends).grid.keys
    found = scored.gaps(stretch_of, BINS)
    gaps = np.bincount(found["time_bin"], np.abs(found["gap"]), minlength=TIME_BINS)
    totals = np.bincount(found["time_bin"], found["mass"], minlength=TIME_BINS)
    return float((gaps[totals > 0] / totals[totals > 0]).mean())


def _time_bins(times: Array, weights: Array | None) -> Codes:
    first = times if times.ndim == 1 else times[:, 0]
    return PerStep(bins=TIME_BINS).track(first, weights).grid.keys

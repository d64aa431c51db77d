"""How good the probabilities of each method are on one set of predictions."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit

from experiments.methods import Method, calibrate
from experiments.predictions import Predictions
from experiments.training import Report
from tempocal.errors import TempocalWarning
from tempocal.metrics import ece, sampling_floor

# The paper does not say which bins are inside its ECE; its diagrams have ten of equal mass.
ERROR = partial(ece, bins=10, binning="equal_mass", classes=[0, 1])
LENGTH_BINS = 20
# Numbers are kept to so many digits, so that they are the same bytes on every machine.
DIGITS = 6
# Probabilities are cut to multiples of this: p and 1 - p are then exact, and which of two equal
# confidences comes first, where bins of equal mass end, is not left to the last bit of a fit.
GRAIN = 2.0**-40


@dataclass(frozen=True)
class Stretch:
    """Rows of about the same length, or of the same round."""

    number: int  # the round, or which of the 20 stretches
    middle: float  # mean length
    rows: np.ndarray


def stretches(test: Predictions, *, steps: bool) -> list[Stretch]:
    """Cut the test rows by length: a stretch for each round, or 20 with about as many rows each.

    Rows of one length share a stretch.
    """
    if steps:
        which = test.length
    else:
        # The share of rows that are shorter, counting half of those of the same length.
        _, inverse, counts = np.unique(test.length, return_inverse=True, return_counts=True)
        below = (np.cumsum(counts) - counts / 2) / len(test.length)
        which = np.floor(below * LENGTH_BINS).astype(int)[inverse]
    found = {int(value): np.flatnonzero(which == value) for value in np.unique(which)}
    return [Stretch(at, float(test.length[rows].mean()), rows) for at, rows in found.items()]


def probabilities(logits: np.ndarray) -> np.ndarray:
    """Turn calibrated logits into probabilities that tie where they should."""
    return np.asarray(GRAIN * np.round(expit(logits) / GRAIN))


def score(
    predictions: Predictions,
    methods: Sequence[Method],
    *,
    steps: bool,
    report: Report = lambda share: None,
) -> dict[str, Any]:
    """Fit every method, and return their scores on the test rows, ready for JSON."""
    test = predictions.part(calibration=False)
    cut = stretches(test, steps=steps)
    found = {}
    for number, method in enumerate(methods, start=1):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", TempocalWarning)
            fitted, logits = calibrate(method, predictions)
        proba = probabilities(logits)
        errors = [ERROR(test.label[s.rows], proba[s.rows]) for s in cut]
        floors = [
            sampling_floor(proba[s.rows], groups=test.sequence[s.rows], metric=ERROR, n_draws=20)
            for s in cut
        ]
        found[method.name] = {
            "nll": _round(np.logaddexp(0.0, np.where(test.label == 1, -logits, logits)).mean()),
            "overall_ece": _round(ERROR(test.label, proba)),
            "accuracy": _round(np.mean((proba > 0.5) == test.label)),
            "ece": [_round(error) for error in errors],
            "floor": [_round(floor) for floor in floors],
            "chosen": _chosen(fitted),
            "warnings": [str(one.message) for one in told],
        }
        report(number / len(methods))
    return {
        "stretches": [s.number for s in cut],
        "lengths": [_round(s.middle) for s in cut],
        "rows": [len(s.rows) for s in cut],
        "methods": found,
    }


def _chosen(fitted: Any) -> str | None:
    """Say what was chosen by a method that chooses."""
    best = getattr(fitted, "best_", None)
    return None if best is None else f"{best.calibrator} along {best.curve}"


def _round(number: float) -> float:
    return round(float(number), DIGITS)

"""Validation of sample weights."""

from typing import Any

import numpy as np

from tempocal.errors import InputError, LightWeightsWarning, warn_user
from tempocal.inputs.arguments import as_float64, require_finite, require_same_length
from tempocal.links import Array

# A mean weight below this causes a warning, with at least this many rows.
LIGHT_WEIGHT, MIN_ROWS_TO_WARN = 0.05, 20
# Other weights could overflow or underflow.
LEAST_WEIGHT, LARGEST_WEIGHT = 1e-100, 1e20


def check_weights(sample_weight: Any, n_rows: int, name: str = "sample_weight") -> Array | None:
    """Return weights as float64, or None if every row has weight 1."""
    if sample_weight is None:
        return None
    weights = as_float64(sample_weight, name)
    require_same_length(weights, name, n_rows, "the predictions")
    require_finite(weights, name)
    if weights.min() < 0:
        row = int(np.argmax(weights < 0))
        raise InputError(f"{name} must not be negative, but row {row} has {weights[row]:g}")
    if weights.max() == 0:
        raise InputError(f"{name} is zero everywhere: some row must count")
    least = float(weights.min(where=weights > 0, initial=1.0))
    if least < LEAST_WEIGHT or weights.max() > LARGEST_WEIGHT:
        raise InputError(
            f"{name} must be 0 or from {LEAST_WEIGHT:g} to {LARGEST_WEIGHT:g}, but it goes from "
            f"{least:g} to {weights.max():g}: divide it by its largest, and let the least be 0"
        )
    # A column of a table may not be contiguous.
    return np.ascontiguousarray(weights)


def warn_of_light_weights(weights: Array | None) -> None:
    """Warn if the total weight is far below the number of rows, as of weights that sum to 1."""
    if weights is None or len(weights) < MIN_ROWS_TO_WARN:
        return
    if weights.sum() < LIGHT_WEIGHT * np.count_nonzero(weights):
        warn_user(
            f"sample_weight sums to {weights.sum():.3g} over {np.count_nonzero(weights)} rows. A "
            "weight is how often a row was seen, so that is all these rows count for; multiply the "
            "weights so that their mean is 1, if each is a row of its own",
            LightWeightsWarning,
        )

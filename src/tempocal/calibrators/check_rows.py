"""Validation of what the user passes to a fit: predictions, labels, weights, groups, times."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from tempocal.calibrators.fit_data import FitData
from tempocal.curves.curve import Bulk
from tempocal.errors import StrayTimesWarning, warn_user
from tempocal.inputs import (
    Inputs,
    as_array,
    as_logits_and_range,
    check_groups,
    check_labels,
    check_weights,
    encode_labels,
    require_column_order,
    require_scale,
    warn_of_light_weights,
    warn_of_probabilities,
)
from tempocal.links import Array


@dataclass(frozen=True)
class CheckedRows:
    """Checked rows, the class of each column, and the predictions as passed."""

    data: FitData
    classes: NDArray[Any]
    logits: Any


def check_rows(
    logits: Any,
    y: Any,
    *,
    sample_weight: Any,
    groups: Any,
    inputs: Inputs,
    classes: Any,
    times: Array | None = None,
) -> CheckedRows:
    """Check all arguments of a fit together; drop rows of weight zero."""
    logits = ensure_array_like(logits, inputs)
    checked_logits, low, high = as_logits_and_range(logits, inputs, name=inputs)
    require_scale(low, high, inputs)
    if inputs == "logits":
        warn_of_probabilities(checked_logits, low, high)
    weights = check_weights(sample_weight, len(checked_logits))
    warn_of_light_weights(weights)
    labels = check_labels(_flatten_labels(y), len(checked_logits))
    n_columns = 1 if checked_logits.ndim == 1 else checked_logits.shape[1]
    codes, found_classes, counts = encode_labels(labels, classes, n_columns)
    require_column_order(logits, found_classes, inputs)
    checked_groups = check_groups(groups, len(checked_logits), narrow=True)
    data = FitData(
        checked_logits,
        codes,
        weights,
        checked_groups,
        len(found_classes),
        times,
        max_abs_logit=float(max(high, -low)),
        class_counts=counts,
    )
    return CheckedRows(data.without_zero_weights(), found_classes, logits)


def ensure_array_like(logits: Any, name: str) -> Any:
    """Convert to an array unless it has a shape: data frames keep their column names."""
    return logits if hasattr(logits, "shape") else as_array(logits, name)


def warn_of_stray_times(bulk: Bulk, total_weight: float) -> None:
    """Warn of rows that the fit of a curve leaves out because their times are outliers."""
    warn_user(
        f"time goes to {bulk.farthest:.6g}, but all rows except {bulk.n_stray:.6g} of "
        f"{total_weight:.6g} lie from {bulk.first:.6g} to {bulk.last:.6g}. The curve is "
        "fitted without those, which would flatten it for all others. Look at them: mend their "
        "time, or leave them out",
        StrayTimesWarning,
    )


def _flatten_labels(y: Any) -> Any:
    """Flatten labels of shape (n, 1), with the warning that scikit-learn gives."""
    if len(getattr(y, "shape", ())) == 2 and y.shape[1] == 1:
        return column_or_1d(as_array(y, "y"), warn=True)
    return y

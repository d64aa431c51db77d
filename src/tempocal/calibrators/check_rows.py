"""Labelled predictions of a user, checked together and ready for a fit."""

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
    """Rows to fit, the classes of their columns, and the predictions as they came."""

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
    """Check everything that a fit is given; rows of weight zero are left out."""
    logits = ensure_array_like(logits, inputs)
    scores, low, high = as_logits_and_range(logits, inputs, name=inputs)
    require_scale(low, high, inputs)
    if inputs == "logits":
        warn_of_probabilities(scores, low, high)
    weights = check_weights(sample_weight, len(scores))
    warn_of_light_weights(weights)
    labels = check_labels(_column(y), len(scores))
    n_columns = 1 if scores.ndim == 1 else scores.shape[1]
    codes, found, counts = encode_labels(labels, classes, n_columns)
    require_column_order(logits, found, inputs)
    checked_groups = check_groups(groups, len(scores), narrow=True)
    data = FitData(
        scores,
        codes,
        weights,
        checked_groups,
        len(found),
        times,
        max_abs_logit=float(max(high, -low)),
        class_counts=counts,
    )
    return CheckedRows(data.without_zero_weights(), found, logits)


def ensure_array_like(logits: Any, name: str) -> Any:
    """Leave what has a shape, and perhaps column names, as it is; make an array of the rest."""
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


def _column(y: Any) -> Any:
    """Take labels of shape (n, 1) as scikit-learn does, with its warning."""
    if len(getattr(y, "shape", ())) == 2 and y.shape[1] == 1:
        return column_or_1d(as_array(y, "y"), warn=True)
    return y

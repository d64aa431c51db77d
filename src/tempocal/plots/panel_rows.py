"""The rows of each panel of a plot, and their reliability tables."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tempocal.errors import InputError
from tempocal.inputs import (
    Codes,
    Inputs,
    as_array,
    check_labels,
    check_predicted,
    check_time,
    check_weights,
    encode_labels,
    from_seconds,
    require_column_order,
    require_same_kind,
)
from tempocal.links import Array
from tempocal.metrics import ReliabilityTable, reliability_curve
from tempocal.metrics.events import EventKind
from tempocal.metrics.time_bins import Bins, cut_times


@dataclass(frozen=True)
class PanelPredictions:
    """Checked predictions, with label codes."""

    codes: Codes
    proba: Array
    classes: NDArray[Any]

    def label(self, of: EventKind) -> Any:
        """Return the name of the positive class; None for the top label."""
        return self.classes.tolist()[1] if of == "positive_class" else None


def check_panel_predictions(
    y: ArrayLike, proba: ArrayLike, classes: ArrayLike | None, inputs: Inputs = "proba"
) -> PanelPredictions:
    """Check labels and predictions once, before they are split into panels."""
    checked = check_predicted(proba, inputs).proba
    codes, found, _ = encode_labels(check_labels(y, len(checked)), classes, checked.shape[1])
    require_column_order(proba, found, "proba")
    return PanelPredictions(codes, checked, found)


@dataclass(frozen=True)
class PanelRows:
    """First, last and mean time and row indices of each panel."""

    first: NDArray[Any]
    last: NDArray[Any]
    middle: NDArray[Any]
    rows: list[Codes]


def panel_rows(
    time: Any, n_rows: int, sample_weight: Any, bins: Bins, steps: ArrayLike | None
) -> PanelRows:
    """Find the rows of each time bin, or of each requested step."""
    times = check_time(time, n_rows)
    if steps is None:
        found = cut_times(times, check_weights(sample_weight, n_rows), bins)
        rows = [np.flatnonzero(found.codes == k) for k in range(found.count)]
        return PanelRows(found.first, found.last, found.middle, rows)
    requested = check_time(steps, len(np.atleast_1d(np.asarray(steps))), name="steps")
    require_same_kind(requested, times.kinds, "time")
    rows = [np.flatnonzero(times.values == step) for step in requested.values]
    for step, found_rows in zip(np.atleast_1d(np.asarray(steps)), rows, strict=True):
        if not len(found_rows):
            raise InputError(f"steps has {step!s}, but no row has this time")
    at_steps = from_seconds(requested.values, requested.kinds[0])
    return PanelRows(at_steps, at_steps, at_steps, rows)


def table_of(
    rows: PanelPredictions, index: Codes, columns: dict[str, Any], settings: dict[str, Any]
) -> ReliabilityTable:
    """Compute the reliability table of some rows; ``columns`` are optional arrays by name."""
    columns = {
        name: None if values is None else as_array(values, name)[index]
        for name, values in columns.items()
    }
    classes = np.arange(len(rows.classes))
    return reliability_curve(
        rows.codes[index], rows.proba[index], classes=classes, **columns, **settings
    )


def panel_numbers(values: Any, middle: NDArray[Any]) -> tuple[Any, str]:
    """Return the temperature or slope of a calibrator and its name; numbers are left unchanged."""
    if not hasattr(values, "parameters_at"):
        return values, "τ"
    found = values.parameters_at(middle)
    if "inverse_temperature" in found:
        return 1.0 / found["inverse_temperature"], "τ"
    slope = found.get("slope")
    if slope is None or slope.ndim > 1:
        raise InputError(
            "values must be a calibrator with one temperature or slope at a time, or numbers, but "
            f"this one has {', '.join(found)} of {len(getattr(values, 'classes_', ()))} classes"
        )
    return slope, "slope"

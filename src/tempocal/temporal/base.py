"""Base of the calibrators along time: where times come from, predictions, parameters, bands.

Times come from a keyword or from columns of X, exactly one of the two.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.fit_data import CheckedRows, check_rows, ensure_array_like
from tempocal.errors import InputError
from tempocal.inputs import (
    Inputs,
    TimeKind,
    Times,
    as_array,
    as_logits,
    check_time,
    require_moderate,
    require_same_kind,
)
from tempocal.kernels.min_max import min_max
from tempocal.links import Array, log_proba_from_logits
from tempocal.maps import AnyBand, Curves, TemporalMap, proba_of_map
from tempocal.predictor.document import TimeColumn
from tempocal.tables.column_roles import ColumnRoles
from tempocal.tables.labeled_table import LabeledTable, read_labeled_table
from tempocal.temporal.decay import DecayParameters
from tempocal.temporal.fit_along_time import TemporalFitResult
from tempocal.temporal.interval import Interval


class TemporalBase(DecayParameters, Calibrator, registered=False):
    """Base of the calibrators along time: everything except the fit."""

    time_column: TimeColumn | None
    # Of Auto, which takes sequences as a keyword only.
    sequence_column: int | str | None = None
    map_: TemporalMap  # type: ignore[assignment]
    bands_: tuple[AnyBand, ...]
    time_kinds_: tuple[TimeKind, ...]

    def decision_function(self, logits: Any, time: Any = None) -> Array:
        """Calibrated logits: (n,) for two classes, else (n, K); see `Calibrator`."""
        return self._to_decision(self._calibrate(logits, time))

    def predict_log_proba(self, logits: Any, time: Any = None) -> Array:
        """Log-probability of each class, of shape (n, K), columns in the order of ``classes_``."""
        return log_proba_from_logits(self._calibrate(logits, time))

    def predict_proba(self, logits: Any, time: Any = None) -> Array:
        """Probability of each class, of shape (n, K), columns in the order of ``classes_``."""
        checked = self._check_logits_and_times(logits, time)
        return proba_of_map(self.map_, *checked)

    def predict(self, logits: Any, time: Any = None) -> NDArray[Any]:
        """Most probable class of each row."""
        return self._to_labels(self._to_decision(self._calibrate(logits, time)))

    def score(self, logits: Any, y: Any, sample_weight: Any = None, time: Any = None) -> float:
        """Return the accuracy: the share of rows whose most probable class is the true one."""
        predicted = self.predict(logits, time)
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def parameters_at(self, time: ArrayLike) -> dict[str, Array]:
        """Return the parameters at given times.

        Parameters
        ----------
        time : array-like of shape (n,) or (n, 2)
            Times, of the same kind as in the fit.

        Returns
        -------
        dict
            For each name an array whose first axis goes along ``time``: "inverse_temperature";
            "slope" and "bias"; "a", "b" and "c"; or "weights" and "bias".
        """
        check_is_fitted(self, "map_")
        return self.map_.parameters(self._check_times(time))

    def interval_at(self, time: ArrayLike, level: float = 0.95) -> dict[str, Interval]:
        """Return a band around each parameter, at given times.

        It is robust to correlation within groups. It ignores model selection, such as that of
        `AutoTemporalCalibrator`.

        Parameters
        ----------
        time : array-like of shape (n,) or (n, 2)
            Times, of the same kind as in the fit.
        level : float
            Nominal coverage, on average over time.
        """
        check_is_fitted(self, "map_")
        if not isinstance(level, int | float) or not 0.0 < level < 1.0:
            raise InputError(f"level must lie between 0 and 1, but it is {level!r}")
        times = self._check_times(time)
        center = self.map_.parameters(times)
        deviations = [np.sqrt(np.maximum(band.variance(times), 0.0)) for band in self.bands_]
        assert isinstance(self.map_, Curves)
        deviation = self.map_.map_form.parameters(deviations)
        n_groups = self._n_effective_groups()
        return {
            name: Interval.around(center[name], deviation[name], name, level, n_groups)
            for name in center
        }

    def _n_effective_groups(self) -> int | None:
        """Count the groups behind the bands, discounted like the rows of earlier calls."""
        n_groups = self.summary_.n_groups
        if n_groups is None or self._online_state is None:
            return n_groups
        share = float(self._online_state.class_weights.sum()) / self.summary_.total_weight
        return max(1, round(n_groups * min(share, 1.0)))

    def _check_fit_input(
        self, logits: Any, y: Any, *, n_clocks: int, inputs: Inputs, classes: Any, **given: Any
    ) -> tuple[CheckedRows, Times]:
        """Check the arguments of a fit, and extract the time."""
        timed = extract_time(
            logits, given.pop("time"), self.time_column, n_clocks, self.sequence_column
        )
        if self.sequence_column is not None:
            if given.get("sequence") is not None:
                raise InputError(
                    f"sequence was passed, but sequence_column={self.sequence_column!r} says that "
                    "it is in X: give one of the two"
                )
            given["sequence"] = timed.sequence
        checked = check_rows(
            timed.logits, y, inputs=inputs, classes=classes, times=timed.times, **given
        )
        return checked, timed.times

    def _read_table(self, table: Any, classes: Any, **named: Any) -> LabeledTable:
        """Open a table and make the first pass over it."""
        if self.time_column is not None:
            raise InputError(
                f"time_column is {self.time_column!r}, but in a table time= names the column: "
                "leave time_column out"
            )
        if named["sequence"] is None and named["order"] is not None:
            raise InputError(
                "order puts the rows of a sequence in order, but sequence is None: name the column "
                "of the sequence ids"
            )
        if named["groups"] is None:
            named["groups"] = named["sequence"]
        return read_labeled_table(table, ColumnRoles.of(self.inputs, **named), classes)

    def _store_table_fit(self, fitted: TemporalFitResult, labeled: LabeledTable) -> None:
        assert labeled.time_kind is not None
        self._set_n_features(labeled.n_columns)
        self._set_fitted(fitted, labeled.classes, (labeled.time_kind,))

    def _store_fit(
        self, fitted: TemporalFitResult, checked: CheckedRows, kinds: tuple[TimeKind, ...], X: Any
    ) -> None:
        self._set_feature_names(
            checked.logits if self.time_column is None else ensure_array_like(X, "X")
        )
        self._set_fitted(fitted, checked.classes, kinds)

    def _set_fitted(
        self, fitted: TemporalFitResult, classes: NDArray[Any], kinds: tuple[TimeKind, ...]
    ) -> None:
        self.classes_ = classes
        self.map_ = fitted.map
        self.bands_ = fitted.bands
        self.summary_ = fitted.summary
        self.time_kinds_ = kinds
        self._online_state = fitted.online_state

    def _calibrate(self, logits: Any, time: Any = None) -> Array:
        checked = self._check_logits_and_times(logits, time)
        return self.map_(*checked)

    def _check_logits_and_times(self, logits: Any, time: Any) -> tuple[Array, Array]:
        check_is_fitted(self, "map_")
        if self.time_column is not None and len(getattr(logits, "shape", ())) == 2:
            self._check_feature_names(logits)
        n_clocks = len(self.time_kinds_)
        timed = extract_time(logits, time, self.time_column, n_clocks, self.sequence_column)
        require_same_kind(timed.times, self.time_kinds_)
        predictions = ensure_array_like(timed.logits, self.inputs)
        checked = as_logits(predictions, self.inputs, name=self.inputs)
        self._check_feature_names(
            predictions if self.time_column is None else ensure_array_like(logits, "X")
        )
        return checked, timed.times.values

    def _check_times(self, time: Any) -> Array:
        n_clocks = len(self.time_kinds_)
        n_rows = count_rows(time[0] if isinstance(time, tuple) and n_clocks == 2 else time, "time")
        times = check_time(time, n_rows, clocks=n_clocks)
        require_same_kind(times, self.time_kinds_)
        return times.values


@dataclass(frozen=True)
class TimedPredictions:
    """Predictions without the columns of times and sequences, and these."""

    logits: Any
    times: Times
    sequence: Any = None


def extract_time(
    logits: Any,
    time: Any,
    time_column: TimeColumn | None,
    n_clocks: int,
    sequence_column: int | str | None = None,
) -> TimedPredictions:
    """Separate the predictions from their times, and from the column of their sequences."""
    if sequence_column is not None and time_column is None:
        raise InputError(
            f"sequence_column is {sequence_column!r}, a column of X beside time_column, which is "
            "None: pass sequence= to fit, or set time_column too"
        )
    if time is not None and time_column is not None:
        raise InputError(
            f"time was passed, but time_column={time_column!r} says that it is in X: give one of "
            "the two"
        )
    if time_column is not None:
        return _split_columns(logits, time_column, n_clocks, sequence_column)
    if time is None:
        raise InputError(
            "time is missing: pass time=, the time of each row; or set time_column to the column "
            "of X that holds it, for instance within scikit-learn's cross-validation, which passes "
            "no keywords to predict_proba"
        )
    n_rows = count_rows(logits, "logits")
    times = check_time(time, n_rows, clocks=n_clocks, keep_int64=True)
    _refuse_time_among_logits(logits, times)
    return TimedPredictions(logits, require_moderate(times))


def _split_columns(
    X: Any, time_column: TimeColumn, n_clocks: int, sequence_column: int | str | None
) -> TimedPredictions:
    columns: list[Any] = (
        list(time_column) if isinstance(time_column, tuple | list) else [time_column]
    )
    if len(columns) != n_clocks:
        raise InputError(
            f"time_column must name {n_clocks} column{'s' if n_clocks > 1 else ''}, but it is "
            f"{time_column!r}"
        )
    X = X if hasattr(X, "shape") else as_array(X, "X")
    if len(X.shape) != 2:
        raise InputError(
            f"X must have two dimensions to hold the time in column {time_column!r}, but its shape "
            f"is {X.shape}. Reshape your data"
        )
    if X.shape[1] == 0:
        raise InputError(
            f"X has 0 feature(s) (shape={tuple(X.shape)}) while a minimum of 1 is required."
        )
    indices = [_column_index(X, column) for column in columns]
    taken = list(indices)
    sequence = None
    if sequence_column is not None:
        index = _column_index(X, sequence_column, "sequence_column")
        if index in indices:
            raise InputError(
                f"time_column and sequence_column are the same column of X, {sequence_column!r}"
            )
        taken.append(index)
        sequence = _select_column(X, index)
    other_columns = [k for k in range(X.shape[1]) if k not in taken]
    if not other_columns:
        what = "time" if sequence_column is None else "time and sequences"
        raise InputError(
            f"X has {X.shape[1]} feature(s) (shape={tuple(X.shape)}), all of them {what}, while a "
            "minimum of 1 is required for the predictions"
        )
    parts = tuple(_select_column(X, index) for index in indices)
    column = parts if n_clocks == 2 else parts[0]
    times = check_time(column, X.shape[0], clocks=n_clocks, keep_int64=True)
    return TimedPredictions(_select_columns(X, other_columns), require_moderate(times), sequence)


def _column_index(X: Any, column: Any, name: str = "time_column") -> int:
    """Index of a column that is given by index or by name."""
    width = int(X.shape[1])
    if isinstance(column, str):
        names = [str(name) for name in getattr(X, "columns", [])]
        if not names:
            raise InputError(f"{name} is {column!r}, but X has no column names: give a position")
        if column not in names:
            raise InputError(f"{name} is {column!r}, but the columns of X are {names}")
        return names.index(column)
    if isinstance(column, bool) or not isinstance(column, int | np.integer):
        raise InputError(f"{name} must be a position or a name, but it is {column!r}")
    if not -width <= column < width:
        raise InputError(
            f"{name} is {column}, but X has {width} feature(s): it must be from {-width} to "
            f"{width - 1}"
        )
    return int(column) % width


def _select_column(X: Any, index: int) -> Any:
    """Select one column of an array or a data frame."""
    if hasattr(X, "iloc"):
        return X.iloc[:, index]
    if hasattr(X, "columns"):
        return X[X.columns[index]]
    return as_array(X, "X")[:, index]


def _select_columns(X: Any, indices: list[int]) -> Any:
    """Select columns of an array or a data frame, keeping their names."""
    if hasattr(X, "iloc"):
        return X.iloc[:, indices]
    if hasattr(X, "columns"):
        return X[[X.columns[index] for index in indices]]
    return as_array(X, "X")[:, indices]


def count_rows(values: Any, name: str) -> int:
    """Return the number of rows."""
    shape = getattr(values, "shape", None)
    if shape:
        return int(shape[0])
    if shape == () or not hasattr(values, "__len__"):
        raise InputError(
            f"{name} must be an array with an entry for each row, but a single one came: "
            f"{values!r:.80}. Reshape your data: one row is [...]"
        )
    return len(values)


def _refuse_time_among_logits(logits: Any, times: Times) -> None:
    """Refuse predictions if one of their columns equals the time."""
    if len(getattr(logits, "shape", ())) != 2 or logits.shape[1] < 2 or times.values.ndim != 1:
        return
    low, high = times.time_range or min_max(times.values)
    if low == high:
        return
    for index in range(logits.shape[1]):
        column = as_array(_select_column(logits, index), "logits")
        if column.dtype.kind in "fiu" and np.array_equal(column, times.values):
            raise InputError(
                f"column {index} of the predictions is the time itself: leave it out, or say "
                f"time_column={index} instead of time="
            )

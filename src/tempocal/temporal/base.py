"""What calibrators along time share once they are fitted: predictions, parameters, bands."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.check_rows import CheckedRows, check_rows, ensure_array_like
from tempocal.errors import InputError
from tempocal.inputs import (
    Inputs,
    TimeKind,
    Times,
    as_logits,
    check_time,
    require_same_kind,
)
from tempocal.links import Array, log_proba_from_logits
from tempocal.maps import (
    Band,
    Curves,
    ExponentialBasis,
    StepBand,
    TemporalMap,
    numbers_by_name,
    proba_of_map,
)
from tempocal.predictor.entries import TimeColumn
from tempocal.tables.column_roles import ColumnRoles
from tempocal.tables.labeled_table import LabeledTable, read_labeled_table
from tempocal.temporal.fit_along_time import TemporalFitResult
from tempocal.temporal.time_source import count_rows, extract_time

# Parameters that cannot be negative.
POSITIVE = ("inverse_temperature", "a", "b")
# Beyond it exp would overflow, or leave alpha no digits.
LARGEST_EXPONENT = 300.0


@dataclass(frozen=True)
class Interval:
    """Lower and upper ends of a band, one for each time.

    Attributes
    ----------
    lower, upper : ndarray
        The ends, of the shape of the parameter.
    level : float
        How often bands like this one hold the truth, on average over time.
    n_groups : int or None
        Groups that the band rests on; None if rows were taken as independent.
    """

    lower: Array
    upper: Array
    level: float
    n_groups: int | None

    def __str__(self) -> str:
        rests = (
            "rows taken as independent: no groups were given"
            if self.n_groups is None
            else f"over {self.n_groups} groups"
        )
        ends = ", ".join(
            f"[{low:.4g}, {high:.4g}]"
            for low, high in zip(np.ravel(self.lower), np.ravel(self.upper), strict=True)
        )
        return f"{self.level:.0%} interval ({rests}): {ends}"


class TemporalBase(Calibrator):
    """Base of the calibrators along time: everything but the fit."""

    time_column: TimeColumn | None
    map_: TemporalMap  # type: ignore[assignment]
    bands_: tuple[Band | StepBand, ...]
    time_kinds_: tuple[TimeKind, ...]

    def decision_function(self, logits: Any, time: Any = None) -> Array:
        """Calibrated logits: (n,) for two classes, else (n, K); see `Calibrator`."""
        return self._decide(self._calibrate(logits, time))

    def predict_log_proba(self, logits: Any, time: Any = None) -> Array:
        """Log-probability of each class, of shape (n, K), columns in the order of ``classes_``."""
        return log_proba_from_logits(self._calibrate(logits, time))

    def predict_proba(self, logits: Any, time: Any = None) -> Array:
        """Probability of each class, of shape (n, K), columns in the order of ``classes_``."""
        checked = self._scores_and_times(logits, time)
        return proba_of_map(self.map_, *checked)

    def predict(self, logits: Any, time: Any = None) -> NDArray[Any]:
        """Most probable class of each row."""
        return self._label(self._decide(self._calibrate(logits, time)))

    def score(self, logits: Any, y: Any, sample_weight: Any = None, time: Any = None) -> float:
        """Return the share of rows whose most probable class is the true one."""
        predicted = self.predict(logits, time)
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def parameters_at(self, time: ArrayLike) -> dict[str, Array]:
        """Return the parameters at some times.

        Parameters
        ----------
        time : array-like of shape (n,) or (n, 2)
            Times, of the kind that the fit had.

        Returns
        -------
        dict
            For each name an array whose first axis goes along ``time``: "inverse_temperature";
            "slope" and "bias"; "a", "b" and "c"; or "weights" and "bias".
        """
        check_is_fitted(self, "map_")
        return self.map_.parameters(self._check_times(time))

    def interval_at(self, time: ArrayLike, level: float = 0.95) -> dict[str, Interval]:
        """Return a band around each parameter, at some times.

        It is robust to rows of one group sharing a label. It does not know of choices made by
        looking at the data, as `AutoTemporalCalibrator` does.

        Parameters
        ----------
        time : array-like of shape (n,) or (n, 2)
            Times, of the kind that the fit had.
        level : float
            How often such bands hold the truth, on average over time.
        """
        check_is_fitted(self, "map_")
        if not isinstance(level, int | float) or not 0.0 < level < 1.0:
            raise InputError(f"level must lie between 0 and 1, but it is {level!r}")
        times = self._check_times(time)
        center = self.map_.parameters(times)
        deviations = [np.sqrt(np.maximum(band.variance(times), 0.0)) for band in self.bands_]
        assert isinstance(self.map_, Curves)
        spread = numbers_by_name(self.map_.form, deviations)
        n_groups = self._n_groups_that_count()
        times_deviation = _quantile(level, n_groups)
        return {
            name: _interval(center[name], times_deviation * spread[name], name, level, n_groups)
            for name in center
        }

    def _n_groups_that_count(self) -> int | None:
        """How many groups the bands rest on; those that have faded are fewer than there were."""
        n_groups = self.summary_.n_groups
        if n_groups is None or self._online_state is None:
            return n_groups
        share = float(self._online_state.class_weights.sum()) / self.summary_.total_weight
        return max(1, round(n_groups * min(share, 1.0)))

    @property
    def alpha_(self) -> Any:
        """How far the curve is below its limit at the origin of time."""
        return self._exponential().alpha

    @property
    def beta_(self) -> Any:
        """Rate of the decay."""
        return self._exponential().beta

    @property
    def gamma_(self) -> Any:
        """Limit of the curve."""
        return self._exponential().gamma

    @property
    def time_origin_(self) -> float:
        """Time from which the decay is counted."""
        return self._exponential().origin

    def _check_fit_input(
        self, logits: Any, y: Any, *, clocks: int, inputs: Inputs, classes: Any, **given: Any
    ) -> tuple[CheckedRows, Times]:
        """Check what a fit is given, and take the time from it."""
        timed = extract_time(logits, given.pop("time"), self.time_column, clocks)
        checked = check_rows(
            timed.logits, y, inputs=inputs, classes=classes, times=timed.times.values, **given
        )
        return checked, timed.times

    def _read_table(self, table: Any, classes: Any, **named: Any) -> LabeledTable:
        """Open a table and look at all of it."""
        if self.time_column is not None:
            raise InputError(
                f"time_column is {self.time_column!r}, but in a table time= names the column: "
                "leave time_column out"
            )
        return read_labeled_table(table, ColumnRoles.of(self.inputs, **named), classes)

    def _store_table_fit(self, fitted: TemporalFitResult, labelled: LabeledTable) -> None:
        """Store what was fitted to a table."""
        assert labelled.time_kind is not None
        self._set_n_features(labelled.n_columns)
        self._set_fitted(fitted, labelled.classes, (labelled.time_kind,))

    def _store_fit(
        self, fitted: TemporalFitResult, checked: CheckedRows, kinds: tuple[TimeKind, ...], X: Any
    ) -> None:
        """Store what was fitted, and what the columns of X were."""
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
        checked = self._scores_and_times(logits, time)
        return self.map_(*checked)

    def _scores_and_times(self, logits: Any, time: Any) -> tuple[Array, Array]:
        """Check logits that are to be calibrated, and their times."""
        check_is_fitted(self, "map_")
        if self.time_column is not None and len(getattr(logits, "shape", ())) == 2:
            self._check_feature_names(logits)
        timed = extract_time(logits, time, self.time_column, len(self.time_kinds_))
        require_same_kind(timed.times, self.time_kinds_)
        predictions = ensure_array_like(timed.logits, self.inputs)
        scores = as_logits(predictions, self.inputs, name=self.inputs)
        self._check_feature_names(
            predictions if self.time_column is None else ensure_array_like(logits, "X")
        )
        return scores, timed.times.values

    def _check_times(self, time: Any) -> Array:
        clocks = len(self.time_kinds_)
        n_rows = count_rows(time[0] if isinstance(time, tuple) and clocks == 2 else time, "time")
        times = check_time(time, n_rows, clocks=clocks)
        require_same_kind(times, self.time_kinds_)
        return times.values

    def _exponential(self) -> "_Decay":
        check_is_fitted(self, "map_")
        bases = self.map_.bases if isinstance(self.map_, Curves) else ()
        decays = [basis for basis in bases if isinstance(basis, ExponentialBasis)]
        if not decays:
            if "ExponentialDecay" in self.summary_.calibrator:
                raise AttributeError("all rows of the fit had the same time: there is no decay")
            raise AttributeError(
                f"alpha_, beta_, gamma_ and time_origin_ are those of an ExponentialDecay(), but "
                f"this is {self.summary_.calibrator}"
            )
        assert isinstance(self.map_, Curves)
        return _decay_of(decays, self.map_.tables, self.time_kinds_)


@dataclass(frozen=True)
class _Decay:
    """The numbers of an exponential in the user's units."""

    alpha: Any
    beta: Any
    gamma: Any
    origin: float


def _decay_of(
    bases: list[ExponentialBasis], tables: tuple[Array, ...], kinds: tuple[TimeKind, ...]
) -> _Decay:
    first = bases[0].first
    rates = np.array([basis.rate for basis in bases])
    # As in the paper, from time 0, as long as that leaves alpha its digits.
    from_zero = kinds == ("number",) and np.abs(rates * first).max() < LARGEST_EXPONENT
    origin = 0.0 if from_zero else first
    limits = np.stack([table[0] for table in tables])
    starts = np.stack([table[1] for table in tables])
    alphas = (limits - starts) * np.exp(rates * (first - origin))[:, None]
    return _Decay(_bare(alphas), _bare(rates), _bare(limits), origin)


def _bare(values: Array) -> Any:
    """Leave out the brackets around a single number."""
    squeezed = values[0] if len(values) == 1 else values
    return float(squeezed.item()) if squeezed.size == 1 else squeezed


def _quantile(level: float, n_groups: int | None) -> float:
    """How many standard deviations a band is wide, to either side."""
    degrees = np.inf if n_groups is None else max(n_groups - 1, 1)
    return float(student.ppf(0.5 + level / 2, degrees))


def _interval(
    center: Array, half: Array, name: str, level: float, n_groups: int | None
) -> Interval:
    lower = center - half
    if name in POSITIVE:
        lower = np.maximum(lower, 0.0)
    return Interval(lower, center + half, level, n_groups)

"""Base class of the calibrators along time: predictions, parameters, bands."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.fit_data import CheckedRows, check_rows, ensure_array_like
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
    AnyBand,
    Curves,
    ExponentialBasis,
    TemporalMap,
    proba_of_map,
)
from tempocal.predictor.document import TimeColumn
from tempocal.tables.column_roles import ColumnRoles
from tempocal.tables.labeled_table import LabeledTable, read_labeled_table
from tempocal.temporal.fit_along_time import TemporalFitResult
from tempocal.temporal.time_source import count_rows, extract_time

# Parameters that cannot be negative.
NONNEGATIVE = ("inverse_temperature", "a", "b")
# Beyond this, exp would overflow or alpha would lose all precision.
MAX_EXPONENT = 300.0


@dataclass(frozen=True)
class Interval:
    """Lower and upper bounds of a band, one pair for each time.

    Attributes
    ----------
    lower, upper : ndarray
        The bounds, of the shape of the parameter.
    level : float
        Nominal coverage, on average over time.
    n_groups : int or None
        Number of groups behind the band; None if rows were taken as independent.
    """

    lower: Array
    upper: Array
    level: float
    n_groups: int | None

    def __str__(self) -> str:
        source = (
            "rows taken as independent: no groups were given"
            if self.n_groups is None
            else f"over {self.n_groups} groups"
        )
        bounds = ", ".join(
            f"[{low:.4g}, {high:.4g}]"
            for low, high in zip(np.ravel(self.lower), np.ravel(self.upper), strict=True)
        )
        return f"{self.level:.0%} interval ({source}): {bounds}"


class TemporalBase(Calibrator, registered=False):
    """Base of the calibrators along time: everything except the fit."""

    time_column: TimeColumn | None
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
        quantile = _t_quantile(level, n_groups)
        return {
            name: _interval(center[name], quantile * deviation[name], name, level, n_groups)
            for name in center
        }

    def _n_effective_groups(self) -> int | None:
        """Count the groups behind the bands, discounted like the rows of earlier calls."""
        n_groups = self.summary_.n_groups
        if n_groups is None or self._online_state is None:
            return n_groups
        share = float(self._online_state.class_weights.sum()) / self.summary_.total_weight
        return max(1, round(n_groups * min(share, 1.0)))

    @property
    def alpha_(self) -> Any:
        """Distance of the curve below its limit at the time origin."""
        return self._decay().alpha

    @property
    def beta_(self) -> Any:
        """Rate of the decay."""
        return self._decay().beta

    @property
    def gamma_(self) -> Any:
        """Limit of the curve."""
        return self._decay().gamma

    @property
    def time_origin_(self) -> float:
        """Time origin of the decay."""
        return self._decay().origin

    def _check_fit_input(
        self, logits: Any, y: Any, *, n_clocks: int, inputs: Inputs, classes: Any, **given: Any
    ) -> tuple[CheckedRows, Times]:
        """Check the arguments of a fit, and extract the time."""
        timed = extract_time(logits, given.pop("time"), self.time_column, n_clocks)
        checked = check_rows(
            timed.logits, y, inputs=inputs, classes=classes, times=timed.times.values, **given
        )
        return checked, timed.times

    def _read_table(self, table: Any, classes: Any, **named: Any) -> LabeledTable:
        """Open a table and make the first pass over it."""
        if self.time_column is not None:
            raise InputError(
                f"time_column is {self.time_column!r}, but in a table time= names the column: "
                "leave time_column out"
            )
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
        timed = extract_time(logits, time, self.time_column, len(self.time_kinds_))
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

    def _decay(self) -> "_Decay":
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
        return _decay_parameters(decays, self.map_.tables, self.time_kinds_)


@dataclass(frozen=True)
class _Decay:
    """The parameters of an exponential in the user's units."""

    alpha: Any
    beta: Any
    gamma: Any
    origin: float


def _decay_parameters(
    bases: list[ExponentialBasis], tables: tuple[Array, ...], kinds: tuple[TimeKind, ...]
) -> _Decay:
    first = bases[0].first
    rates = np.array([basis.rate for basis in bases])
    # From time 0 as in the paper, unless alpha would lose its precision.
    from_zero = kinds == ("number",) and np.abs(rates * first).max() < MAX_EXPONENT
    origin = 0.0 if from_zero else first
    limits = np.stack([table[0] for table in tables])
    starts = np.stack([table[1] for table in tables])
    alphas = (limits - starts) * np.exp(rates * (first - origin))[:, None]
    return _Decay(_squeeze(alphas), _squeeze(rates), _squeeze(limits), origin)


def _squeeze(values: Array) -> Any:
    """Unwrap arrays of length 1."""
    squeezed = values[0] if len(values) == 1 else values
    return float(squeezed.item()) if squeezed.size == 1 else squeezed


def _t_quantile(level: float, n_groups: int | None) -> float:
    """Half width of the band in standard deviations: a Student t quantile."""
    degrees = np.inf if n_groups is None else max(n_groups - 1, 1)
    return float(student.ppf(0.5 + level / 2, degrees))


def _interval(
    center: Array, half_width: Array, name: str, level: float, n_groups: int | None
) -> Interval:
    lower = center - half_width
    if name in NONNEGATIVE:
        lower = np.maximum(lower, 0.0)
    return Interval(lower, center + half_width, level, n_groups)

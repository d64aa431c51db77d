"""A calibrator whose parameters follow a curve along time: section 3 of the paper."""

from dataclasses import replace
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tempocal.calibrators.base import Calibrator, require_hard_labels
from tempocal.calibrators.document import write_model
from tempocal.calibrators.fit_data import ensure_array_like
from tempocal.calibrators.from_table import prepare_table_fit, with_table_details
from tempocal.calibrators.online_state import (
    PartialFit,
    check_first_classes,
    check_keep,
    check_later_classes,
    check_later_groups,
    groups_of_soft_labels,
    mark_for_saving,
    require_online_state,
)
from tempocal.calibrators.parametric import ParametricCalibrator, Shrinkage
from tempocal.calibrators.table_needs import TableNeeds
from tempocal.calibrators.temperature import TemperatureScaling
from tempocal.curves.constant import Constant
from tempocal.curves.curve import Curve
from tempocal.curves.exponential import ExponentialDecay
from tempocal.errors import InputError
from tempocal.inputs import TimeKind, require_same_kind
from tempocal.predictor.document import TimeColumn
from tempocal.predictor.sequence_horizon import SequenceHorizon
from tempocal.tables.column_names import Names
from tempocal.temporal.base import TemporalBase
from tempocal.temporal.document import restore_along_time, to_document
from tempocal.temporal.fit_along_time import TemporalFitResult, one_blas_thread, with_shrinkage
from tempocal.temporal.horizon import Horizon, fit_at_horizon, later_rows
from tempocal.temporal.mistakes import hint_for
from tempocal.temporal.update import update_along_time


class TemporalCalibrator(TemporalBase, registered=False):
    """Let the parameters of a calibrator follow a curve along time.

    Parameters
    ----------
    calibrator : calibrator, default=None
        The calibrator to fit; None is ``TemperatureScaling()``. Its ``inputs`` and ``classes`` are
        used.
    curve : curve, default=None
        How its parameters change along time; None is ``ExponentialDecay()``. Calibrators without
        parameters (binning, isotonic regression) support only ``PerStep``.
    td_horizon : "auto" or float, default="auto"
        How far ahead a row learns from the forecasts that follow it, before the outcome takes
        over, as a share of a typical sequence. Infinity learns from outcomes only, as in the paper.
        "auto" is short with few sequences and long with many, and infinity where forecasts forget
        or contradict the outcomes; `summary` says what was taken and why. Needs ``sequence`` in
        `fit`; without it "auto" is infinity.
    shrinkage : "auto", float or pair of floats, default=None
        Strength of the penalty that shrinks the parameters towards the identity; None takes that of
        the calibrator. "auto" estimates it from the data, 0 is plain maximum likelihood as in the
        paper.
    time_column : int, str or pair of them, default=None
        Column of X that holds the time, for scikit-learn's cross-validation, which passes no
        keywords to `predict_proba`. None if time is passed as a keyword.
    sequence_column : int or str, default=None
        Column of X that holds the sequence ids, beside ``time_column``, for the same purpose.
        Predictions do not use it.

    Attributes
    ----------
    td_horizon_ : float
        The horizon that was taken.
    alpha_, beta_, gamma_, time_origin_
        Of an exponential: ``gamma_ - alpha_ * exp(-beta_ * (time - time_origin_))`` in the units of
        the user's time (seconds, for datetimes and timedeltas). The origin is 0, or the first time
        if alpha would overflow. With several parameters they are arrays, in the order of
        `parameters_at`; one-vs-rest calibrators have one row per class.
    classes_ : ndarray of shape (K,)
        The classes, in the order of the columns of `predict_proba`.

    Examples
    --------
    >>> import tempocal as tc
    >>> matches = tc.datasets.simulate_match(500)
    >>> cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline())
    >>> cal = cal.fit(matches.logits, matches.label, time=matches.time, groups=matches.sequence)
    >>> cal.predict_proba([2.0, 2.0], time=[0, 20]).round(2)[:, 1]
    array([0.66, 0.89])
    """

    def __init__(
        self,
        calibrator: Calibrator | None = None,
        curve: Curve | None = None,
        *,
        td_horizon: Horizon = "auto",
        shrinkage: Shrinkage | None = None,
        time_column: TimeColumn | None = None,
        sequence_column: int | str | None = None,
    ) -> None:
        self.calibrator = calibrator
        self.curve = curve
        self.td_horizon = td_horizon
        self.shrinkage = shrinkage
        self.time_column = time_column
        self.sequence_column = sequence_column

    td_horizon_: float
    # Horizon and typical sequence; None if the fit learned from outcomes only.
    _sequences: SequenceHorizon | None = None

    def fit(  # type: ignore[override]
        self,
        logits: Any,
        y: Any,
        *,
        time: Any = None,
        sequence: Any = None,
        order: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
        soft_label: bool = False,
    ) -> Self:
        """Fit to labeled predictions and their times.

        Parameters
        ----------
        logits : array-like of shape (n,), (n, 1) or (n, K)
            Output of the classifier; with ``time_column``, including the column of times.
        y : array-like of shape (n,)
            True classes, labels of any kind; with ``soft_label`` probabilities.
        time : array-like of shape (n,), or (n, 2) for a `Surface`
            Numbers, datetimes or timedeltas, in any order; any measure of progress.
        sequence : array-like of shape (n,), default=None
            Which rows follow each other: the id of the sequence of each row. With it rows learn
            from the forecasts that follow them, unless ``td_horizon`` is infinity.
        order : array-like of shape (n,), default=None
            What puts the rows of a sequence in order: numbers or times that differ within it. By
            default this is ``time``, in which the rows of a sequence must then lie already.
        groups : array-like of shape (n,), default=None
            What is independent: the sequences, or coarser clusters that hold whole ones. By default
            this is ``sequence``; without either, rows are taken as independent.
        sample_weight : array-like of shape (n,), default=None
            Weights; a weight of 2 is equivalent to repeating the row.
        soft_label : bool, default=False
            Whether ``y`` holds probabilities in place of classes, as in `TemperatureScaling.fit`.
            Where they vary within a sequence, rows learn from outcomes only.

        Returns
        -------
        self
        """
        given = {
            "time": time,
            "groups": groups,
            "sample_weight": sample_weight,
            "sequence": sequence,
            "order": order,
            "soft_label": soft_label,
        }
        return self._fit_rows_and_times(logits, y, self._calibrator_and_curve()[0].classes, given)

    @PartialFit
    def partial_fit(
        self,
        logits: Any,
        y: Any,
        *,
        time: Any = None,
        sequence: Any = None,
        order: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
        classes: Any = None,
        keep: float = 1.0,
        soft_label: bool = False,
    ) -> Self:
        """Update the fit with more rows, without the earlier ones.

        This works as `TemperatureScaling.partial_fit` does, and updates the bands as well. The
        rates of an exponential, the knots of a spline and the range of time are kept until the next
        `fit`; new steps of `PerStep` get their own coefficients.

        Parameters
        ----------
        logits, y, time, sequence, order
            As in `fit`. All rows of a sequence must come in one call. The first call chooses the
            horizon and the rows of a typical sequence, which later ones keep.
        groups, sample_weight, classes, keep, soft_label
            As in `TemperatureScaling.partial_fit`.

        Returns
        -------
        self

        Notes
        -----
        ``summary()`` counts all rows. Its NLL after calibration evaluates the rows of each call,
        except the first, with the model before that call.

        Examples
        --------
        >>> import tempocal as tc
        >>> m = tc.datasets.simulate_match(600)
        >>> cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.ExponentialDecay())
        >>> for day in range(3):  # 200 matches a day
        ...     d = m.sequence // 200 == day
        ...     cal = cal.partial_fit(
        ...         m.logits[d], m.label[d], time=m.time[d], groups=m.sequence[d], classes=[0, 1]
        ...     )
        >>> cal.summary().n_groups
        600
        """
        if groups is None and sequence is None and self.sequence_column is None:
            groups = groups_of_soft_labels(y, soft_label=soft_label)
        given = {
            "time": time,
            "groups": groups,
            "sample_weight": sample_weight,
            "sequence": sequence,
            "order": order,
            "soft_label": soft_label,
        }
        factor, (own, curve) = check_keep(keep), self._calibrator_and_curve()
        if not hasattr(self, "map_"):
            self._fit_rows_and_times(logits, y, check_first_classes(classes, own.classes), given)
            self._online_state = mark_for_saving(self._online_state)
            return self
        if self.time_column is not None:
            self._check_feature_names(ensure_array_like(logits, "X"))
        state = require_online_state(self._online_state).discounted(factor)
        check_later_classes(classes, self.classes_)
        checked, times = self._check_fit_input(
            logits,
            y,
            n_clocks=curve.n_clocks,
            inputs=own.inputs,
            classes=self.classes_,
            **given,
        )
        require_same_kind(times, self.time_kinds_)
        if self.time_column is None:
            self._check_feature_names(checked.logits)
        sequences = self._sequences
        data = later_rows(checked.data, sequences)
        check_later_groups(data.groups, self.summary_.n_groups)
        with one_blas_thread():
            updated = update_along_time(
                with_shrinkage(own, self.shrinkage),
                curve,
                state=state,
                fitted=self.map_,
                summary=self.summary_,
                data=data,
            )
        self._set_fitted(updated, self.classes_, self.time_kinds_)
        self._set_sequences(sequences)
        self._online_state = mark_for_saving(self._online_state)
        return self

    def _fit_rows_and_times(self, logits: Any, y: Any, classes: Any, given: dict[str, Any]) -> Self:
        calibrator, curve = self._calibrator_and_curve()
        require_hard_labels([calibrator], soft_label=given.get("soft_label", False))
        checked, times = self._check_fit_input(
            logits, y, n_clocks=curve.n_clocks, inputs=calibrator.inputs, classes=classes, **given
        )
        with one_blas_thread():
            fitted = fit_at_horizon(
                calibrator, curve, self.shrinkage, checked.data, self.td_horizon
            )
        self._store_fit(fitted, checked, times.kinds, logits)
        return self

    def fit_table(  # type: ignore[override]
        self,
        table: Any,
        *,
        label: Names,
        time: str,
        logits: Names | None = None,
        proba: Names | None = None,
        sequence: str | None = None,
        order: str | None = None,
        groups: str | None = None,
        sample_weight: str | None = None,
        exact: bool = True,
        soft_label: bool = False,
    ) -> Self:
        """Fit to labeled predictions in a table, without loading its rows into memory.

        The result is that of `fit` to the same rows; see `Calibrator.fit_table`. More than 2,048
        distinct times are binned into as many cells, as `fit` does with arrays.

        Parameters
        ----------
        table, label, logits, proba, sample_weight, exact, soft_label
            As in `Calibrator.fit_table`.
        time : str
            Column of the times: numbers, datetimes or durations.
        sequence, order, groups : str, default=None
            Columns of what `fit` takes under these names. Rows of a table have no order of their
            own: by default the time puts those of a sequence in order. Where it counts down, name
            a column that grows with ``order``.

        Returns
        -------
        self

        Examples
        --------
        >>> import polars as pl
        >>> import tempocal as tc
        >>> m = tc.datasets.simulate_match(500)
        >>> rows = pl.DataFrame({"z": m.logits, "won": m.label, "t": m.time, "id": m.sequence})
        >>> cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline())
        >>> cal = cal.fit_table(rows, logits="z", label="won", time="t", groups="id")
        >>> cal.parameters_at([0, 24])["inverse_temperature"].round(1)
        array([0.3, 1.1])
        """
        calibrator, curve = self._calibrator_and_curve()
        require_hard_labels([calibrator], soft_label=soft_label)
        labeled = self._read_table(
            table,
            calibrator.classes,
            logits=logits,
            proba=proba,
            label=label,
            time=time,
            sequence=sequence,
            order=order,
            groups=groups,
            sample_weight=sample_weight,
            soft_label=soft_label,
        )
        data = prepare_table_fit(labeled, self._table_needs(), exact=exact)
        with one_blas_thread():
            fitted = fit_at_horizon(calibrator, curve, self.shrinkage, data, self.td_horizon)
            coarse = None
            if not exact and fitted.horizon is not None:
                taken = fitted.horizon.horizon
                coarser = data.coarser()
                coarse = fit_at_horizon(calibrator, curve, self.shrinkage, coarser, taken).map
        summary = with_table_details(fitted.summary, data, fitted.map, coarse)
        self._store_table_fit(replace(fitted, summary=summary), labeled)
        return self

    def _set_fitted(
        self, fitted: TemporalFitResult, classes: NDArray[Any], kinds: tuple[TimeKind, ...]
    ) -> None:
        super()._set_fitted(fitted, classes, kinds)
        self._set_sequences(None if fitted.horizon is None else fitted.horizon.sequences)

    def _set_sequences(self, sequences: SequenceHorizon | None) -> None:
        self._sequences = sequences
        self.td_horizon_ = np.inf if sequences is None else sequences.td_horizon

    def _why_no_partial_fit(self) -> str | None:
        try:
            inner = self._calibrator_and_curve()[0]
        except InputError as error:
            return str(error)
        if isinstance(inner, ParametricCalibrator):
            return None
        return f"{type(inner).__name__} has no coefficients that new rows could update"

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted calibrator to a model file, to be read back by `tempocal.load`."""
        check_is_fitted(self, "map_")
        write_model(path, to_document(self), restore_along_time)

    @property
    def inputs(self) -> Any:  # type: ignore[override]
        """Whether the predictions are logits or probabilities, from the calibrator."""
        return self._calibrator_and_curve()[0].inputs

    def _table_needs(self) -> TableNeeds:
        calibrator, curve = self._calibrator_and_curve()
        inner = with_shrinkage(calibrator, self.shrinkage)._table_needs()
        return TableNeeds((curve,), inner.folds if isinstance(curve, Constant) else None)

    def _calibrator_and_curve(self) -> tuple[Calibrator, Curve]:
        calibrator = TemperatureScaling() if self.calibrator is None else self.calibrator
        curve = ExponentialDecay() if self.curve is None else self.curve
        if not isinstance(calibrator, Calibrator) or isinstance(calibrator, TemporalBase):
            raise InputError(
                "calibrator must be one such as TemperatureScaling(), but it is "
                f"{calibrator!r}{hint_for(calibrator, 'calibrator')}"
            )
        if not isinstance(curve, Curve):
            raise InputError(
                f"curve must be one such as Spline(), but it is {curve!r}{hint_for(curve, 'curve')}"
            )
        if "__dataclass_params__" not in vars(type(curve)):
            raise InputError(
                f"{type(curve).__name__} must be a dataclass, whose fields are its settings: put "
                "@dataclass(frozen=True) in front of it"
            )
        return calibrator, curve

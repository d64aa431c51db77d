"""A calibrator whose parameters follow a curve along time: section 3 of the paper."""

from dataclasses import replace
from os import PathLike
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from tempocal.calibrators import TemperatureScaling
from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.from_table import Needs, of_table, table_training
from tempocal.calibrators.shrinkage import Shrinkage
from tempocal.curves import Constant, Curve, ExponentialDecay
from tempocal.errors import InputError
from tempocal.fitted.entries import TimeColumn
from tempocal.tables.names import Names
from tempocal.temporal.blas import one_blas_thread
from tempocal.temporal.document import save
from tempocal.temporal.fitting import fit_along_time, with_shrinkage
from tempocal.temporal.timed import TimedCalibrator


class TemporalCalibrator(TimedCalibrator):
    """Let the parameters of a calibrator follow a curve along time.

    Parameters
    ----------
    calibrator : calibrator, default=None
        What is fitted; None is ``TemperatureScaling()``. It says whether predictions are logits or
        probabilities, and which classes there are.
    curve : curve, default=None
        How its parameters may change; None is ``ExponentialDecay()``. Calibrators without
        parameters (binning, isotonic regression) go with ``PerStep`` only.
    shrinkage : "auto", float or pair of floats, default=None
        Pull of the parameters towards doing nothing; None takes that of the calibrator. "auto" is
        a strength from the data, 0 plain maximum likelihood as in the paper.
    time_column : int, str or pair of them, default=None
        Which column of X holds the time, for scikit-learn's cross-validation, which passes no
        keywords to `predict_proba`. None: time is passed as a keyword.

    Attributes
    ----------
    alpha_, beta_, gamma_, time_origin_
        Of an exponential: ``gamma_ - alpha_ * exp(-beta_ * (time - time_origin_))`` in the units of
        the user's time (seconds, for datetimes and timedeltas). The origin is 0, or where that
        would make alpha infinite the first time. With several parameters they are arrays, in the
        order of `parameters_at`; one against the rest, with a row for each class.
    classes_ : ndarray of shape (K,)
        The classes, in the order of the columns of `predict_proba`.

    Examples
    --------
    >>> import tempocal as tc
    >>> matches = tc.datasets.simulate_match(500)
    >>> cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline())
    >>> cal = cal.fit(matches.logits, matches.label, time=matches.time, groups=matches.sequence)
    >>> cal.predict_proba([2.0, 2.0], time=[0, 20]).round(2)[:, 1]
    array([0.65, 0.88])
    """

    def __init__(
        self,
        calibrator: Calibrator | None = None,
        curve: Curve | None = None,
        *,
        shrinkage: Shrinkage | None = None,
        time_column: TimeColumn | None = None,
    ) -> None:
        self.calibrator = calibrator
        self.curve = curve
        self.shrinkage = shrinkage
        self.time_column = time_column

    def fit(  # type: ignore[override]
        self,
        logits: Any,
        y: Any,
        *,
        time: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Fit to labelled predictions and their times.

        Parameters
        ----------
        logits : array-like of shape (n,), (n, 1) or (n, K)
            What the classifier gave; with ``time_column``, and the times among its columns.
        y : array-like of shape (n,)
            True classes, labels of any kind.
        time : array-like of shape (n,), or (n, 2) for a `Surface`
            Numbers, datetimes or timedeltas, in any order; any measure of progress.
        groups : array-like of shape (n,), default=None
            Sequence, or coarser cluster, that each row belongs to. Without it rows are taken as
            independent.
        sample_weight : array-like of shape (n,), default=None
            Weights; a weight of 2 is the same as the row twice.

        Returns
        -------
        self
        """
        calibrator, curve = self._parts()
        checked, times = self._checked(
            logits,
            y,
            clocks=curve.n_clocks,
            inputs=calibrator.inputs,
            classes=calibrator.classes,
            time=time,
            groups=groups,
            sample_weight=sample_weight,
        )
        with one_blas_thread():
            fitted = fit_along_time(calibrator, curve, self.shrinkage, checked.training)
        self._keep(fitted, checked, times.kinds, logits)
        return self

    def fit_table(  # type: ignore[override]
        self,
        table: Any,
        *,
        label: str,
        time: str,
        logits: Names | None = None,
        proba: Names | None = None,
        groups: str | None = None,
        sample_weight: str | None = None,
        exact: bool = True,
    ) -> Self:
        """Fit to labelled predictions in a table, without moving its rows.

        The answer is that of `fit` to the same rows; see `Calibrator.fit_table`. More than 2,048
        distinct times are put into as many cells in the table, as `fit` does with arrays.

        Parameters
        ----------
        table, label, logits, proba, groups, sample_weight, exact
            As in `Calibrator.fit_table`.
        time : str
            Column of the times: numbers, datetimes or durations.

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
        calibrator, curve = self._parts()
        labelled = self._read(
            table,
            calibrator.classes,
            logits=logits,
            proba=proba,
            label=label,
            time=time,
            groups=groups,
            sample_weight=sample_weight,
        )
        training = table_training(labelled, self._needs(), exact=exact)
        with one_blas_thread():
            fitted = fit_along_time(calibrator, curve, self.shrinkage, training)
            rough = None
            if not exact:
                rough = fit_along_time(calibrator, curve, self.shrinkage, training.rougher()).map
        summary = of_table(fitted.summary, training, fitted.map, rough)
        self._keep_of_table(replace(fitted, summary=summary), labelled)
        return self

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted calibrator to a model file, to be read back by `tempocal.load`."""
        check_is_fitted(self, "map_")
        save(self, path)

    @property
    def inputs(self) -> Any:  # type: ignore[override]
        """What the predictions are, as the calibrator says."""
        return self._parts()[0].inputs

    def _needs(self) -> Needs:
        calibrator, curve = self._parts()
        inner = with_shrinkage(calibrator, self.shrinkage)._needs()
        return Needs((curve,), inner.folds if isinstance(curve, Constant) else None)

    def _parts(self) -> tuple[Calibrator, Curve]:
        calibrator = TemperatureScaling() if self.calibrator is None else self.calibrator
        curve = ExponentialDecay() if self.curve is None else self.curve
        if not isinstance(calibrator, Calibrator) or isinstance(calibrator, TimedCalibrator):
            raise InputError(
                f"calibrator must be one such as TemperatureScaling(), but it is {calibrator!r}"
            )
        if not isinstance(curve, Curve):
            raise InputError(f"curve must be one such as Spline(), but it is {curve!r}")
        return calibrator, curve

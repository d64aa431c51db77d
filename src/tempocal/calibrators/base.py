"""Base class of the calibrators: a scikit-learn classifier."""

from collections.abc import Iterable
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tempocal.calibrators.document import CALIBRATORS, restore, to_document, write_model
from tempocal.calibrators.fit_data import FitData, FitResult, check_rows, ensure_array_like
from tempocal.calibrators.online_state import OnlineState, PartialFit
from tempocal.calibrators.summary import Summary
from tempocal.calibrators.table_needs import TableNeeds
from tempocal.errors import InputError
from tempocal.export import Exports
from tempocal.inputs import Inputs, as_logits, check_flag
from tempocal.links import Array, log_proba_from_logits, one_column
from tempocal.maps import FittedMap, proba_at_once, proba_of_map
from tempocal.predictor import Predictor
from tempocal.tables import InTables
from tempocal.tables.column_names import Names
from tempocal.tables.column_roles import ColumnRoles


class Calibrator(InTables, Exports, ClassifierMixin, BaseEstimator):
    """Base of the calibrators: checks its input, fits a map, predicts with it.

    A subclass needs a constructor that stores its arguments, including ``inputs`` and ``classes``,
    and `_fit_map`, which fits a map to checked rows. Model files name it by its class; one
    that is a base itself says ``registered=False``.
    """

    inputs: Inputs
    classes: ArrayLike | None
    classes_: NDArray[Any]
    map_: FittedMap
    summary_: Summary
    n_features_in_: int
    _online_state: OnlineState | None = None
    _takes_soft_labels: ClassVar[bool] = False
    partial_fit: Any = PartialFit()

    def __init_subclass__(cls, *, registered: bool = True, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if registered:
            CALIBRATORS.add(cls)

    def fit(
        self,
        logits: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        soft_label: bool = False,
    ) -> Self:
        """Fit to labeled predictions.

        Parameters
        ----------
        logits : array-like of shape (n,), (n, 1) or (n, K)
            Output of the classifier: logits, or probabilities with ``inputs="proba"``.
        y : array-like of shape (n,)
            True classes, labels of any kind; with ``soft_label`` probabilities.
        sample_weight : array-like of shape (n,), default=None
            Weights; a weight of 2 is equivalent to repeating the row.
        groups : array-like of shape (n,), default=None
            Sequence, or coarser cluster, that each row belongs to. Without it rows are taken as
            independent.
        soft_label : bool, default=False
            Whether ``y`` holds probabilities in place of classes, such as k / n where k of n
            rollouts succeeded: floats of shape (n,), for the second of two classes, or (n, K), in
            the order of ``classes``, by default 0, 1, ..., K - 1. The loss of a row is its
            cross-entropy. For calibrators with coefficients.

        Returns
        -------
        self
        """
        return self._fit_rows(logits, y, sample_weight, groups, self.classes, soft_label=soft_label)

    def fit_table(
        self,
        table: Any,
        *,
        label: Names,
        logits: Names | None = None,
        proba: Names | None = None,
        groups: str | None = None,
        sample_weight: str | None = None,
        exact: bool = True,
        soft_label: bool = False,
    ) -> Self:
        """Fit to labeled predictions in a table, without loading its rows into memory.

        The result is that of `fit` to the same rows. Rows are first counted in bins; the fit to the
        counts is then corrected by a few exact passes over all rows. Calibrators without
        coefficients (binning, isotonic regression) are fitted to counts in 65,536 bins of the
        log-odds.

        Parameters
        ----------
        table : table or path
            A pandas, Polars (eager or lazy), pyarrow, DuckDB, Spark or Ibis table; or the path or
            glob pattern of Parquet or CSV files, which are opened by DuckDB.
        label : str or list of str
            Column of the true classes; with ``soft_label`` of their probabilities: one, of the
            second class, or one for each class.
        logits, proba : str or list of str
            Columns of the predictions, in the order of the classes; ``logits`` or ``proba``,
            depending on ``inputs``.
        groups, sample_weight : str, default=None
            Columns of sequence ids and of weights, as in `fit`.
        exact : bool, default=True
            Whether to iterate over all rows until convergence. If not, the fit to the counts is
            kept, and ``summary()`` reports how far off it may be.
        soft_label : bool, default=False
            Whether ``label`` names probabilities in place of classes, as in `fit`.

        Returns
        -------
        self

        Examples
        --------
        >>> import polars as pl
        >>> import tempocal as tc
        >>> m = tc.datasets.simulate_match(500)
        >>> rows = pl.DataFrame({"z": m.logits, "won": m.label, "match": m.sequence})
        >>> cal = tc.TemperatureScaling().fit_table(rows, logits="z", label="won", groups="match")
        >>> round(cal.temperature_, 2)
        1.4
        """
        from tempocal.calibrators.from_table import prepare_table_fit, with_table_details  # noqa: PLC0415
        from tempocal.tables.labeled_table import read_labeled_table  # noqa: PLC0415

        require_hard_labels([self], soft_label=soft_label)
        roles = ColumnRoles.of(
            self.inputs,
            logits=logits,
            proba=proba,
            label=label,
            time=None,
            groups=groups,
            sample_weight=sample_weight,
            soft_label=soft_label,
        )
        labeled = read_labeled_table(table, roles, self.classes)
        data = prepare_table_fit(labeled, self._table_needs(), exact=exact)
        result = self._fit_map(data)
        self._set_n_features(labeled.n_columns)
        self.classes_ = labeled.classes
        self.map_ = result.map
        self._online_state = result.online_state
        coarse = None if exact else self._fit_map(data.coarser()).map
        self.summary_ = with_table_details(self._summarize(data, result), data, result.map, coarse)
        return self

    def decision_function(self, logits: Any) -> Array:
        """Calibrated logits: (n,) for two classes, else (n, K).

        Their sigmoid or softmax gives the probabilities. Logits keep the ranking where
        probabilities round to 1.
        """
        return self._to_decision(self._calibrate(logits))

    def predict_log_proba(self, logits: Any) -> Array:
        """Log-probability of each class, of shape (n, K), columns in the order of ``classes_``."""
        return log_proba_from_logits(self._calibrate(logits))

    def predict_proba(self, logits: Any) -> Array:
        """Probability of each class, of shape (n, K), columns in the order of ``classes_``."""
        check_is_fitted(self, "map_")
        logits = ensure_array_like(logits, self.inputs)
        if self.inputs == "logits":
            proba = proba_at_once(self.map_, logits, self.n_features_in_)
            if proba is not None:
                self._check_feature_names(logits)
                return proba
        return proba_of_map(self.map_, self._check_logits(logits))

    def predict(self, logits: Any) -> NDArray[Any]:
        """Most probable class of each row."""
        return self._to_labels(self._to_decision(self._calibrate(logits)))

    def summary(self) -> Summary:
        """Summarize the fit: NLL before and after, rows, groups, strengths."""
        check_is_fitted(self, "map_")
        return self.summary_

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted calibrator to a model file, to be read back by `tempocal.load`."""
        check_is_fitted(self, "map_")
        write_model(path, to_document(self), restore)

    def _why_no_partial_fit(self) -> str | None:
        """Return why there is no ``partial_fit``; None if there is one."""
        return "it has no coefficients that new rows could update"

    def _fit_rows(
        self,
        logits: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        classes: Any,
        *,
        soft_label: bool = False,
    ) -> Self:
        require_hard_labels([self], soft_label=soft_label)
        checked = check_rows(
            logits,
            y,
            sample_weight=sample_weight,
            groups=groups,
            inputs=self.inputs,
            classes=classes,
            soft_label=soft_label,
        )
        result = self._fit_map(checked.data)
        # Attributes are set only after the fit succeeded.
        self._set_feature_names(checked.logits)
        self.classes_ = checked.classes
        self.map_ = result.map
        self.summary_ = self._summarize(checked.data, result)
        self._online_state = result.online_state
        return self

    def _predictor(self) -> Predictor:
        """Return the part that predicts, without scikit-learn."""
        check_is_fitted(self, "map_")
        kinds = getattr(self, "time_kinds_", ())
        n_others = 0 if getattr(self, "time_column", None) is None else len(kinds)
        n_others += getattr(self, "sequence_column", None) is not None
        name, columns = self.summary_.calibrator, self.n_features_in_ - n_others
        return Predictor(name, self.classes_, self.inputs, columns, self.map_, kinds)

    def _table_needs(self) -> TableNeeds:
        """Return what a fit to a table needs to compute first."""
        return TableNeeds()

    def _fit_map(self, data: FitData) -> FitResult:
        raise TypeError(f"{type(self).__name__} does not say how it is fitted")

    def _calibrate(self, logits: Any) -> Array:
        checked = self._check_logits(logits)
        return self.map_(checked)

    def _check_logits(self, logits: Any) -> Array:
        check_is_fitted(self, "map_")
        logits = ensure_array_like(logits, self.inputs)
        checked = as_logits(logits, self.inputs, name=self.inputs)
        self._check_feature_names(logits)
        return checked

    def _to_decision(self, calibrated: Array) -> Array:
        return one_column(calibrated) if len(self.classes_) == 2 else calibrated

    def _to_labels(self, decision: Array) -> NDArray[Any]:
        codes = (decision > 0).astype(np.intp) if decision.ndim == 1 else decision.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def _set_feature_names(self, logits: Any) -> None:
        self._set_n_features(1)
        if len(logits.shape) == 2:
            validate_data(self, logits, skip_check_array=True)

    def _set_n_features(self, columns: int) -> None:
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.n_features_in_ = columns

    def _check_feature_names(self, logits: Any) -> None:
        if len(logits.shape) == 2:
            try:
                validate_data(self, logits, reset=False, skip_check_array=True)
            except ValueError as error:
                raise InputError(f"{self.inputs} are not those of the fit: {error}") from error
        elif self.n_features_in_ != 1:
            raise InputError(
                f"{self.inputs} must have {self.n_features_in_} columns as in the fit, but they "
                "are one-dimensional. Reshape your data: a single row is [[...]]"
            )

    def _summarize(self, data: FitData, result: FitResult) -> Summary:
        before, after = result.nll_before, result.nll_after
        if before is None or after is None:
            before, after = data.nll_before_and_after(result.map)
        return Summary(
            calibrator=type(self).__name__,
            n_rows=data.n_given_rows,
            total_weight=data.total_weight,
            n_groups=None if data.groups is None else data.groups.count,
            effective_number=(
                None if result.design_effect is None else data.total_weight / result.design_effect
            ),
            nll_before=before,
            nll_after=after,
            details=result.details,
        )


def require_hard_labels(calibrators: Iterable[Calibrator], *, soft_label: bool) -> None:
    """Refuse soft labels if one of the calibrators learns from classes only."""
    if not check_flag(soft_label, "soft_label"):
        return
    for each in calibrators:
        if not each._takes_soft_labels:
            raise InputError(
                f"soft_label=True is for calibrators with coefficients, such as "
                f"TemperatureScaling(), but {type(each).__name__} has none: it learns from classes"
            )

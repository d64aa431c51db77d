"""The scikit-learn classifier that every calibrator is."""

from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tempocal.calibrators.checking import check_rows, with_shape
from tempocal.calibrators.document import save
from tempocal.calibrators.summary import Summary
from tempocal.calibrators.training import Fitted, Training
from tempocal.errors import InputError
from tempocal.fitted import FittedModel
from tempocal.inputs import Inputs, check_scores
from tempocal.links import Array, log_proba_from_logits, proba_from_logits
from tempocal.maps import FittedMap, one_column
from tempocal.tables import InTables


class Calibrator(InTables, ClassifierMixin, BaseEstimator):
    """Base of the calibrators: checks its input, fits a map, predicts with it.

    A subclass has a constructor that stores its arguments, among them ``inputs`` and ``classes``,
    and `_fit_map`, which turns checked rows into a map.
    """

    inputs: Inputs
    classes: ArrayLike | None
    classes_: NDArray[Any]
    map_: FittedMap
    summary_: Summary
    n_features_in_: int

    def fit(self, logits: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit to labelled predictions.

        Parameters
        ----------
        logits : array-like of shape (n,), (n, 1) or (n, K)
            What the classifier gave: logits, or probabilities with ``inputs="proba"``.
        y : array-like of shape (n,)
            True classes, labels of any kind.
        sample_weight : array-like of shape (n,), default=None
            Weights; a weight of 2 is the same as the row twice.
        groups : array-like of shape (n,), default=None
            Sequence, or coarser cluster, that each row belongs to. Without it rows are taken as
            independent.

        Returns
        -------
        self
        """
        checked = check_rows(
            logits,
            y,
            sample_weight=sample_weight,
            groups=groups,
            inputs=self.inputs,
            classes=self.classes,
        )
        training = checked.training
        fitted = self._fit_map(training)
        # Nothing is kept of a fit that failed.
        self._remember_columns(checked.logits)
        self.classes_ = checked.classes
        self.map_ = fitted.map
        self.summary_ = self._summarize(training, fitted)
        return self

    def decision_function(self, logits: Any) -> Array:
        """Calibrated logits: (n,) for two classes, else (n, K).

        Their sigmoid or softmax are the probabilities. They keep the ranks that probabilities
        lose where they round to 1.
        """
        return self._decide(self._calibrate(logits))

    def predict_log_proba(self, logits: Any) -> Array:
        """Log-probability of each class, of shape (n, K), columns in the order of ``classes_``."""
        return log_proba_from_logits(self._calibrate(logits))

    def predict_proba(self, logits: Any) -> Array:
        """Probability of each class, of shape (n, K), columns in the order of ``classes_``."""
        return proba_from_logits(self._calibrate(logits))

    def predict(self, logits: Any) -> NDArray[Any]:
        """Most probable class of each row."""
        return self._label(self._decide(self._calibrate(logits)))

    def summary(self) -> Summary:
        """Tell what the fit did: NLL before and after, rows, groups, strengths."""
        check_is_fitted(self, "map_")
        return self.summary_

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted calibrator to a model file, to be read back by `tempocal.load`."""
        check_is_fitted(self, "map_")
        save(self, path)

    def _fitted_model(self) -> FittedModel:
        """Return what is needed to predict, and no more."""
        check_is_fitted(self, "map_")
        kinds = getattr(self, "time_kinds_", ())
        among = 0 if getattr(self, "time_column", None) is None else len(kinds)
        name, columns = self.summary_.calibrator, self.n_features_in_ - among
        return FittedModel(name, self.classes_, self.inputs, columns, self.map_, kinds)

    def _fit_map(self, training: Training) -> Fitted:
        raise TypeError(f"{type(self).__name__} does not say how it is fitted")

    def _calibrate(self, logits: Any) -> Array:
        scores = self._check(logits)
        return self.map_(scores)

    def _check(self, logits: Any) -> Array:
        """Check logits that are to be calibrated."""
        check_is_fitted(self, "map_")
        logits = with_shape(logits, self.inputs)
        scores = check_scores(logits, self.inputs, name=self.inputs)
        self._compare_columns(logits)
        return scores

    def _decide(self, calibrated: Array) -> Array:
        return one_column(calibrated) if len(self.classes_) == 2 else calibrated

    def _label(self, decision: Array) -> NDArray[Any]:
        codes = (decision > 0).astype(np.intp) if decision.ndim == 1 else decision.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def _remember_columns(self, logits: Any) -> None:
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if len(logits.shape) == 2:
            validate_data(self, logits, skip_check_array=True)
        else:
            self.n_features_in_ = 1

    def _compare_columns(self, logits: Any) -> None:
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

    def _summarize(self, training: Training, fitted: Fitted) -> Summary:
        before, after = fitted.nll_before, fitted.nll_after
        return Summary(
            calibrator=type(self).__name__,
            n_rows=len(training.labels),
            total_weight=training.total_weight,
            n_groups=None if training.groups is None else training.groups.count,
            effective_number=(
                None
                if fitted.design_effect is None
                else training.total_weight / fitted.design_effect
            ),
            nll_before=training.nll() if before is None else before,
            nll_after=training.nll(fitted.map) if after is None else after,
            details=fitted.details,
        )

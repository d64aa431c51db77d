"""A model that turns any X into logits, for checks whose X are none."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data


class Centroids(ClassifierMixin, BaseEstimator):
    """A model that turns any X into K logits, and a calibrator behind it."""

    def __init__(self, calibrator=None):
        self.calibrator = calibrator

    def fit(self, X, y, sample_weight=None):
        X, y = validate_data(self, X, y)
        weights = _check_sample_weight(sample_weight, X)
        counted = weights > 0
        if not counted.any():
            raise ValueError("sample_weight is zero everywhere")
        self.classes_ = np.unique(y[counted])
        if len(self.classes_) < 2:
            raise ValueError("one class only")
        self.centers_ = np.array(
            [np.average(X[y == k], axis=0, weights=weights[y == k]) for k in self.classes_]
        )
        self.calibrator_ = self._told_of_classes(clone(self.calibrator))
        self.calibrator_.fit(self.logits(X[counted]), y[counted], sample_weight=weights[counted])
        return self

    def _told_of_classes(self, calibrator):
        return calibrator.set_params(classes=self.classes_)

    def logits(self, X):
        distances = ((X[:, None, :] - self.centers_) ** 2).mean(axis=2)
        return -distances

    def _calibrated(self, X, method):
        check_is_fitted(self)
        logits = self.logits(validate_data(self, X, reset=False))
        return getattr(self.calibrator_, method)(logits)

    def predict(self, X):
        return self._calibrated(X, "predict")

    def predict_proba(self, X):
        return self._calibrated(X, "predict_proba")

    def predict_log_proba(self, X):
        return self._calibrated(X, "predict_log_proba")

    def decision_function(self, X):
        return self._calibrated(X, "decision_function")

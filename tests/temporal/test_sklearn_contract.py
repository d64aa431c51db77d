"""A calibrator along time is a scikit-learn classifier, with time among the columns of X.

Checks whose X has, beside the time, another number of columns than y has classes must fail: such X
are not logits. Behind a model that turns any X into logits and a time, every check passes.
"""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import tempocal as tc
from support.centroids import Centroids

# Checks that draw labels at random have logits that say nothing, or the reverse of the truth.
pytestmark = pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")

MATCHES = tc.datasets.simulate_match(80, wins=5)
X = np.stack([MATCHES.logits, MATCHES.time], axis=1)
Y, G = MATCHES.label, MATCHES.sequence

# The last column is the time; the rest would have to be logits.
NOT_LOGITS = {
    "check_array_api_input": "two classes, nine columns and the time",
    "check_classifiers_classes": "three classes, one column and the time",
    "check_classifiers_train": "features, not logits: they cannot be accurate as they are",
    "check_complex_data": "one column, which is the time",
    "check_dict_unchanged": "three classes, two columns and the time",
    "check_dont_overwrite_parameters": "three classes, two columns and the time",
    "check_dtype_object": "four classes, nine columns and the time",
    "check_estimators_dtypes": "two classes, four columns and the time",
    "check_estimators_fit_returns_self": "three classes, one column and the time",
    "check_estimators_nan_inf": "an infinite logit is a prediction, a certain one",
    "check_estimators_overwrite_params": "three classes, one column and the time",
    "check_f_contiguous_array_estimator": "three classes, two columns and the time",
    "check_fit2d_predict1d": "three classes, two columns and the time",
    "check_fit_score_takes_y": "three classes, two columns and the time",
    "check_methods_sample_order_invariance": "three classes, two columns and the time",
    "check_methods_subset_invariance": "three classes, two columns and the time",
    "check_readonly_memmap_input": "three classes, one column and the time",
    "check_sample_weight_equivalence_on_dense_data": "three classes, 29 columns and the time",
    "check_sample_weights_list": "three classes, two columns and the time",
    "check_supervised_y_2d": "three classes, two columns and the time",
}


def combinations():
    return [
        tc.TemporalCalibrator(
            tc.TemperatureScaling(shrinkage=1.0), tc.ExponentialDecay(), time_column=-1
        ),
        tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline(intervals=3), time_column=-1),
        tc.TemporalCalibrator(tc.TemperatureScaling(), tc.RandomWalk(), time_column=-1),
        tc.TemporalCalibrator(tc.IsotonicCalibration(), tc.PerStep(bins=2), time_column=-1),
    ]


class TimedCentroids(Centroids):
    """The same model, which also tells a time."""

    def _told_of_classes(self, calibrator):
        return calibrator.set_params(calibrator__classes=self.classes_)

    def logits(self, X):
        return np.column_stack([super().logits(X), X[:, 0].round(1)])


IN_PARTS = {"check_estimators_partial_fit_n_features": "three classes, one column and the time"}

# What scikit-learn 1.6 checks of every classifier, whatever its tags say.
BEFORE_1_7 = {
    "check_sample_weight_equivalence_on_sparse_data": "sparse matrices are refused",
    "check_n_features_in_after_fitting": "two classes, three columns and the time",
}
IS_BEFORE_1_7 = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 7)


def expected_failures(estimator):
    """Return those of calibrators that learn from parts, and of those that do not."""
    in_parts = IN_PARTS if hasattr(estimator, "partial_fit") else {}
    return {**NOT_LOGITS, **in_parts, **(BEFORE_1_7 if IS_BEFORE_1_7 else {})}


@parametrize_with_checks(combinations()[::3], expected_failed_checks=expected_failures)
def test_checks_on_logits(estimator, check):
    check(estimator)


@parametrize_with_checks([TimedCentroids(one) for one in combinations()])
def test_checks_behind_a_model(estimator, check):
    check(estimator)


def test_no_more_checks_fail_than_have_to():
    checks = [check for _, check in estimator_checks_generator(combinations()[0])]
    names = [getattr(check, "func", check).__name__ for check in checks]
    newer = 0 if IS_BEFORE_1_7 else 1  # check_array_api_input
    assert sum(name in NOT_LOGITS for name in names) == 21 + newer
    assert set(NOT_LOGITS) <= {*names, "check_array_api_input"}


class TestCrossValidation:
    @pytest.mark.parametrize("which", range(4))
    def test_works_with_the_column(self, which):
        cal = make_pipeline(combinations()[which])
        scores = cross_val_score(
            cal, X, Y, groups=G, cv=GroupKFold(3), scoring="neg_log_loss", error_score="raise"
        )
        assert np.isfinite(scores).all()

    def test_predicts_what_a_fit_without_the_fold_would(self):
        cal = combinations()[1]
        folds = list(GroupKFold(3).split(X, Y, G))
        found = cross_val_predict(cal, X, Y, cv=folds, method="predict_proba")
        train, test = folds[1]
        alone = clone(cal).fit(X[train], Y[train]).predict_proba(X[test])
        np.testing.assert_array_equal(found[test], alone)

    def test_searches_over_curves_and_settings(self):
        search = GridSearchCV(
            tc.TemporalCalibrator(tc.PlattScaling(), time_column=-1),
            {
                "curve": [tc.Constant(), tc.Spline(3), tc.ExponentialDecay()],
                "calibrator__shrinkage": ["auto", 1.0],
            },
            scoring="neg_log_loss",
            cv=GroupKFold(3),
            error_score="raise",
        )
        search.fit(X, Y, groups=G)
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()
        assert search.best_params_["curve"] != tc.Constant()
        assert search.predict_proba(X).shape == (len(Y), 2)

    def test_says_in_words_why_it_does_not_work_with_the_keyword(self):
        cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline(3))
        with pytest.raises(tc.errors.InputError, match="set time_column to the column of X"):
            cross_val_score(cal, X[:, :1], Y, scoring="neg_log_loss", error_score="raise")
        # With params= the fits have their time, but scorers have none to give.
        with pytest.raises(
            tc.errors.InputError, match="cross-validation, which passes no keywords"
        ):
            cross_val_score(
                cal,
                X[:, :1],
                Y,
                scoring="neg_log_loss",
                error_score="raise",
                params={"time": X[:, 1]},
            )

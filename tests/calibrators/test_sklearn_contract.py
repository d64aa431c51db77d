"""Every calibrator is a scikit-learn classifier, as far as logits can be.

Checks whose X has another number of columns than y has classes must fail: such X are not logits.
Behind a model that turns any X into logits, every check passes.
"""

import numpy as np
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import tempocal as tc
from support.calibrators import ALL, simulate
from support.centroids import Centroids

# Checks that draw labels at random have logits that say nothing, or the reverse of the truth.
pytestmark = pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")

NOT_LOGITS = {
    "check_array_api_input": "two classes, ten columns",
    "check_classifiers_classes": "three classes, two columns",
    "check_classifiers_train": "two classes, three columns",
    "check_dtype_object": "four classes, ten columns",
    "check_estimators_dtypes": "two classes, five columns",
    "check_estimators_fit_returns_self": "three classes, two columns",
    "check_estimators_nan_inf": "two classes, three columns",
    "check_estimators_overwrite_params": "three classes, two columns",
    "check_estimators_pickle": "two classes, three columns",
    "check_n_features_in_after_fitting": "three classes, four columns",
    "check_pipeline_consistency": "two classes, three columns",
    "check_positive_only_tag_during_fit": "two classes, ten columns",
    "check_readonly_memmap_input": "three classes, two columns",
    "check_sample_weight_equivalence_on_dense_data": "three classes, thirty columns",
}


IN_PARTS = {"check_estimators_partial_fit_n_features": "three classes, two columns"}

# What scikit-learn 1.6 checks of every classifier, whatever its tags say.
BEFORE_1_7 = {
    "check_sample_weight_equivalence_on_sparse_data": "sparse matrices are refused",
}
IS_BEFORE_1_7 = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 7)


def expected_failures(estimator):
    """Return those of calibrators that learn from parts, and of those that do not."""
    in_parts = IN_PARTS if hasattr(estimator, "partial_fit") else {}
    return {**NOT_LOGITS, **in_parts, **(BEFORE_1_7 if IS_BEFORE_1_7 else {})}


# One of each way to fit: none, coefficients alike for all classes and of each, bins, steps.
OFTEN = [
    tc.Identity,
    tc.TemperatureScaling,
    tc.BetaCalibration,
    tc.MatrixScaling,
    tc.HistogramBinning,
    tc.IsotonicCalibration,
]
OTHERS = [kind for kind in ALL if kind not in OFTEN]


@parametrize_with_checks([kind() for kind in OFTEN], expected_failed_checks=expected_failures)
def test_checks_on_logits(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([kind() for kind in OTHERS], expected_failed_checks=expected_failures)
def test_checks_of_the_others_on_logits(estimator, check):
    check(estimator)


def test_no_more_checks_fail_than_have_to():
    checks = [check for _, check in estimator_checks_generator(tc.Identity())]
    names = [getattr(check, "func", check).__name__ for check in checks]
    newer = 0 if IS_BEFORE_1_7 else 1  # check_array_api_input
    assert sum(name in NOT_LOGITS for name in names) == 16 + newer


def behind_a_model(kind):
    # Rows are dealt to folds one by one, so there a weight of 2 is not the row twice.
    by_folds = kind in (tc.MatrixScaling, tc.DirichletCalibration)
    return Centroids(kind(shrinkage=1.0, regularization="l2") if by_folds else kind())


@parametrize_with_checks([behind_a_model(kind) for kind in OFTEN])
def test_checks_behind_a_model(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([behind_a_model(kind) for kind in OTHERS])
def test_checks_of_the_others_behind_a_model(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kind", ALL)
def test_works_in_cross_validation_and_pipelines(kind):
    z, y = simulate(3, 200)
    scores = cross_val_score(make_pipeline(kind()), z, y, scoring="neg_log_loss")
    assert np.isfinite(scores).all()


def test_can_be_searched():
    z, y = simulate(2, 200)
    search = GridSearchCV(
        tc.TemperatureScaling(), {"shrinkage": [0.0, 10.0]}, scoring="neg_log_loss"
    )
    search.fit(z.reshape(-1, 1), y)
    assert search.best_params_["shrinkage"] in (0.0, 10.0)

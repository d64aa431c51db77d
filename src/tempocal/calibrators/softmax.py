"""Fit a weight and a bias for each class under one softmax, and read them off as a map."""

from dataclasses import replace
from typing import Literal

import numpy as np

from tempocal.calibrators.line import biases_of, line_problem, slopes_of, to_line
from tempocal.calibrators.one_vs_rest import fit_parametric
from tempocal.calibrators.parametric import details_of, shrink
from tempocal.calibrators.training import Fitted, Training
from tempocal.inputs import check_choice
from tempocal.links import Array
from tempocal.maps import Affine, OneVsRest, log_features
from tempocal.rows import PerClassRows
from tempocal.solve import N_FOLDS, Problem, fold_codes

Regularization = Literal["odir", "l2"]
MOST_DIAGONAL = 4000


def fit_one_column(training: Training, shrinkage: object) -> Fitted:
    """Fit a slope and a bias under one sigmoid: all that is left where there is one column."""
    return fit_parametric(training, shrinkage, line_problem, to_line, names=("slope", "bias"))


def weights_of(fitted: Affine | OneVsRest) -> Array:
    """Weights of a fitted map: (K,), (K, K), or (1,) for one column."""
    return fitted.weights if isinstance(fitted, Affine) else slopes_of(fitted)


def bias_of(fitted: Affine | OneVsRest) -> Array:
    """Biases of a fitted map: (K,), or (1,) for one column."""
    return fitted.bias if isinstance(fitted, Affine) else biases_of(fitted)


def fit_diagonal(training: Training, shrinkage: object) -> Fitted:
    """Fit one weight and one bias a class: vector scaling."""
    rows = PerClassRows(
        training.logits.T,
        training.labels,
        training.n_classes,
        diagonal=True,
        weights=training.weights,
    )
    biases = np.tile([False, True], training.n_classes)
    problem = Problem.around(rows, identity=~biases, biases=biases)
    # Two coefficients a class are few enough for Newton's method, whatever the number of classes.
    problem = replace(problem, most_newton=MOST_DIAGONAL)
    shrunk = shrink(problem, shrinkage, training.groups)
    weights, bias = shrunk.solution.theta.reshape(-1, 2).T
    fitted = Affine(weights.copy(), bias - bias.mean(), of_log_proba=False)
    values = {"weights": fitted.weights.tolist(), "bias": fitted.bias.tolist()}
    return Fitted(fitted, {**values, **details_of(shrunk)}, shrunk.design_effect)


def fit_full(
    training: Training, shrinkage: object, regularization: Regularization, *, of_log_proba: bool
) -> Fitted:
    """Fit a matrix of weights and a bias a class: matrix scaling and Dirichlet calibration."""
    problem = _full_problem(training, shrinkage, regularization, of_log_proba)
    shrunk = shrink(problem, shrinkage, training.groups, choose="folds")
    matrix = shrunk.solution.theta.reshape(training.n_classes, -1)
    weights, bias = matrix[:, :-1].copy(), matrix[:, -1]
    if shrunk.strength.slopes == 0.0:
        # Only differences between rows matter then: let the columns sum to 1, as in the identity.
        weights += (1.0 - weights.sum(axis=0)) / training.n_classes
    fitted = Affine(weights, bias - bias.mean(), of_log_proba=of_log_proba)
    return Fitted(fitted, details_of(shrunk))


def _full_problem(
    training: Training, shrinkage: object, regularization: Regularization, of_log_proba: bool
) -> Problem:
    check_choice(regularization, "regularization", ("odir", "l2"))
    n_classes, by_folds = training.n_classes, isinstance(shrinkage, str)
    x = log_features(training.logits) if of_log_proba else training.logits
    rows = PerClassRows(
        x.T,
        training.labels,
        n_classes,
        diagonal=False,
        weights=training.weights,
        keys=fold_codes(len(x), training.groups) if by_folds else None,
        n_keys=N_FOLDS if by_folds else 1,
    )
    diagonal = np.eye(n_classes, n_classes + 1, dtype=bool).ravel()
    free = diagonal & (regularization == "odir")
    return Problem.around(
        rows,
        identity=diagonal,
        biases=np.tile(np.arange(n_classes + 1) == n_classes, n_classes),
        free=free,
        # Without it separable data would send a free diagonal to infinity.
        steady=free & by_folds,
        moment=_moment(x, training.weights),
    )


def _moment(x: Array, weights: Array | None) -> Array:
    """Curvature of the loss in the weights and the bias of a class, where all are as probable."""
    features = np.concatenate([x, np.ones((len(x), 1))], axis=1)
    weighted = features if weights is None else features * weights[:, None]
    share = 1.0 / x.shape[1]
    return np.asarray(share * (1.0 - share) * (weighted.T @ features), dtype=np.float64)

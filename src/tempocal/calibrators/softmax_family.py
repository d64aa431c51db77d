"""Models of vector, matrix and Dirichlet scaling: weights and biases under one softmax."""

from typing import Any, Literal

import numpy as np

from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.linear_model import linear_model
from tempocal.calibrators.parametric import Family, check_shrinkage
from tempocal.calibrators.platt import biases_of, slope_bias_model, slopes_of
from tempocal.calibrators.table_needs import TableNeeds
from tempocal.inputs import check_choice
from tempocal.links import Array
from tempocal.maps import DIAGONAL, FULL, FULL_OF_LOG_PROBA, LINES, Affine, OneVsRest
from tempocal.rows import Softmax
from tempocal.solve import MAX_NEWTON_COEFFICIENTS, N_FOLDS

Regularization = Literal["odir", "l2"]
MAX_NEWTON_DIAGONAL = 4000


def weights_of(fitted: Affine | OneVsRest) -> Array:
    """Weights of a fitted map: (K,), (K, K), or (1,) for one column."""
    return fitted.weights if isinstance(fitted, Affine) else slopes_of(fitted)


def bias_of(fitted: Affine | OneVsRest) -> Array:
    """Biases of a fitted map: (K,), or (1,) for one column."""
    return fitted.bias if isinstance(fitted, Affine) else biases_of(fitted)


def one_column_family(data: FitData, shrinkage: Any) -> Family:
    """Return a slope and a bias under one sigmoid, for one column of logits."""
    auto = check_shrinkage(shrinkage) is None
    return Family((slope_bias_model(data, of_class=1, auto=auto),), form=LINES)


def diagonal_family(data: FitData, shrinkage: Any) -> Family:
    """Return one weight and one bias per class: vector scaling."""
    biases = np.tile([False, True], data.n_classes)
    model = linear_model(
        data,
        Softmax(data.n_classes, diagonal=True),
        identity=~biases,
        biases=biases,
        auto=check_shrinkage(shrinkage) is None,
        # Two coefficients per class are few enough for Newton's method.
        max_newton=MAX_NEWTON_DIAGONAL,
        pooled=~biases if check_shrinkage(shrinkage) is None else None,
    )
    return Family((model,), form=DIAGONAL, loss_is_nll=True, canonicalize=_center_biases)


def _center_biases(theta: Array, unpenalized: bool) -> Array:
    """Center the biases: the softmax depends only on their differences."""
    table = theta.reshape(*theta.shape[:-1], -1, 2).copy()
    table[..., 1] -= table[..., 1].mean(axis=-1, keepdims=True)
    return table.reshape(theta.shape)


def folds_for(shrinkage: Any) -> TableNeeds:
    """Request folds if the strengths are to be chosen by cross-validation."""
    return TableNeeds(folds=(N_FOLDS, 0) if check_shrinkage(shrinkage) is None else None)


def full_family(
    data: FitData, shrinkage: Any, regularization: Regularization, *, of_log_proba: bool
) -> Family:
    """Return a weight matrix and one bias per class: matrix scaling, Dirichlet calibration."""
    check_choice(regularization, "regularization", ("odir", "l2"))
    n_classes = data.n_classes
    diagonal = np.eye(n_classes, n_classes + 1, dtype=bool).ravel()
    auto = check_shrinkage(shrinkage) is None
    is_pooled = auto and regularization == "odir" and len(diagonal) <= MAX_NEWTON_COEFFICIENTS
    free = diagonal & (regularization == "odir" and not is_pooled)
    model = linear_model(
        data,
        Softmax(n_classes, diagonal=False, of_log_proba=of_log_proba),
        identity=diagonal,
        biases=np.tile(np.arange(n_classes + 1) == n_classes, n_classes),
        free=free,
        pooled=diagonal if is_pooled else None,
        # Keeps an unpenalized diagonal finite on separable data.
        baseline_penalty=free & auto,
        auto=auto,
        moment=data.moment(of_log_proba=of_log_proba),
    )
    form = FULL_OF_LOG_PROBA if of_log_proba else FULL
    return Family(
        (model,),
        form=form,
        choose="evidence" if is_pooled else "folds",
        # Log-probabilities are clipped from below, so the two losses differ.
        loss_is_nll=not of_log_proba,
        canonicalize=_center_columns,
    )


def _center_columns(theta: Array, unpenalized: bool) -> Array:
    """Center the biases and, without a penalty, the columns of weights to sum to 1.

    Both leave the softmax unchanged; the columns of the identity sum to 1.
    """
    n_classes = int(np.sqrt(theta.shape[-1]))
    table = theta.reshape(*theta.shape[:-1], n_classes, n_classes + 1).copy()
    table[..., -1] -= table[..., -1].mean(axis=-1, keepdims=True)
    if unpenalized:
        table[..., :-1] += (1.0 - table[..., :-1].sum(axis=-2, keepdims=True)) / n_classes
    return table.reshape(theta.shape)

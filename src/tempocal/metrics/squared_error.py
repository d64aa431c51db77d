"""Brier score."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tempocal.inputs import Codes, check_choice
from tempocal.links import Array
from tempocal.metrics.predictions import RowLoss, check_predictions, check_two_classes


def brier(
    y: ArrayLike,
    proba: ArrayLike,
    *,
    of: Literal["all_classes", "positive_class"] = "all_classes",
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> float:
    """Brier score: mean squared error of the probabilities, summed over classes.

    With ``e`` the indicator of the true class, it is the mean over rows of ``sum_k (e_k - p_k)^2``,
    from 0 to 2: Brier's original definition, and the one of the paper. For two classes it is
    **twice** the score of a single column, ``(e_1 - p_1)^2``, which many libraries return. Use
    ``of="positive_class"`` for that.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels, of any kind.
    proba : array-like of shape (n,), (n, 1) or (n, K)
        Probabilities; one column is that of the second class.
    of : {"all_classes", "positive_class"}, default="all_classes"
        Whether to sum over all classes, or to take the second of two only.
    sample_weight : array-like of shape (n,), optional
        Weight of each row: a weight of 2 is the row twice.
    classes : array-like of shape (K,), optional
        The class of each column; by default the sorted labels of ``y``.

    Returns
    -------
    float
        The score; smaller is better.

    Examples
    --------
    >>> from tempocal.metrics import brier
    >>> round(brier([0, 1, 1], [0.2, 0.4, 0.9]), 4)
    0.2733
    >>> round(brier([0, 1, 1], [0.2, 0.4, 0.9], of="positive_class"), 4)
    0.1367
    """
    loss = row_brier(of)
    rows = check_predictions(y, proba, sample_weight, classes)
    check_two_classes(of, rows.n_classes, 'of="all_classes"')
    return rows.mean(loss)


def row_brier(of: str = "all_classes") -> RowLoss:
    """Return the row loss as a function of (proba, codes)."""
    check_choice(of, "of", ("all_classes", "positive_class"))
    return _all_classes if of == "all_classes" else _positive_class


def _all_classes(proba: Array, codes: Codes) -> Array:
    error = proba.copy()
    error[np.arange(len(codes)), codes] -= 1.0
    return np.asarray(np.einsum("ij,ij->i", error, error), dtype=np.float64)


def _positive_class(proba: Array, codes: Codes) -> Array:
    return (proba[:, 1] - codes) ** 2

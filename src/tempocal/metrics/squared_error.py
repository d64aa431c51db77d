"""Brier score."""

from typing import Literal

from numpy.typing import ArrayLike

from tempocal.inputs import Inputs
from tempocal.metrics.mean_losses import mean_loss
from tempocal.metrics.predictions import check_predictions, check_two_classes
from tempocal.metrics.row_losses import row_brier
from tempocal.metrics.scored_arrays import ScoredArrays


def brier(
    y: ArrayLike,
    proba: ArrayLike,
    *,
    of: Literal["all_classes", "positive_class"] = "all_classes",
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    soft_label: bool = False,
    inputs: Inputs = "proba",
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
    soft_label : bool, default=False
        Whether ``y`` holds probabilities in place of labels: floats of shape (n,), for the second
        of two classes, or (n, K), in the order of ``classes``, by default 0, 1, ..., K - 1.
        The score of a row is the one expected of a label with these probabilities.
    inputs : {"proba", "logits"}, default="proba"
        What ``proba`` holds; never guessed. Logits of one column are read by a sigmoid, of several
        by a softmax.

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
    rows = check_predictions(y, proba, sample_weight, classes, soft_label=soft_label, inputs=inputs)
    check_two_classes(of, rows.n_classes, 'of="all_classes"')
    return mean_loss(ScoredArrays.of(rows.split()), loss)

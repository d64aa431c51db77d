"""Negative log likelihood."""

from numpy.typing import ArrayLike

from tempocal.inputs import Inputs
from tempocal.metrics.mean_losses import mean_loss
from tempocal.metrics.predictions import check_predictions
from tempocal.metrics.row_losses import row_nll
from tempocal.metrics.scored_arrays import ScoredArrays


def nll(
    y: ArrayLike,
    proba: ArrayLike,
    *,
    clip: float = 0.0,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    soft_label: bool = False,
    inputs: Inputs = "proba",
) -> float:
    """Negative log likelihood: mean over rows of ``-log p`` of the true class.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels, of any kind.
    proba : array-like of shape (n,), (n, 1) or (n, K)
        Probabilities; one column is that of the second class.
    clip : float, default=0
        Probabilities of the true class below this are raised to it; at least 0 and below 1. With 0,
        a single true class of probability 0 makes the result infinite.
    sample_weight : array-like of shape (n,), optional
        Weight of each row: a weight of 2 is the row twice.
    classes : array-like of shape (K,), optional
        The class of each column; by default the sorted labels of ``y``.
    soft_label : bool, default=False
        Whether ``y`` holds probabilities in place of labels: floats of shape (n,), for the second
        of two classes, or (n, K), in the order of ``classes``, by default 0, 1, ..., K - 1.
        The loss of a row is its cross-entropy, ``-sum_k y_k log p_k``.
    inputs : {"proba", "logits"}, default="proba"
        What ``proba`` holds; never guessed. Logits of one column are read by a sigmoid, of several
        by a softmax.

    Returns
    -------
    float
        In nats; 0 if all true classes have probability 1.

    Examples
    --------
    >>> from tempocal.metrics import nll
    >>> round(nll(["lost", "won", "won"], [0.2, 0.4, 0.9]), 4)
    0.4149
    >>> nll([0, 1], [0.2, 0.0])
    inf
    >>> round(nll([0, 1], [0.2, 0.0], clip=1e-6), 4)
    7.0193
    """
    loss = row_nll(clip)
    rows = check_predictions(y, proba, sample_weight, classes, soft_label=soft_label, inputs=inputs)
    return mean_loss(ScoredArrays.of(rows.split()), loss)

"""Calibration error of every class."""

from numpy.typing import ArrayLike

from tempocal.inputs import Inputs
from tempocal.metrics.binned import bin_events, ece_from_bins
from tempocal.metrics.edges import Binning, describe
from tempocal.metrics.estimates import ClasswiseEstimate
from tempocal.metrics.events import one_class
from tempocal.metrics.predictions import check_predictions


def classwise_ece(
    y: ArrayLike,
    proba: ArrayLike,
    *,
    bins: int = 15,
    binning: Binning = "equal_width",
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "proba",
) -> ClasswiseEstimate:
    """Classwise ECE: mean over classes of the ECE of each column.

    While `ece` uses the most probable class only, this uses every column (Kull et al. 2019). It is
    a mean, not a sum: with many classes most columns are near 0, and so is the mean.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels, of any kind.
    proba : array-like of shape (n,), (n, 1) or (n, K)
        Probabilities; one column is that of the second class.
    bins, binning
        As in `ece`, for each class.
    sample_weight : array-like of shape (n,), optional
        Weight of each row: a weight of 2 is the row twice.
    classes : array-like of shape (K,), optional
        The class of each column; by default the sorted labels of ``y``.
    inputs : {"proba", "logits"}, default="proba"
        What ``proba`` holds; never guessed. Logits of one column are read by a sigmoid, of several
        by a softmax.

    Returns
    -------
    ClasswiseEstimate
        A float from 0 to 1, with the estimate of each class in ``by_class``.

    References
    ----------
    Kull, Perelló-Nieto, Kängsepp, Silva Filho, Song and Flach (2019). Beyond temperature scaling:
    obtaining well-calibrated multi-class probabilities with Dirichlet calibration.

    Examples
    --------
    >>> from tempocal.metrics import classwise_ece
    >>> proba = [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]]
    >>> error = classwise_ece(["a", "b", "c"], proba, bins=5)
    >>> error
    ClasswiseEstimate(0.244444, 'classwise ECE, mean over 3 classes, 5 equal-width bins')
    >>> error.by_class[2]
    BinnedEstimate(0.266667, "class 'c' ECE, 5 equal-width bins")
    """
    rows = check_predictions(y, proba, sample_weight, classes, inputs=inputs)
    by_class = tuple(
        ece_from_bins(bin_events(one_class(rows, column, f"class {label!r}"), bins, binning))
        for column, label in enumerate(rows.classes.tolist())
    )
    value = sum(by_class) / rows.n_classes
    name = f"classwise ECE, mean over {rows.n_classes} classes, {describe(bins, binning)}"
    return ClasswiseEstimate(value, name, rows.classes, by_class)

"""Sampling floor: the calibration error that perfect probabilities would show by chance."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from tempocal.inputs import (
    Codes,
    Groups,
    Inputs,
    check_positive_int,
    check_predicted,
    check_sequence_and_groups,
    check_weights,
)
from tempocal.links import Array
from tempocal.metrics.binned import ece
from tempocal.metrics.estimates import Estimate, SamplingFloor


def sampling_floor(
    proba: ArrayLike,
    *,
    sequence: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    metric: Callable[..., float] = ece,
    n_draws: int = 100,
    seed: int | np.random.Generator = 0,
    sample_weight: ArrayLike | None = None,
    inputs: Inputs = "proba",
) -> SamplingFloor:
    """Estimate the sampling floor: the error that perfect probabilities would show by chance.

    It is the mean of the metric over repeated draws of labels from the probabilities. An error near
    its floor is no evidence of miscalibration.

    Parameters
    ----------
    proba : array-like of shape (n,), (n, 1) or (n, K)
        Probabilities; one column is that of the second class.
    sequence : array-like of shape (n,), optional
        Id of the sequence of each row.
    groups : array-like of shape (n,), optional
        What is independent: clusters that hold whole sequences. By default the sequences. One label
        is drawn for each group. Without either, rows are taken as independent, which makes the
        floor too low if they are not.
    metric : callable, default=ece
        Called as ``metric(y, proba, sample_weight=..., classes=...)``. Pass settings with
        ``functools.partial(ece, bins=10)``.
    n_draws : int, default=100
        Number of draws.
    seed : int or numpy.random.Generator, default=0
        Seed of the draws.
    sample_weight : array-like of shape (n,), optional
        Weight of each row in the metric.
    inputs : {"proba", "logits"}, default="proba"
        What ``proba`` holds; never guessed. Logits of one column are read by a sigmoid, of several
        by a softmax.

    Returns
    -------
    SamplingFloor
        A float, the mean over draws, with ``lower``, ``median``, ``upper`` (quantiles 2.5 %, 50 %
        and 97.5 %) and all ``draws``.

    Notes
    -----
    One uniform number is drawn for each group, and each row takes its label from its own cumulative
    probabilities at that number. So the label of each row has exactly its own probabilities, and
    the labels of a group agree as much as these allow: rows with equal probabilities share one
    label.

    Examples
    --------
    >>> import numpy as np
    >>> from tempocal.metrics import sampling_floor
    >>> proba, match = np.repeat(np.linspace(0.1, 0.9, 40), 10), np.repeat(np.arange(40), 10)
    >>> alone, together = sampling_floor(proba), sampling_floor(proba, groups=match)
    >>> f"{alone:.2f} {together:.2f}"
    '0.05 0.14'
    >>> together.estimator
    'sampling floor of top-label ECE, 15 equal-width bins; labels drawn by group, n_draws=100'
    """
    n_draws = check_positive_int(n_draws, "n_draws")
    checked = check_predicted(proba, inputs).proba
    clusters = check_sequence_and_groups(sequence, groups, len(checked))
    weight = check_weights(sample_weight, len(checked))
    classes, random = np.arange(checked.shape[1]), np.random.default_rng(seed)
    values = [
        metric(_draw(checked, clusters, random), checked, sample_weight=weight, classes=classes)
        for _ in range(n_draws)
    ]
    return _summary(values, metric, clusters)


def _draw(proba: Array, groups: Groups | None, random: np.random.Generator) -> Codes:
    """One label for each row, by the inverse of its cumulative probabilities."""
    uniform = random.random(len(proba) if groups is None else groups.count)
    # Rows may sum to nearly 1; the rest must not go to the last class.
    threshold = (uniform if groups is None else uniform[groups.codes]) * proba.sum(axis=1)
    codes = np.zeros(len(proba), dtype=np.intp)
    cumulative = np.zeros(len(proba))
    for column in proba.T[:-1]:
        cumulative += column
        codes += cumulative <= threshold
    return codes


def _summary(
    values: list[float], metric: Callable[..., float], groups: Groups | None
) -> SamplingFloor:
    draws = np.array(values, dtype=np.float64)
    lower, median, upper = np.quantile(draws, [0.025, 0.5, 0.975]).tolist()
    first, unnamed = values[0], getattr(metric, "__name__", "a metric")
    what = first.estimator if isinstance(first, Estimate) else unnamed
    unit = "row" if groups is None else "group"
    name = f"sampling floor of {what}; labels drawn by {unit}, n_draws={len(draws)}"
    return SamplingFloor(float(draws.mean()), name, lower, median, upper, draws)

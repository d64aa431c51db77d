"""What a fit gained over doing nothing, with an interval over groups."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from tempocal.calibrators.training import Training
from tempocal.links import Array


@dataclass(frozen=True)
class Gain:
    """Difference of the mean negative log likelihood, before minus after, and its interval."""

    mean: float
    lower: float
    upper: float


def paired_gain(
    before: Array, after: Array, training: Training, *, optimism: float = 0.0, level: float = 0.95
) -> Gain:
    """Compare the losses of the same rows, summed by group.

    ``optimism`` is how much of the summed gain the rows of a fit owe to having been fitted to.
    """
    weights = np.ones(len(before)) if training.weights is None else training.weights
    difference = (before - after) * weights
    total = float(weights.sum())
    if training.groups is None:
        sums, sizes = difference, np.asarray(weights)
    else:
        codes, count = training.groups.codes, training.groups.count
        sums = np.bincount(codes, difference, minlength=count).astype(np.float64)
        sizes = np.bincount(codes, weights, minlength=count).astype(np.float64)
    mean = float(sums.sum()) / total
    # Of groups of unequal size: the error of a ratio.
    count = len(sums)
    spread = float(((sums - mean * sizes) ** 2).sum()) * count / max(count - 1, 1)
    half = float(student.ppf(0.5 + level / 2, max(count - 1, 1))) * np.sqrt(spread) / total
    center = mean - optimism / total
    return Gain(center, center - half, center + half)

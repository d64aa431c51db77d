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

    def less(self, amount: float) -> "Gain":
        """Return the same gain, moved down."""
        return Gain(self.mean - amount, self.lower - amount, self.upper - amount)


def paired_gain(before: Array, after: Array, training: Training, level: float = 0.95) -> Gain:
    """Compare the losses of the same rows, summed by group."""
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
    return Gain(mean, mean - half, mean + half)

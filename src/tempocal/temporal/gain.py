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
    mean, count = training.mean(before - after), _count(training)
    if count <= 1:
        return Gain(mean, -np.inf, np.inf)
    width = float(student.ppf(0.5 + level / 2, count - 1))
    half = width * standard_error(before - after, training)
    return Gain(mean, mean - half, mean + half)


def standard_error(values: Array, training: Training) -> float:
    """Return the standard error of a weighted mean over groups, as of a ratio.

    Without groups a row is as many as its weight.
    """
    total, count = training.total_weight, _count(training)
    if count <= 1:
        return np.inf
    weights = np.ones(len(values)) if training.weights is None else training.weights
    centered = values - training.mean(values)
    if training.groups is None:
        spread = float(weights @ centered**2)
    else:
        codes, n_groups = training.groups.codes, training.groups.count
        spread = float((np.bincount(codes, centered * weights, minlength=n_groups) ** 2).sum())
    return float(np.sqrt(spread * count / (count - 1))) / total


def _count(training: Training) -> float:
    return training.total_weight if training.groups is None else training.groups.count

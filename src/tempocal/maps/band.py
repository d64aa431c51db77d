"""How sure the numbers of a map are along time."""

from dataclasses import dataclass

import numpy as np

from tempocal.links import Array
from tempocal.maps.bases import Basis


@dataclass(frozen=True)
class Band:
    """Variances of the numbers of one model at any time.

    Attributes
    ----------
    basis : Basis
        Functions of time.
    table : ndarray of shape (functions, numbers)
        Their coefficients.
    covariances : ndarray of shape (numbers, functions + rates, functions + rates)
        For each number, of its coefficients and of the rates.
    faster, slower : tuple of Basis
        The basis at rates a little higher and a little lower, for each rate.
    nudge : float
        By how much the logarithms of those rates are apart.
    """

    basis: Basis
    table: Array
    covariances: Array
    faster: tuple[Basis, ...]
    slower: tuple[Basis, ...]
    nudge: float

    def variance(self, time: Array) -> Array:
        """Variance of each number at some times, of shape (n, numbers)."""
        functions = self.basis(time)
        turns = [
            (up(time) - down(time)) @ self.table / self.nudge  # (n, numbers)
            for up, down in zip(self.faster, self.slower, strict=True)
        ]
        variances = []
        for number, covariance in enumerate(self.covariances):
            weights = np.column_stack([functions, *(turn[:, number] for turn in turns)])
            variances.append(np.einsum("ni,ij,nj->n", weights, covariance, weights))
        return np.stack(variances, axis=1)


@dataclass(frozen=True)
class StepBand:
    """The same where every step has its own coefficients."""

    basis: Basis
    deviations: Array  # standard deviations, (steps, numbers)

    def variance(self, time: Array) -> Array:
        """Variance of each number at some times, of shape (n, numbers)."""
        return self.basis.combine(time, self.deviations) ** 2

"""How sure the numbers of a map are along time."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from tempocal.links import Array
from tempocal.maps.along_time import require_table
from tempocal.maps.bases import Basis, BinBasis, ConstantBasis, StepBasis
from tempocal.maps.document import require_alike
from tempocal.maps.part import Part, require

LARGEST_DEVIATION = 1e150  # its square is finite
LARGEST_VARIANCE = 1e300
# By how much the logarithms of two rates may be apart.
NUDGES = (1e-9, 1.0)


class AnyBand(Part):
    """Variances of the numbers of one model at any time."""

    @abstractmethod
    def variance(self, time: Array) -> Array:
        """Variance of each number at some times, of shape (n, numbers)."""


@dataclass(frozen=True)
class Band(AnyBand):
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

    def validate(self) -> None:
        """Raise a ValueError if no fit could have left these numbers behind."""
        require_table(self.table, self.basis)
        size = self.basis.n_functions + len(self.faster)
        require(
            self.covariances.shape == (self.table.shape[1], size, size)
            and len(self.slower) == len(self.faster)
            and NUDGES[0] <= self.nudge <= NUDGES[1],
            "covariances are not those of the coefficients",
        )
        require_alike((self.basis, *self.faster, *self.slower))
        require(self._has_finite_variances(), "variances overflow")

    def _has_finite_variances(self) -> bool:
        """Bound the quadratic form of `variance`, whose weights are functions and derivatives."""
        steepest = 2.0 * float(np.abs(self.table).max()) / self.nudge
        weights = np.array([1.0] * self.basis.n_functions + [steepest] * len(self.faster))
        with np.errstate(over="ignore", invalid="ignore"):
            most = np.einsum("i,kij,j->k", weights, np.abs(self.covariances), weights)
        return bool((most <= LARGEST_VARIANCE).all())


@dataclass(frozen=True)
class StepBand(AnyBand):
    """The same where every step has its own coefficients."""

    basis: Basis
    deviations: Array  # standard deviations, (steps, numbers)

    def variance(self, time: Array) -> Array:
        """Variance of each number at some times, of shape (n, numbers)."""
        return self.basis.combine(time, self.deviations) ** 2

    def validate(self) -> None:
        """Raise a ValueError if no fit could have left these numbers behind."""
        is_step = isinstance(self.basis, StepBasis | BinBasis | ConstantBasis)
        require(is_step, "the basis is not one of steps")
        require_table(self.deviations, self.basis)
        inside = (self.deviations >= 0) & (self.deviations <= LARGEST_DEVIATION)
        require(bool(inside.all()), "a deviation is negative")

"""What is minimized: sums over rows plus a pull towards the identity."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tempocal.links import Array
from tempocal.rows import Rows

# A matrix of weights for 16 classes.
MOST_NEWTON_COEFFICIENTS = 300


class Strength(NamedTuple):
    """How strongly the slopes and the biases are pulled towards the identity.

    A strength s adds ``s / 2 * (coefficient - its value in the identity)**2`` to the summed
    negative log likelihood: a normal prior of variance 1 / s around doing nothing.
    """

    slopes: float
    biases: float


@dataclass(frozen=True)
class Point:
    """An objective and its derivatives at some coefficients."""

    theta: Array
    value: float
    gradient: Array
    hessian: Array | None


@dataclass(frozen=True)
class Problem:
    """A model whose coefficients are the same for all rows, whatever their key.

    Attributes
    ----------
    rows : Rows
        Labelled predictions, under one key or one for each fold.
    identity : ndarray of shape (coefficients,)
        The coefficients that change nothing.
    slopes, biases : ndarray of bool, shape (coefficients,)
        Which coefficients each of the two strengths pulls on; some may be in neither.
    lower : ndarray of shape (coefficients,)
        Lower bounds, minus infinity where there is none.
    steady : ndarray of shape (coefficients,)
        A pull towards the identity that is there at any strength.
    moment : ndarray of shape (width, width)
        For L-BFGS, about the curvature of the loss in each row of ``width`` coefficients.
    most_newton : int
        With more coefficients than this a Hessian costs too much, and L-BFGS does without.
    left_out : int or None
        A fold whose rows do not count.
    """

    rows: Rows
    identity: Array
    slopes: NDArray[np.bool_]
    biases: NDArray[np.bool_]
    lower: Array
    steady: Array
    moment: Array
    most_newton: int = MOST_NEWTON_COEFFICIENTS
    left_out: int | None = None

    @classmethod
    def around(
        cls,
        rows: Rows,
        identity: ArrayLike,
        biases: ArrayLike,
        *,
        free: ArrayLike = False,
        lower: ArrayLike = -np.inf,
        steady: ArrayLike = 0.0,
        moment: ArrayLike = ((1.0,),),
    ) -> Self:
        """Make a problem whose coefficients are slopes, except biases and ``free`` ones."""
        shape = (rows.n_coefficients,)
        is_bias = np.broadcast_to(np.asarray(biases, dtype=bool), shape)
        is_free = np.broadcast_to(np.asarray(free, dtype=bool), shape)
        return cls(
            rows=rows,
            identity=np.asarray(identity, dtype=np.float64),
            slopes=~is_bias & ~is_free,
            biases=is_bias,
            lower=np.broadcast_to(np.asarray(lower, dtype=np.float64), shape),
            steady=np.broadcast_to(np.asarray(steady, dtype=np.float64), shape),
            moment=np.asarray(moment, dtype=np.float64),
        )

    def pull(self, strength: Strength) -> Array:
        """Strength on each coefficient."""
        return strength.slopes * self.slopes + strength.biases * self.biases + self.steady

    def evaluate(self, theta: Array, pull: Array, *, hessian: bool = True) -> Point:
        """Sum the loss over rows, add the pull towards the identity, with derivatives."""
        sums = self.rows.sums(np.tile(theta, (self.rows.n_keys, 1)), hessian=hessian)
        counted = np.arange(self.rows.n_keys) != self.left_out
        offset = theta - self.identity
        value = float(sums.loss[counted].sum()) + 0.5 * float(pull @ (offset * offset))
        gradient = sums.gradient[counted].sum(axis=0) + pull * offset
        if sums.hessian is None:
            return Point(theta, value, gradient, None)
        return Point(theta, value, gradient, sums.hessian[counted].sum(axis=0) + np.diag(pull))


@dataclass(frozen=True)
class Solution:
    """Where a solver stopped.

    Attributes
    ----------
    theta : ndarray of shape (coefficients,)
        The coefficients.
    loss : float
        Negative log likelihood summed over rows, without the pull, at or next to ``theta``.
    hessian : ndarray of shape (coefficients, coefficients) or None
        Curvature of the loss there, without the pull.
    gradient : ndarray of shape (coefficients,) or None
        Gradient with the pull: zero, but for coefficients that a bound holds back.
    passes : int
        Passes that were made over the rows.
    converged : bool
        Whether the objective is at its minimum, to rounding.
    unbounded : bool
        Whether the coefficients were still running away when the objective no longer changed:
        there is no finite optimum.
    """

    theta: Array
    loss: float
    hessian: Array | None
    gradient: Array | None
    passes: int
    converged: bool
    unbounded: bool

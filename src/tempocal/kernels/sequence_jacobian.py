"""Derivative of the estimating function of rows that learn from those that follow, compiled."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tempocal.kernels import native

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Design:
    """How each unknown enters the linear predictors: sparse, by key.

    Attributes
    ----------
    n_unknowns : int
        Number of unknowns.
    entries : ndarray of shape (4, entries)
        Unknown, first feature, end of its features, and the first linear predictor they enter.
    starts : ndarray of shape (keys + 1,)
        First entry of each key, and the end of the last.
    values : ndarray of shape (entries,)
        How much of its features an unknown has.
    """

    n_unknowns: int
    entries: NDArray[np.int64]
    starts: NDArray[np.int64]
    values: Array

    @classmethod
    def of(cls, directions: Array, outputs: Sequence[slice], counts: Sequence[int]) -> Self:
        """Make it of directions (keys, coefficients of a key, unknowns).

        ``outputs`` and ``counts`` are which linear predictors, and how many, each coefficient of a
        key enters.
        """
        keys, coefficients, unknowns = np.nonzero(directions)
        ends = np.cumsum(counts)
        firsts = ends - counts
        starts = np.array([own.start or 0 for own in outputs])
        entries = np.stack(
            [unknowns, firsts[coefficients], ends[coefficients], starts[coefficients]]
        )
        return cls(
            directions.shape[2],
            np.ascontiguousarray(entries, dtype=np.int64),
            np.searchsorted(keys, np.arange(len(directions) + 1)).astype(np.int64),
            np.ascontiguousarray(directions[keys, coefficients, unknowns]),
        )


def sequence_jacobian(
    design: Design,
    *,
    forecasts: Array,
    features: Array,
    weights: Array | None,
    keys: NDArray[Any],
    is_last: NDArray[np.bool_],
    decay: float,
) -> Array:
    """Minus the derivative of the estimating function, of shape (unknowns, unknowns).

    Parameters
    ----------
    design : Design
        How unknowns enter the linear predictors.
    forecasts : ndarray of shape (outputs, n)
        Probabilities of rows that lie sequence by sequence, in order.
    features : ndarray of shape (features, n)
        Features of the coefficients of a key, in order.
    weights : ndarray of shape (n,) or None
        Weights of the rows.
    keys, is_last : ndarray of shape (n,)
        Key of each row, and which rows are the last of their sequence.
    decay : float
        Weight of what comes one row later.
    """
    own = np.ones(len(keys)) if weights is None else weights
    keys = keys.astype(np.int64)
    jacobian = np.zeros((design.n_unknowns, design.n_unknowns))
    native.sequence_jacobian(
        jacobian,
        np.ascontiguousarray(np.concatenate([forecasts, own[None]])),
        features,
        design.entries,
        design.starts,
        design.values,
        np.where(is_last, -1 - keys, keys),
        np.array([decay]),
    )
    return jacobian

"""Anderson's method: the next start of a fixed point iteration from the last few.

It is the combination of the last results for which the changes would be the smallest.
"""

import numpy as np

from tempocal.links import Array

# Results that are combined.
MEMORY = 6
# Where changes grow by this factor the earlier results are forgotten.
GROWTH = 2.0
RIDGE, TINY = 1e-14, 1e-300


class FixedPoint:
    """The last starts of an iteration, and what they led to.

    Parameters
    ----------
    scale : ndarray of shape (keys, coefficients)
        What coefficients are multiplied by to measure their changes.
    """

    def __init__(self, scale: Array) -> None:
        self._scale = scale
        self._known: list[tuple[Array, Array]] = []  # starts, and the results they led to

    def next(self, start: Array, result: Array) -> Array:
        """Combine the last results so that their distances from their starts cancel."""
        known = self._known
        if known:
            before = self.distance(known[-1][1] - known[-1][0])
            if not self.distance(result - start) <= GROWTH * before:
                known.clear()
        known.append((start, result.copy()))
        del known[:-MEMORY]
        changes = np.stack([self._scaled(result - start) for start, result in known])
        differences = np.diff(changes, axis=0)
        if not len(differences):
            return result
        square = differences @ differences.T
        ridge = RIDGE * np.trace(square) + TINY
        shares = np.linalg.solve(square + ridge * np.eye(len(square)), differences @ changes[-1])
        steps = np.diff(np.stack([result for _, result in known]), axis=0)
        return np.asarray(result - np.einsum("m,mtp->tp", shares, steps))

    def clear(self) -> None:
        """Forget what is known."""
        self._known = []

    def distance(self, step: Array) -> float:
        """Root mean square change of the linear predictors."""
        return float(np.linalg.norm(self._scaled(step)))

    def _scaled(self, step: Array) -> Array:
        return np.asarray((self._scale * step).ravel())

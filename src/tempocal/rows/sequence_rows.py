"""Rows of sequences: each learns from the forecasts that follow it, and from the outcome.

A calibrated forecast is the expected next forecast of its sequence. So the target of a row mixes
the next forecast p' with the target of the next row (temporal differences, TD(lambda))::

    G = (1 - decay) p' + decay G',    G = p' = y at the last row.

The difference ``G - p`` is the discounted sum of the steps ``p' - p`` that follow, one sweep from
the end of each sequence. Targets depend on the coefficients. So the coefficients are not those of
the lowest loss but the root of an estimating function,

    Psi(theta)  =  sum over rows of  weight * feature * (G - p).

Its derivative sends each change of a forecast through the same sweep. With a decay of 1 every
target is the outcome, and Psi is minus the gradient of the negative log likelihood.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import Codes
from tempocal.kernels.discount import discounted_sums
from tempocal.kernels.thread_pool import map_on_cores
from tempocal.lazy import cached
from tempocal.links import Array
from tempocal.rows.in_memory import StoredRows

# Coefficients of every key by each unknown: (keys, coefficients of a key, unknowns).
Directions = Array


@dataclass(frozen=True)
class SequenceRows:
    """Rows in memory that lie sequence by sequence, in order.

    Attributes
    ----------
    rows : StoredRows
        The rows and their model.
    codes : ndarray of shape (n,)
        Sequence of each row.
    decay : float
        Weight of what comes one row later, from 0 to 1.
    """

    rows: StoredRows
    codes: Codes
    decay: float

    @cached
    def is_last(self) -> NDArray[np.bool_]:
        """Which rows are the last of their sequence."""
        return np.append(self.codes[1:] != self.codes[:-1], True)

    def with_decay(self, decay: float) -> Self:
        """Change the decay."""
        return type(self)(self.rows, self.codes, decay)

    def every_nth(self, step: int) -> Self:
        """Select every ``step``-th sequence."""
        position = np.cumsum(self.is_last) - self.is_last
        chosen = np.flatnonzero(position % step == 0)
        return type(self)(self.rows.select(chosen), self.codes[chosen], self.decay)

    def residuals(self, theta: Array) -> Array:
        """Targets minus forecasts in input order, of shape (outputs, n)."""
        p = self.rows.forecasts(theta)
        return self._sweep(np.where(self.is_last, self._outcomes, _next(p)) - p)

    def estimating_sums(self, theta: Array) -> Array:
        """Psi in the coefficients of each key, of shape (keys, coefficients)."""
        return self.sum_products(self.residuals(theta))

    def sum_products(self, residuals: Array) -> Array:
        """Sum the features times residuals (outputs, n) by key: (keys, coefficients)."""
        keys, n_keys = self.rows.input_keys, self.rows.n_keys
        sums = np.empty((n_keys, self.rows.n_coefficients))
        for p in range(self.rows.n_coefficients):
            sums[:, p] = np.bincount(keys, self._products(residuals, p), minlength=n_keys)
        return sums

    def jacobian(self, theta: Array, directions: Directions) -> Array:
        """Minus the derivative of Psi, in the unknowns: (unknowns, unknowns), not symmetric."""
        p, keys = self.rows.forecasts(theta), self.rows.input_keys
        used = [k for k in range(self.rows.n_coefficients) if directions[:, k].any()]
        changes = {k: _forecast_changes(p, *self.rows.feature(k)) for k in used}

        def column(unknown: int) -> Array:
            change = sum(
                directions[keys, k, unknown] * changes[k]
                for k in used
                if directions[:, k, unknown].any()
            )
            step = np.where(self.is_last, 0.0, _next(change)) - change
            sums = self.sum_products(self._sweep(step))
            return -np.einsum("tpc,tp->c", directions, sums)

        columns = map_on_cores(column, range(directions.shape[2]))
        return np.stack(columns, axis=1)

    def by_group(self, residuals: Array, directions: Directions, codes: Codes) -> Array:
        """Psi of each group in the unknowns, of shape (groups, unknowns)."""
        keys, n_groups = self.rows.input_keys, int(codes.max()) + 1
        products = [self._products(residuals, p) for p in range(self.rows.n_coefficients)]

        def of_unknown(unknown: int) -> Array:
            terms = sum(
                directions[keys, p, unknown] * product
                for p, product in enumerate(products)
                if directions[:, p, unknown].any()
            )
            return np.bincount(codes, terms, minlength=n_groups)

        return np.stack(map_on_cores(of_unknown, range(directions.shape[2])), axis=1)

    def _products(self, residuals: Array, coefficient: int) -> Array:
        """Weighted feature of a coefficient times residuals, of shape (n,)."""
        own, feature = self.rows.feature(coefficient)
        product = np.einsum("ki,ki->i", feature, residuals[own])
        weights = self.rows.input_weights
        return product if weights is None else product * weights

    def _sweep(self, steps: Array) -> Array:
        return discounted_sums(np.ascontiguousarray(steps), self.is_last, self.decay)

    @cached
    def _outcomes(self) -> Array:
        return self.rows.outcomes()


def _next(values: Array) -> Array:
    """Values (series, n) of the next row; that after the last does not matter."""
    return np.roll(values, -1, axis=1)


def _forecast_changes(p: Array, own: slice, feature: Array) -> Array:
    """Change of the forecasts with a coefficient that multiplies ``feature`` in some outputs."""
    if len(p) == 1:
        return p * (1.0 - p) * feature
    changes = -p * np.einsum("ki,ki->i", p[own], feature)
    changes[own] += p[own] * feature
    return changes

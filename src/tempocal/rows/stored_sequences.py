"""Rows in memory that lie sequence by sequence: forecasts, and what they learn from the next one.

The target of a row mixes the next forecast p' with the target of the next row (temporal
differences, TD(lambda))::

    G = (1 - decay) p' + decay G',    G = p' = y at the last row.

``G - p`` is the discounted sum of the steps ``p' - p`` that follow: one sweep from the end of each
sequence. The estimating function of the coefficients is

    Psi(theta)  =  sum over rows of  weight * feature * (G - p),

and its derivative sends each change of a forecast through the same sweep.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from tempocal.inputs import Codes
from tempocal.kernels.discount import discounted_sums
from tempocal.kernels.thread_pool import map_on_cores
from tempocal.lazy import cached
from tempocal.links import SMALLEST_PROBABILITY, Array, Floats
from tempocal.rows.in_memory import StoredRows
from tempocal.rows.sequence_rows import PastScores


@dataclass(frozen=True)
class StoredSequences:
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

    def every_nth(self, step: int) -> "StoredSequences":
        """Select every ``step``-th sequence."""
        index: Codes = np.cumsum(self.is_last) - self.is_last
        chosen = np.flatnonzero(index % step == 0)
        return StoredSequences(self.rows.select(chosen), self.codes[chosen], self.decay)

    def residuals(self, theta: Array) -> Array:
        """Targets minus forecasts, of shape (outputs, n)."""
        return self._residuals(self.rows.forecasts(theta))

    def linear_term(self, theta: Array) -> Array:
        """Sum of features times outcomes minus targets at ``theta``: (keys, coefficients).

        Added to the gradient of the negative log likelihood, it gives that with these targets.
        """
        p = self.rows.forecasts(theta)
        return self._sum_products(self._outcomes - p - self._residuals(p))

    def jacobian(self, theta: Array, directions: Array) -> Array:
        """Minus the derivative of Psi in the unknowns, not symmetric.

        ``directions`` are the coefficients of every key by each unknown, of shape (keys,
        coefficients of a key, unknowns).
        """
        p, keys = self.rows.forecasts(theta), self.rows.input_keys
        used = [k for k in range(self.rows.n_coefficients) if directions[:, k].any()]
        changes = {k: _forecast_changes(p, *self.rows.feature(k)) for k in used}

        def column(unknown: int) -> Array:
            change = np.zeros_like(p)
            for k in used:
                if directions[:, k, unknown].any():
                    change += directions[keys, k, unknown] * changes[k]
            step = np.where(self.is_last, 0.0, _next(change)) - change
            sums = self._sum_products(self._sweep(step))
            return np.asarray(-np.einsum("tpc,tp->c", directions, sums))

        return np.stack(map_on_cores(column, range(directions.shape[2])), axis=1)

    def group_gradients(self, theta: Array, codes: Codes, count: int) -> list[csr_array]:
        """Gradient summed by group and key, for each coefficient of a key."""
        residuals, keys = self.residuals(theta), self.rows.input_keys
        shape = (count, self.rows.n_keys)

        def of_coefficient(p: int) -> csr_array:
            products = -self._products(residuals, p)
            return coo_array((products, (codes, keys)), shape=shape).tocsr()

        return map_on_cores(of_coefficient, range(self.rows.n_coefficients))

    def past_scores(
        self, theta: Array, directions: Array, codes: Codes, count: int
    ) -> Iterator[PastScores]:
        """Scores of what a sequence forecast before, as a further feature of each row.

        Twice: of the forecast of the row before, and of the mean of all before.
        """
        p = np.clip(self.rows.forecasts(theta), SMALLEST_PROBABILITY, 1.0 - SMALLEST_PROBABILITY)
        log_odds = np.log(p) - (np.log1p(-p) if len(p) == 1 else np.log(p).mean(axis=0))
        weights = np.where(self._places > 0, 1.0, 0.0)
        if self.rows.input_weights is not None:
            weights = weights * self.rows.input_weights
        for past in (np.roll(log_odds, 1, axis=1), self._means_before(log_odds)):
            scores = weights * ((self._outcomes - p) * past).sum(axis=0)
            changes = weights * _forecast_changes(p, slice(None), past)
            by_key = self._sum_products(changes, weighted=False)
            yield PastScores(
                np.bincount(codes, scores, minlength=count).astype(np.float64),
                np.einsum("tp,tpc->c", by_key, directions),
            )

    def _means_before(self, values: Array) -> Array:
        """Mean of the values (series, n) of the earlier rows of each sequence."""
        before = np.cumsum(values, axis=1) - values
        starts = np.arange(self.rows.n_rows) - self._places
        return np.asarray((before - before[:, starts]) / np.maximum(self._places, 1))

    @cached
    def _places(self) -> Codes:
        """Place of each row in its sequence, from 0."""
        rows = np.arange(self.rows.n_rows)
        is_first = np.append(True, self.is_last[:-1])
        return np.asarray(rows - np.maximum.accumulate(np.where(is_first, rows, 0)))

    def _residuals(self, p: Array) -> Array:
        return self._sweep(np.where(self.is_last, self._outcomes, _next(p)) - p)

    def _sum_products(self, residuals: Array, *, weighted: bool = True) -> Array:
        """Sum the features times residuals (outputs, n) by key: (keys, coefficients)."""
        keys, n_keys = self.rows.input_keys, self.rows.n_keys
        sums = np.empty((n_keys, self.rows.n_coefficients))
        for p in range(self.rows.n_coefficients):
            products = self._products(residuals, p, weighted=weighted)
            sums[:, p] = np.bincount(keys, products, minlength=n_keys)
        return sums

    def _products(self, residuals: Array, coefficient: int, *, weighted: bool = True) -> Array:
        """Feature of a coefficient times residuals, and weights unless these have them: (n,)."""
        own, feature = self.rows.feature(coefficient)
        product = np.einsum("ki,ki->i", feature, residuals[own])
        weights = self.rows.input_weights
        if weighted and weights is not None:
            product = product * weights
        return np.asarray(product)

    def _sweep(self, steps: Array) -> Array:
        return discounted_sums(np.ascontiguousarray(steps), self.is_last, self.decay)

    @cached
    def _outcomes(self) -> Array:
        return self.rows.outcomes()


def _next(values: Array) -> Array:
    """Values (series, n) of the next row; that after the last does not matter."""
    return np.roll(values, -1, axis=1)


def _forecast_changes(p: Array, own: slice, feature: Floats) -> Array:
    """Change of the forecasts with a coefficient that multiplies ``feature`` in some outputs."""
    if len(p) == 1:
        return np.asarray(p * (1.0 - p) * feature)
    changes = -p * np.einsum("ki,ki->i", *np.broadcast_arrays(p[own], feature))
    changes[own] += p[own] * feature
    return np.asarray(changes)

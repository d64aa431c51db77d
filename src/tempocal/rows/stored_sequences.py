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
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from tempocal.inputs import Codes
from tempocal.kernels import native
from tempocal.kernels.discount import discounted_sums
from tempocal.kernels.sequence_jacobian import Design, sequence_jacobian
from tempocal.kernels.thread_pool import map_on_cores
from tempocal.lazy import cached
from tempocal.links import SMALLEST_PROBABILITY, Array, Floats
from tempocal.rows.in_memory import StoredRows
from tempocal.rows.sequence_rows import PastScores

# Rows, and numbers in an array, that are worked on at a time.
BLOCK, BLOCK_NUMBERS = 2**14, 2**18


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

    def residuals(self, theta: Array) -> Array:
        """Targets minus forecasts, of shape (outputs, n)."""
        return self._residuals(self.rows.forecasts(theta))

    def linear_term(self, theta: Array) -> Array:
        """Sum of features times outcomes minus targets at ``theta``: (keys, coefficients).

        Added to the gradient of the negative log likelihood, it gives that with these targets.
        """

        def of_part(part: "StoredSequences") -> Array:
            p = part.rows.forecasts(theta)
            return part._sum_products(part._outcomes - p - part._residuals(p))

        return np.asarray(np.sum(map_on_cores(of_part, self._parts(BLOCK)), axis=0))

    def jacobian(self, theta: Array, directions: Array) -> Array:
        """Minus the derivative of Psi in the unknowns, not symmetric.

        ``directions`` are the coefficients of every key by each unknown, of shape (keys,
        coefficients of a key, unknowns).
        """
        if native is not None:
            return self._compiled_jacobian(theta, directions)
        n_unknowns = directions.shape[2]

        def of_part(part: "StoredSequences") -> Array:
            p = part.rows.forecasts(theta)
            # Change of the linear predictors, and of forecasts, with each unknown: (unknowns,
            # outputs, n).
            design = part._design(directions)
            changes = p * (1.0 - p) * design
            if len(p) > 1:
                changes = p * (design - np.einsum("kn,ckn->cn", p, design)[:, None])
            steps = np.where(part.is_last, 0.0, _next(changes)) - changes
            swept = part._sweep(steps.reshape(-1, steps.shape[2])).reshape(n_unknowns, -1)
            weights = part.rows.input_weights
            weighted = design if weights is None else design * weights
            return np.asarray(-weighted.reshape(n_unknowns, -1) @ swept.T)

        parts = self._parts(max(1, BLOCK_NUMBERS // (n_unknowns * len(self._outcomes))))
        return np.asarray(np.sum(map_on_cores(of_part, parts), axis=0))

    def _compiled_jacobian(self, theta: Array, directions: Array) -> Array:
        outputs, features = zip(*map(self.rows.feature, self._coefficients), strict=True)
        design = Design.of(directions, outputs, [len(one) for one in features])

        def of_part(part: "StoredSequences") -> Array:
            own = [part.rows.feature(k)[1] for k in part._coefficients]
            return sequence_jacobian(
                design,
                forecasts=part.rows.forecasts(theta),
                features=np.ascontiguousarray(np.concatenate(own, dtype=np.float64)),
                weights=part.rows.input_weights,
                keys=part.rows.input_keys,
                is_last=part.is_last,
                decay=self.decay,
            )

        return np.asarray(np.sum(map_on_cores(of_part, self._parts(BLOCK)), axis=0))

    @property
    def _coefficients(self) -> range:
        return range(self.rows.n_coefficients)

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

    def _parts(self, size: int) -> list["StoredSequences"]:
        """Split the rows into parts of whole sequences, each of about so many rows."""
        if size not in self._known_parts:
            ends = np.flatnonzero(self.is_last) + 1
            cuts = ends[np.searchsorted(ends, np.arange(size, ends[-1], size))]
            edges = np.unique(np.concatenate([[0], cuts, ends[-1:]]))
            self._known_parts[size] = [
                StoredSequences(
                    self.rows.select(slice(start, end)), self.codes[start:end], self.decay
                )
                for start, end in pairwise(edges.tolist())
            ]
        return self._known_parts[size]

    @cached
    def _known_parts(self) -> dict[int, list["StoredSequences"]]:
        return {}

    def _design(self, directions: Array) -> Array:
        """Change of the linear predictors with each unknown: (unknowns, outputs, n)."""
        keys = self.rows.input_keys
        design = np.zeros((directions.shape[2], len(self._outcomes), self.rows.n_rows))
        for k in range(self.rows.n_coefficients):
            own, feature = self.rows.feature(k)
            design[:, own] += directions[keys, k].T[:, None] * feature
        return design

    def _residuals(self, p: Array) -> Array:
        return self._sweep(np.where(self.is_last, self._outcomes, _next(p)) - p)

    def _sum_products(self, residuals: Array, *, weighted: bool = True) -> Array:
        """Sum the features times residuals (outputs, n) by key: (keys, coefficients)."""
        n_keys = self.rows.n_keys
        sums = np.empty((n_keys, self.rows.n_coefficients))
        for p in range(self.rows.n_coefficients):
            products = self._products(residuals, p, weighted=weighted)
            sums[:, p] = np.bincount(self._keys, products, minlength=n_keys)
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
    def _keys(self) -> Codes:
        return self.rows.input_keys.astype(np.intp, copy=False)

    @cached
    def _outcomes(self) -> Array:
        return self.rows.outcomes()


def _next(values: Array) -> Array:
    """Values (..., n) of the next row; that after the last does not matter."""
    return np.roll(values, -1, axis=-1)


def _forecast_changes(p: Array, own: slice, feature: Floats) -> Array:
    """Change of the forecasts with a coefficient that multiplies ``feature`` in some outputs."""
    if len(p) == 1:
        return np.asarray(p * (1.0 - p) * feature)
    changes = -p * np.einsum("ki,ki->i", *np.broadcast_arrays(p[own], feature))
    changes[own] += p[own] * feature
    return np.asarray(changes)

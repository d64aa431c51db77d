"""Base class for rows in memory: weights, samples, sorting by key."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from tempocal.inputs import Codes
from tempocal.kernels.key_counts import groups_by_key
from tempocal.kernels.thread_pool import map_on_cores
from tempocal.lazy import cached
from tempocal.links import Array, Floats
from tempocal.rows.group_chunks import GroupChunks
from tempocal.rows.key_layout import KeyLayout
from tempocal.rows.sums import Sums, mean_squares_of

# Rows whose squares are summed together.
BLOCK = 2**15
# Rows of a sample, at least; for each key; and for each coefficient of a key.
SAMPLE_ROWS, SAMPLE_PER_KEY, SAMPLE_PER_COEFFICIENT = 2**13, 16, 64
# A sample of more than one row in so many takes as long as it saves.
MIN_STEP = 4
# Replaces a total weight of zero.
TINY = 1e-300


class StoredRows(ABC):
    """Rows in memory in input order; a copy sorted by key is made when first needed.

    Parameters
    ----------
    features : ndarray of shape (features, n)
        Features that the coefficients multiply.
    targets : ndarray of shape (n,)
        Labels, in the form that the model takes.
    weights : ndarray of shape (n,) or None
        Weights; None counts every row once.
    keys : ndarray of shape (n,) or None
        Key of each row; None is a single key.
    n_keys : int
        Number of keys.
    """

    n_coefficients: int
    detects_separation = False
    is_exact = True

    def __init__(
        self,
        features: Floats,
        targets: NDArray[Any],
        weights: Array | None,
        keys: Codes | None,
        n_keys: int,
    ) -> None:
        self._layout = KeyLayout.of(keys, n_keys, len(targets), len(features))
        self._input_features = features
        self._input_targets = targets
        self._input_weights = None if weights is None else np.ascontiguousarray(weights)
        self.n_keys = n_keys
        self.total_weight = float(len(targets) if weights is None else weights.sum())

    @property
    def all_rows(self) -> Self:
        """These rows."""
        return self

    @cached
    def key_weights(self) -> Array:
        """Weight of the rows of each key."""
        return self._layout.key_weights(self._input_weights)

    @cached
    def _weights(self) -> Array | None:
        """Weights in key order."""
        weights = self._input_weights
        return None if weights is None else self._layout.sort(weights)

    @cached
    def _input_keys(self) -> Codes:
        """Key of each row, in input order."""
        keys = self._layout.input_keys
        return self._layout.keys() if keys is None else keys

    @cached
    def _features(self) -> Floats:
        """Features in key order, float64 or float32."""
        return np.ascontiguousarray(self._layout.sort(self._input_features))

    @cached
    def _targets(self) -> NDArray[Any]:
        """Targets in key order, which not every pass needs."""
        return self._layout.sort(self._input_targets)

    def few(self) -> Self | None:
        """Far fewer weighted rows with about the same sums; None if these are few already."""
        return self.sample()

    def sample(self) -> Self | None:
        """Systematic sample in key order with the weight of all rows; None if they are few."""
        n_rows = len(self._input_targets)
        per_key, per_coefficient = SAMPLE_PER_KEY * self.n_keys, SAMPLE_PER_COEFFICIENT
        size = max(SAMPLE_ROWS, per_key, per_coefficient * self.n_coefficients)
        step = n_rows // size
        if step < MIN_STEP:
            return None
        rows, keys = self._layout.every_nth(step), self._layout.unsorted_keys
        weights = self._input_weights
        sampled = np.ones(-(-n_rows // step)) if weights is None else weights[rows]
        scaled = sampled * (self.total_weight / max(float(sampled.sum()), TINY))
        return self._like(
            self._input_features[:, rows],
            self._input_targets[rows],
            weights=scaled,
            keys=self._layout.keys(step) if keys is None else keys[rows],
            n_keys=self.n_keys,
        )

    def _select(self, rows: slice | Codes, keys: Codes) -> Self:
        """Select rows by their input index; ``keys`` are their keys."""
        weights = self._input_weights
        return self._like(
            self._input_features[:, rows],
            self._input_targets[rows],
            weights=None if weights is None else weights[rows],
            keys=keys,
            n_keys=self.n_keys,
        )

    def has_finite_optimum(self, direction: Array) -> NDArray[np.bool_]:
        """Whether each key has a finite optimum; True unless the model detects separation."""
        return np.ones(self.n_keys, dtype=bool)

    def refine(self, theta: Array, *, diverged: bool = False) -> bool:
        """Return False: the sums are exact."""
        return False

    @cached
    def mean_squares(self) -> Array:
        """Diagonal of the Hessian at theta = 0, times 4 and divided by the total weight."""
        return mean_squares_of(self)

    def groups_by_key(self, codes: Codes, count: int) -> Array:
        """Count the groups that have rows under each key."""
        return groups_by_key(self._input_keys, self.n_keys, codes, count)

    def group_gradients(
        self, theta: Array, codes: Codes, count: int
    ) -> Iterator[Sequence[Array | csr_array]]:
        """Gradient summed over the rows of each group and key: (groups, keys) by coefficient."""
        yield from self._sparse_gradients(theta, codes, GroupChunks(codes, count, self.n_keys))

    def _sparse_gradients(
        self, theta: Array, codes: Codes, chunks: GroupChunks
    ) -> Iterator[list[csr_array]]:
        """Sum the gradient by group and key, as sparse matrices."""
        for groups, rows in chunks.sparse():
            chunk = self._select(rows, self._input_keys[rows])
            local = codes[rows].astype(np.intp) - groups.start
            # Rows are sorted by key, so the conversion to CSR does not have to sort them.
            indices = (chunk._layout.sort(local), chunk._layout.keys())
            yield [
                coo_array((values, indices), shape=(len(groups), self.n_keys)).tocsr()
                for values in chunk._row_gradients(theta[chunk._layout.present])
            ]

    def losses(self, theta: Array) -> Array:
        """Negative log likelihood alone, of shape (keys,)."""
        return self.sums(theta, hessian=False).loss

    @abstractmethod
    def sums(self, theta: Array, *, hessian: bool = True) -> Sums:
        """Negative log likelihood and derivatives at ``theta`` of shape (keys, coefficients)."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self._input_targets)

    @property
    def input_keys(self) -> Codes:
        """Key of each row, in input order."""
        return self._input_keys

    @property
    def input_weights(self) -> Array | None:
        """Weight of each row, in input order."""
        return self._input_weights

    def select(self, rows: slice | Codes) -> Self:
        """Select rows by their index in input order."""
        return self._select(rows, self._input_keys[rows])

    @abstractmethod
    def forecasts(self, theta: Array) -> Array:
        """Probabilities in input order: (1, n) of a sigmoid, (classes, n) of a softmax."""

    @abstractmethod
    def outcomes(self) -> Array:
        """Targets in input order, in the shape of `forecasts`."""

    @abstractmethod
    def feature(self, coefficient: int) -> tuple[slice, Floats]:
        """Which linear predictors a coefficient of the key enters, and what it multiplies there."""

    @abstractmethod
    def _row_gradients(self, theta: Array) -> Iterator[Array]:
        """Gradient of each row (n,) with respect to each coefficient in turn.

        Rows are in key order; ``theta`` has only the keys that have rows.
        """

    @abstractmethod
    def _like(self, features: Floats, targets: NDArray[Any], **common: Any) -> Self:
        """Make other rows of the same model."""

    def _feature_mean_squares(self) -> Array:
        features, weights = self._input_features, self._input_weights

        def sum_squares(start: int) -> Array:
            rows = slice(start, start + BLOCK)
            x = np.ascontiguousarray(features[:, rows], dtype=np.float64)
            weighted = x if weights is None else x * weights[rows]
            # einsum rather than BLAS, whose threads may wait for cores that others use.
            return np.asarray(np.einsum("pi,pi->p", weighted, x, dtype=np.float64))

        parts = map_on_cores(sum_squares, range(0, features.shape[1], BLOCK))
        return np.asarray(np.sum(parts, axis=0) / max(self.total_weight, TINY))

    def _zeros(self, hessian: bool) -> Sums:
        return Sums.zeros(len(self._layout.present), self.n_coefficients, hessian=hessian)

    def _weigh(self, values: Array, rows: slice) -> Array:
        if self._weights is None:
            return values
        return np.asarray(values * self._weights[rows], dtype=np.float64)

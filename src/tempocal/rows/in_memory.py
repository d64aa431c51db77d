"""Base class for rows in memory: subsampling, weights, sorting by key."""

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
    def is_small(self) -> bool:
        """Whether a few passes over all rows take less time than building a surrogate."""
        return False

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

    def subsample(self, size: int) -> Self:
        """Systematic sample of about ``size`` rows in key order; all rows if they are few."""
        if self.is_small:
            return self
        step = max(1, len(self._input_targets) // size)
        rows, keys = self._layout.every_nth(step), self._layout.unsorted_keys
        return self._select(rows, self._layout.keys(step) if keys is None else keys[rows])

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

    def moment_matched(self) -> Self | None:
        """Far fewer weighted rows with nearly the same sums; None if there are none."""
        return None

    def has_finite_optimum(self, direction: Array) -> NDArray[np.bool_]:
        """Whether each key has a finite optimum; True unless the model detects separation."""
        return np.ones(self.n_keys, dtype=bool)

    def refine(self, theta: Array) -> bool:
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

"""What all rows in memory share: they are thinned, weighed and, where need be, sorted alike."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from tempocal.inputs import Codes
from tempocal.kernels.dots import dots
from tempocal.kernels.key_counts import groups_by_key
from tempocal.kernels.thread_pool import map_on_cores
from tempocal.lazy import cached
from tempocal.links import Array, Floats
from tempocal.rows.group_chunks import Stripes
from tempocal.rows.key_layout import Layout
from tempocal.rows.sums import Sums, squares_of

# Rows whose squares are summed at once.
BLOCK = 2**15
# Stands for the weight of no rows.
TINY = 1e-300


class StoredRows(ABC):
    """Rows held in memory as they came; a copy in the order of their keys is made if asked for.

    Parameters
    ----------
    features : ndarray of shape (features, n)
        What the coefficients multiply.
    targets : ndarray of shape (n,)
        Labels, as the model wants them.
    weights : ndarray of shape (n,) or None
        Weights; None counts every row once.
    keys : ndarray of shape (n,) or None
        Key of each row; None is a single key.
    n_keys : int
        Number of keys.
    """

    n_coefficients: int
    know_ends = False

    def __init__(
        self,
        features: Floats,
        targets: NDArray[Any],
        weights: Array | None,
        keys: Codes | None,
        n_keys: int,
    ) -> None:
        self._layout = Layout.of(keys, n_keys, len(targets), len(features))
        self._features_as_they_came = features
        self._targets_as_they_came = targets
        self._weights_as_they_came = None if weights is None else np.ascontiguousarray(weights)
        self.n_keys = n_keys
        self.total_weight = float(len(targets) if weights is None else weights.sum())

    @property
    def is_quick(self) -> bool:
        """Whether some passes over all rows take less time than to find few that stand for them."""
        return False

    @cached
    def key_weights(self) -> Array:
        """Weight of the rows of each key."""
        return self._layout.key_weights(self._weights_as_they_came)

    @cached
    def _weights(self) -> Array | None:
        """Weights in the order of the keys."""
        weights = self._weights_as_they_came
        return None if weights is None else self._layout.sort(weights)

    @cached
    def _keys_as_they_came(self) -> Codes:
        """Key of each row."""
        keys = self._layout.keys_as_they_came
        return self._layout.keys() if keys is None else keys

    @cached
    def _features(self) -> Floats:
        """Features in the order of the keys, doubles or floats."""
        return np.ascontiguousarray(self._layout.sort(self._features_as_they_came))

    @cached
    def _targets(self) -> NDArray[Any]:
        """Targets in the order of the keys, which not every pass asks for."""
        return self._layout.sort(self._targets_as_they_came)

    def thin(self, size: int) -> Self:
        """About ``size`` of the rows under their keys, evenly spaced; all, if no more or quick."""
        if self.is_quick:
            return self
        step = max(1, len(self._targets_as_they_came) // size)
        some, keys = self._layout.one_in(step), self._layout.keys_as_they_came
        return self._some(some, self._layout.keys(step) if keys is None else keys[some])

    def _some(self, rows: slice | Codes, keys: Codes) -> Self:
        """Take some of the rows, as they came; ``keys`` are theirs."""
        weights = self._weights_as_they_came
        return self._like(
            self._features_as_they_came[:, rows],
            self._targets_as_they_came[rows],
            weights=None if weights is None else weights[rows],
            keys=keys,
            n_keys=self.n_keys,
        )

    def condensed(self) -> Self | None:
        """Far fewer rows, with weights, that have about the same sums; None if there are none."""
        return None

    def descend(self, identity: Array, pull: Array, lower: Array) -> Array | None:
        """Coefficients close to the optimum of each key; None where there is no quick way."""
        return None

    def have_end(self, direction: Array) -> NDArray[np.bool_]:
        """Whether the loss of each key rises in the end; rows that cannot tell say that it does."""
        return np.ones(self.n_keys, dtype=bool)

    def sharpen(self, theta: Array) -> bool:
        """Look closer: there is no more to see than is known."""
        return False

    @cached
    def squares(self) -> Array:
        """Mean square of what each coefficient multiplies, times 4 p (1 - p) where all is even."""
        return squares_of(self)

    def groups_by_key(self, codes: Codes, count: int) -> Array:
        """How many groups have rows under each key."""
        return groups_by_key(self._keys_as_they_came, self.n_keys, codes, count)

    def group_gradients(
        self, theta: Array, codes: Codes, count: int
    ) -> Iterator[Sequence[Array | csr_array]]:
        """Gradient summed over the rows of each group and key: (groups, keys) by coefficient."""
        yield from self._entries(theta, codes, Stripes(codes, count, self.n_keys))

    def _entries(self, theta: Array, codes: Codes, stripes: Stripes) -> Iterator[list[csr_array]]:
        """Sum the gradient by group and key, in tables with entries where there are rows."""
        for groups, rows in stripes.sparse():
            some = self._some(rows, self._keys_as_they_came[rows])
            own = codes[rows].astype(np.intp) - groups.start
            # Sorted by key as they are, rows of a group need no sorting to be summed by key.
            places = (some._layout.sort(own), some._layout.keys())
            yield [
                coo_array((values, places), shape=(len(groups), self.n_keys)).tocsr()
                for values in some._row_gradients(theta[some._layout.present])
            ]

    def losses(self, theta: Array) -> Array:
        """Negative log likelihood alone, of shape (keys,)."""
        return self.sums(theta, hessian=False).loss

    @abstractmethod
    def sums(self, theta: Array, *, hessian: bool = True) -> Sums:
        """Negative log likelihood and derivatives at ``theta`` of shape (keys, coefficients)."""

    @abstractmethod
    def _row_gradients(self, theta: Array) -> Iterator[Array]:
        """Gradient of each row (n,) by one coefficient after the other.

        Rows are in the order of their keys; ``theta`` is of those with rows only.
        """

    @abstractmethod
    def _like(self, features: Floats, targets: NDArray[Any], **common: Any) -> Self:
        """Rows of the same model."""

    def _mean_squares(self) -> Array:
        """Mean square of each feature, in whatever order rows are."""
        features, weights = self._features_as_they_came, self._weights_as_they_came

        def sum_squares(start: int) -> Array:
            rows = slice(start, start + BLOCK)
            x = np.ascontiguousarray(features[:, rows], dtype=np.float64)
            return dots(x if weights is None else x * weights[rows], x)

        parts = map_on_cores(sum_squares, range(0, features.shape[1], BLOCK))
        return np.asarray(np.sum(parts, axis=0) / max(self.total_weight, TINY))

    def _zeros(self, hessian: bool) -> Sums:
        """Start from nothing, for the keys with rows only."""
        return Sums.zeros(len(self._layout.present), self.n_coefficients, hessian=hessian)

    def _weigh(self, values: Array, rows: slice) -> Array:
        if self._weights is None:
            return values
        return np.asarray(values * self._weights[rows], dtype=np.float64)

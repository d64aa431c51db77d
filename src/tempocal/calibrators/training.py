"""What a fit starts from and what it leaves behind."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import Codes, Groups
from tempocal.links import Array, log_odds, nll_from_logits
from tempocal.maps import FittedMap, one_column
from tempocal.rows import map_on_cores

# Rows whose log-probabilities are held at once when a fit is scored.
BLOCK = 2**15


@dataclass(frozen=True)
class Training:
    """Checked input of a fit."""

    logits: Array  # (n,) or (n, classes)
    labels: Codes
    weights: Array | None
    groups: Groups | None
    n_classes: int
    times: Array | None = None  # (n,) or (n, 2)

    @property
    def total_weight(self) -> float:
        """Weight of all rows together."""
        return float(len(self.labels) if self.weights is None else self.weights.sum())

    def counted(self) -> Self:
        """Leave out the rows of weight zero."""
        if self.weights is None or self.weights.all():
            return self
        return self.take(self.weights > 0)

    def take(self, kept: NDArray[Any]) -> Self:
        """Leave out the rows that a mask, or a list of positions, does not keep."""
        groups = None
        if self.groups is not None:
            found, codes = np.unique(self.groups.codes[kept], return_inverse=True)
            groups = Groups(codes, len(found))
        return replace(
            self,
            logits=self.logits[kept],
            labels=self.labels[kept],
            weights=None if self.weights is None else self.weights[kept],
            groups=groups,
            times=None if self.times is None else self.times[kept],
        )

    def binary_problems(self) -> list[tuple[Array, Array]]:
        """Log-odds and 0/1 targets: once for two classes, else each class against the rest."""
        if self.n_classes == 2:
            return [(one_column(self.logits), self.labels.astype(np.float64))]
        odds = np.ascontiguousarray(log_odds(self.logits).T)
        return [(odds[k], (self.labels == k).astype(np.float64)) for k in range(self.n_classes)]

    def nll(self, fitted: Callable[..., Array] | None = None) -> float:
        """Mean negative log likelihood of the rows, as they are or mapped."""
        return self.mean(self.row_nll(fitted))

    def mean(self, values: Array) -> float:
        """Weighted mean over rows."""
        total = float(values.sum() if self.weights is None else values @ self.weights)
        return total / self.total_weight

    def row_nll(self, fitted: Callable[..., Array] | None = None) -> Array:
        """Negative log likelihood of each row; a map along time is given the times as well."""

        def losses(block: slice) -> Array:
            logits = self.logits[block] if fitted is None else fitted(*self._inputs(block))
            return nll_from_logits(logits, self.labels[block])

        starts = range(0, len(self.labels), BLOCK)
        return np.concatenate(
            map_on_cores(losses, [slice(start, start + BLOCK) for start in starts])
        )

    def _inputs(self, block: slice) -> tuple[Array, ...]:
        if self.times is None:
            return (self.logits[block],)
        return self.logits[block], self.times[block]


@dataclass(frozen=True)
class Fitted:
    """The map that was fitted, and what is worth knowing about how."""

    map: FittedMap
    details: Mapping[str, Any] = field(default_factory=dict)
    # None where the fit did not ask how much the rows of a group say.
    design_effect: float | None = None
    # Known from the fit itself, else computed.
    nll_before: float | None = None
    nll_after: float | None = None

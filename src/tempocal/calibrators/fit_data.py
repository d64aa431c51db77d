"""What a fit starts from and what it leaves behind."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tempocal.calibrators.online_state import OnlineState
from tempocal.calibrators.standardization import StandardizationCache
from tempocal.calibrators.summary import Summary
from tempocal.curves import Curve, Track
from tempocal.inputs import Codes, Groups
from tempocal.kernels import native
from tempocal.kernels.binary_losses import compare, dot
from tempocal.kernels.key_counts import groups_by_key
from tempocal.kernels.min_max import min_max
from tempocal.kernels.thread_pool import map_on_cores
from tempocal.lazy import cached
from tempocal.links import Array, Floats, log_features, nll_from_logits, one_column
from tempocal.maps import BinaryMap, FittedMap
from tempocal.nonparametric import OrderedRows, losses_before_and_after
from tempocal.rows import LabelledLogits, LinearPredictor, Rows
from tempocal.solve import fold_codes

# Rows whose log-probabilities are held at once when a fit is scored.
BLOCK = 2**15


@dataclass(frozen=True)
class FitData:
    """Checked input of a fit."""

    # Logits (n,) or (n, classes); they may be floats, which the loops read as such.
    raw_logits: Floats
    labels: Codes
    weights: Array | None
    groups: Groups | None
    n_classes: int
    times: Array | None = None  # (n,) or (n, 2)
    earlier_class_weights: Array | None = None  # weight of each class in rows that came before
    max_abs_logit: float | None = None  # absolute logit, where it is known
    class_counts: Codes | None = None  # rows of each class, where they are known
    # Coordinates of the coefficients, the same for parts of the rows.
    standardizations: StandardizationCache = field(
        default_factory=StandardizationCache, compare=False
    )

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.labels)

    @property
    def n_rows_in_memory(self) -> int:
        """How many rows are in memory: all of them, or those that stand for the rows of a table."""
        return len(self.labels)

    @cached
    def logits(self) -> Array:
        """Logits as doubles, all of them at once."""
        return self.raw_logits.astype(np.float64, copy=False)

    def logits_of(self, rows: slice | NDArray[Any]) -> Array:
        """Logits of some of the rows, as doubles."""
        return self.raw_logits[rows].astype(np.float64, copy=False)

    @property
    def has_one_column(self) -> bool:
        """Whether one logit stands for two classes."""
        return self.raw_logits.ndim == 1

    @property
    def n_columns(self) -> int:
        """How many logits a row has."""
        return 1 if self.has_one_column else self.raw_logits.shape[1]

    @cached
    def largest_logit(self) -> float:
        """Largest absolute logit."""
        if self.max_abs_logit is not None:
            return self.max_abs_logit
        low, high = min_max(self.raw_logits)
        return float(max(high, -low))

    @cached
    def class_weights(self) -> Array:
        """Weight of the rows of each class, and of those that came before."""
        counts = self.class_counts if self.weights is None else None
        if counts is None:
            counts = np.bincount(self.labels, self.weights, minlength=self.n_classes)
        total = counts.astype(np.float64, copy=False)
        return total if self.earlier_class_weights is None else total + self.earlier_class_weights

    @cached
    def scores(self) -> LabelledLogits:
        """Logits and labels, and log-odds once they are asked for."""
        return LabelledLogits(self.raw_logits, self.labels, self.n_classes)

    @property
    def total_weight(self) -> float:
        """Weight of all rows together."""
        return float(len(self.labels) if self.weights is None else self.weights.sum())

    def without_zero_weights(self) -> Self:
        """Leave out the rows of weight zero."""
        if self.weights is None or self.weights.all():
            return self
        return self.take(self.weights > 0)

    def part(self, rows: Codes) -> Self:
        """Take some of the rows, to be fitted again."""
        return self.take(rows)

    def take(self, kept: NDArray[Any]) -> Self:
        """Leave out the rows that a mask, or a list of positions, does not keep."""
        return replace(
            self,
            raw_logits=self.raw_logits[kept],
            labels=self.labels[kept],
            weights=None if self.weights is None else self.weights[kept],
            groups=None if self.groups is None else self.groups.take(kept),
            times=None if self.times is None else self.times[kept],
            max_abs_logit=None,
            class_counts=None,
        )

    @property
    def one_vs_rest_classes(self) -> range:
        """Classes that are told from the rest: the second of two, else each."""
        return range(1, 2) if self.n_classes == 2 else range(self.n_classes)

    def binary_problems(self) -> Iterator[tuple[Array, NDArray[Any], Array | None]]:
        """Log-odds, 0/1 targets and weights, of each class that is told from the rest."""
        for k in self.one_vs_rest_classes:
            yield self.scores.odds[k], self.labels == k, self.weights

    def rows_factory(self, predictor: LinearPredictor) -> Callable[[Codes | None, int], Rows]:
        """Return what makes the rows of a model, from the key of each and the number of keys."""

        def rows(keys: Codes | None, n_keys: int) -> Rows:
            return predictor.stored(self.scores, weights=self.weights, keys=keys, n_keys=n_keys)

        return rows

    def track(self, curve: Curve) -> Track:
        """Lay a curve along the times."""
        assert self.times is not None
        return curve.track(self.times, self.weights)

    def groups_by_key(self, keys: Codes, n_keys: int) -> Array | None:
        """How many groups have rows under each key; None without groups."""
        if self.groups is None:
            return None
        return groups_by_key(keys, n_keys, self.groups.codes, self.groups.count)

    def moment(self, *, of_log_proba: bool) -> Array:
        """Curvature of the loss in the weights and the bias of a class, where all are as probable.

        It rounds the problem for L-BFGS.
        """

        def squares(start: int) -> Array:
            rows = slice(start, start + BLOCK)
            x = log_features(self.logits_of(rows)) if of_log_proba else self.logits_of(rows)
            features = np.concatenate([x, np.ones((len(x), 1))], axis=1)
            weighted = features if self.weights is None else features * self.weights[rows, None]
            return np.asarray(weighted.T @ features)

        share = 1.0 / self.n_classes
        starts = range(0, self.n_rows, BLOCK)
        return np.asarray(share * (1.0 - share) * sum(map(squares, starts)), dtype=np.float64)

    def folds(self, count: int, seed: int = 0) -> Codes:
        """Fold of each row; the rows of a group are in one."""
        return fold_codes(self.n_rows, self.groups, count, seed)

    def add_to_summary(
        self, summary: Summary, losses: tuple[float, float], details: Mapping[str, Any]
    ) -> Summary:
        """Add these rows, of which the mean losses before and after calibration are known."""
        n_groups = None if self.groups is None else self.groups.count
        return summary.add_batch(
            self.n_rows, self.total_weight, n_groups, losses=losses, details=details
        )

    def before_and_after(self, fitted: Callable[..., Array]) -> tuple[float, float]:
        """Mean negative log likelihood of the rows as they are, and mapped."""
        if native is None or not self.has_one_column:
            return self.nll(), self.nll(fitted)

        def sums(start: int) -> Array:
            rows = slice(start, start + BLOCK)
            mapped = one_column(fitted(*self._inputs(rows)))
            weights = None if self.weights is None else self.weights[rows]
            return compare(self.raw_logits[rows], mapped, self.labels[rows], weights)

        parts = map_on_cores(sums, range(0, self.n_rows, BLOCK))
        before, after, *_ = np.sum(parts, axis=0) / self.total_weight
        return float(before), float(after)

    def curve_losses(self, ordered: OrderedRows, curve: BinaryMap) -> tuple[float, float]:
        """Do that for a curve and rows of one column in order, which are looked up in no time."""
        return losses_before_and_after(ordered, curve)

    def nll(self, fitted: Callable[..., Array] | None = None) -> float:
        """Mean negative log likelihood of the rows, as they are or mapped, with times if any."""

        def loss(start: int) -> float:
            rows = slice(start, start + BLOCK)
            logits = self.logits_of(rows) if fitted is None else fitted(*self._inputs(rows))
            losses = nll_from_logits(logits, self.labels[rows])
            return float(losses.sum()) if self.weights is None else dot(losses, self.weights[rows])

        return sum(map_on_cores(loss, range(0, self.n_rows, BLOCK))) / self.total_weight

    def mean(self, values: Array) -> float:
        """Weighted mean over rows."""
        total = float(values.sum()) if self.weights is None else dot(values, self.weights)
        return total / self.total_weight

    def _inputs(self, block: slice) -> tuple[Array, ...]:
        if self.times is None:
            return (self.logits_of(block),)
        return self.logits_of(block), self.times[block]


@dataclass(frozen=True)
class FitResult:
    """The map that was fitted, and what is worth knowing about how."""

    map: FittedMap
    details: Mapping[str, Any] = field(default_factory=dict)
    # None where the fit did not ask how much the rows of a group say.
    design_effect: float | None = None
    # Known from the fit itself, else computed.
    nll_before: float | None = None
    nll_after: float | None = None
    # What to go on from when more rows come.
    online_state: OnlineState | None = None

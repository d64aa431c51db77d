"""Rows with class probabilities and labels, in memory or in a table, as what metrics sum over.

A metric is written once, as formulas of columns (`tempocal.formula`) and a few sums of them by key.
`ScoredArrays` evaluates them with NumPy, block by block; `ScoredFrame` leaves them to the engine
that holds the table. Columns that rows have from the start are ``p0``, ``p1``, ... of the
classes, ``label`` (a class code), ``weight``, ``group`` and ``time_bin``.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tempocal.formula.links import top_class
from tempocal.formula.nodes import (
    Below,
    Column,
    Condition,
    Expression,
    Largest,
    Number,
    Same,
    Where,
    total,
)
from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.metrics.edges import Edges, equal_width
from tempocal.metrics.gap_metric import GapMetric
from tempocal.metrics.time_bins import TimeBins

# Groups are summed in at most this many buckets. Groups are independent, so that the variance of
# the bucket sums is that of the groups; it is known to 1 / sqrt(2 * 1000), 2 %.
BUCKETS = 1000
LABEL = Column("label")
# Finite logits lie within 2**53, and so does what is lost by them.
LARGEST_SURPRISAL = 2.0**60
# Sums by key: key columns, and a column for each sum.
Sums = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class SumBy:
    """Formulas to sum, and the columns that they are summed by."""

    keys: tuple[str, ...]
    terms: Mapping[str, Expression]


@dataclass(frozen=True, eq=False)
class ScoredRows(ABC):
    """Rows to sum over.

    Attributes
    ----------
    time_bins : TimeBins
        Time bins of the rows.
    n_classes, n_rows : int
        Number of classes and of rows.
    n_groups : int or None
        Number of groups; None if rows are independent.
    has_weights : bool
        Whether rows have weights.
    """

    time_bins: TimeBins
    n_classes: int
    n_rows: int
    n_groups: int | None
    has_weights: bool

    @property
    def n_units(self) -> int | None:
        """Number of groups or rows that can be dealt to buckets; None for rows without ids."""
        return self.n_groups

    @property
    def weight(self) -> Expression:
        """Weight of a row."""
        return Column("weight") if self.has_weights else Number(1.0)

    @property
    def unit_weight(self) -> Expression | None:
        """Weight of a row in a sum whose square estimates a variance; None for its weight.

        Rows of a group are summed before squaring. Without groups, a row of weight w stands for w
        independent rows, whose variance is w times that of one.
        """
        return None

    @property
    def draws_are_own(self) -> bool:
        """Whether each group or row can have draws of its own, not hashes of its id."""
        return True

    @abstractmethod
    def in_time_bins(self, time_bins: TimeBins) -> Self:
        """Return the rows with their ``time_bin``."""

    @abstractmethod
    def with_columns(self, columns: Mapping[str, Expression]) -> Self:
        """Add columns; the same expression in several of them is evaluated once."""

    @abstractmethod
    def with_edges(self, edges: list[Edges], event: int) -> Self:
        """Add the ``bin`` of an event; the edges are those of each time bin, or the same in all."""

    @abstractmethod
    def with_draws(
        self, max_buckets: int, rng: np.random.Generator, count: int
    ) -> tuple[Self, int]:
        """Add the ``bucket`` of each group, and uniform numbers ``u0``, ``u1``, ... in [0, 1).

        Also returns the number of buckets. All rows of a group have the same bucket and numbers.
        """

    @abstractmethod
    def equal_mass_edges(self, event: int, bins: int) -> list[Edges]:
        """Edges of bins of equal mass in each time bin, from the ``confidence`` of an event."""

    @abstractmethod
    def groups_by_time_bin(self) -> Array:
        """Count the groups with rows in each time bin."""

    @abstractmethod
    def sum_by(self, doing: str, *wanted: SumBy) -> list[Sums]:
        """Return the sums over the rows of each key, in one pass.

        Several rows of a result may have the same key; they are to be added up. ``doing`` says
        what the pass is for.
        """

    def max_buckets(self, n_cells: int) -> int:
        """Limit the number of buckets, of so many cells each."""
        return BUCKETS

    @property
    def draws_per_pass(self) -> int:
        """How many draws for each group to add at a time."""
        return 50

    @property
    def events_per_pass(self) -> int:
        """How many events to sum in one pass."""
        return 1

    @abstractmethod
    def require_few_cells(self, metric: GapMetric) -> None:
        """Refuse more bins than can be summed by."""

    def proba(self, prefix: str = "p") -> list[Expression]:
        """Return the probability of each class."""
        return [Column(f"{prefix}{k}") for k in range(self.n_classes)]

    @abstractmethod
    def has_column(self, name: str) -> bool:
        """Whether there is a column of this name."""

    def surprisal(self, prefix: str = "p") -> list[Expression] | None:
        """Return ``-log p`` of each class, if it was found from logits; else None.

        That of a class which was said to be impossible is beyond `LARGEST_SURPRISAL`.
        """
        names = [f"{prefix}_surprisal{k}" for k in range(self.n_classes)]
        return [Column(name) for name in names] if self.has_column(names[0]) else None

    def of_true_class(self, prefix: str = "p") -> Expression:
        """Return, of columns for each class, the one of the true class."""
        *others, found = self.proba(prefix)
        for k, each in reversed(list(enumerate(others))):
            found = Where(Same(LABEL, Number(float(k))), each, found)
        return found

    def only_after(self) -> Self:
        """Return the rows with the probabilities ``after0``, ... in place of their own."""
        return self.with_columns({f"p{k}": each for k, each in enumerate(self.proba("after"))})

    def highest(self, prefix: str = "p") -> Expression:
        """Return the probability of the most probable class."""
        return Largest(tuple(self.proba(prefix)))

    def top_class(self, highest: Expression, prefix: str = "p") -> Expression:
        """Return the class with the highest probability, the first of them in a tie."""
        return top_class(self.proba(prefix), highest)

    def with_event(self, metric: GapMetric, event: int) -> Self:
        """Add the columns of an event, whose names end in its number.

        ``confidence`` is its predicted probability, ``outcome`` is 1 where it occurred, and
        ``below`` is the total probability of the classes before its class.
        """
        proba = self.proba()
        if metric.of == "top_label":
            confidence = self.highest()
            top = self.top_class(confidence)
            outcome = indicator(Same(top, LABEL))
            below = total(
                each * indicator(Below(Number(float(k)), top)) for k, each in enumerate(proba[:-1])
            )
        else:
            column = 1 if metric.of == "positive_class" else event
            confidence, below = proba[column], total(proba[:column])
            outcome = indicator(Same(LABEL, Number(float(column))))
        columns = {"confidence": confidence, "outcome": outcome, "below": below}
        return self.with_columns({f"{name}{event}": each for name, each in columns.items()})

    def with_bins(self, metric: GapMetric, event: int) -> Self:
        """Add the ``bin`` of an event."""
        return self.with_edges(self.edges_of(metric, event), event)

    def edges_of(self, metric: GapMetric, event: int) -> list[Edges]:
        """Return the edges in each time bin, or the same for all."""
        if metric.binning == "equal_width":
            return [equal_width(metric.bins)]
        return self.equal_mass_edges(event, metric.bins)


def indicator(condition: Condition) -> Expression:
    """1 where a condition holds, else 0."""
    return Where(condition, Number(1.0), Number(0.0))


def add_up(found: Sums, name: str, sizes: dict[str, int]) -> Array:
    """Add up the sums of each key: an array with an axis for each of the keys in ``sizes``."""
    shape = tuple(sizes.values())
    codes = np.ravel_multi_index([found[key].astype(np.intp) for key in sizes], shape)
    sums = np.bincount(codes, found[name], minlength=int(np.prod(shape)))
    return np.asarray(sums.reshape(shape), dtype=np.float64)


def assign_buckets(n_groups: int, max_buckets: int) -> tuple[Codes, int]:
    """Bucket of each group, and the number of buckets; one for each group if they suffice."""
    count = min(max_buckets, n_groups)
    if count == n_groups:
        return np.arange(n_groups), count
    # At random, since ids may follow a periodic pattern.
    return np.random.default_rng(0).permutation(n_groups) % count, count


def independent_units(rows: ScoredRows, weights: Array) -> tuple[Array, float]:
    """Count the independent units in each time bin and in all, given (buckets, S) weights."""
    if rows.n_groups is None:
        return weights.sum(axis=0), float(weights.sum())
    if len(weights) == rows.n_groups and rows.draws_are_own:  # each bucket is a group
        return np.count_nonzero(weights, axis=0).astype(np.float64), float(rows.n_groups)
    return rows.groups_by_time_bin(), float(rows.n_groups)

"""Rows in memory whose formulas are evaluated with NumPy, in blocks that stay in the cache."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tempocal.formula import interpret
from tempocal.formula.nodes import Column, Expression, Number, is_number
from tempocal.formula.numpy_engine import NumpyEngine
from tempocal.inputs import Codes, Groups
from tempocal.links import Array
from tempocal.metrics.edges import Edges, equal_mass
from tempocal.metrics.events import Events
from tempocal.metrics.gap_metric import GapMetric
from tempocal.metrics.predictions import CheckedPredictions, row_blocks
from tempocal.metrics.scored_rows import ScoredRows, SumBy, Sums, assign_buckets
from tempocal.metrics.time_bins import TimeBins, single_time_bin

# Sums by more keys than this are taken over all rows at once, not block by block.
FEW_KEYS = 2**12
# With more keys than this, those that have rows are numbered by sorting.
MANY_KEYS = 2**22
# Drawn numbers to hold at a time.
MAX_DRAWN = 2**22


@dataclass(frozen=True, eq=False)
class ByGroup:
    """A column that has one value for each group."""

    values: NDArray[Any]


@dataclass(frozen=True, eq=False)
class ByEdges:
    """The bin of each confidence."""

    confidence: str
    edges: Edges


@dataclass(frozen=True, eq=False)
class ScoredArrays(ScoredRows):
    """Checked predictions, their groups and time bins, and columns to evaluate."""

    rows: CheckedPredictions
    groups: Groups | None
    time_bins: TimeBins
    columns: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)  # of key columns

    @classmethod
    def of(
        cls,
        rows: CheckedPredictions,
        groups: Groups | None = None,
        time_bins: TimeBins | None = None,
    ) -> Self:
        """Rows in some time bins, by default in one."""
        return cls(rows, groups, time_bins or single_time_bin(len(rows.codes)))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.rows.n_classes

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.rows.codes)

    @property
    def n_groups(self) -> int | None:
        """Number of groups."""
        return None if self.groups is None else self.groups.count

    @property
    def n_units(self) -> int:
        """Number of groups, or of rows."""
        return self.n_rows if self.groups is None else self.groups.count

    @property
    def weight(self) -> Expression:
        """Weight of a row."""
        return Number(1.0) if self.rows.weight is None else Column("weight")

    @property
    def unit_weight(self) -> Expression | None:
        """Weight of a row in a sum whose square estimates a variance; None for its weight."""
        has_weights = self.rows.weight is not None and self.groups is None
        return Column("root_weight") if has_weights else None

    @property
    def group_codes(self) -> Codes:
        """Group of each row; the row itself if no groups were given."""
        return np.arange(self.n_rows) if self.groups is None else self.groups.codes

    def in_time_bins(self, time_bins: TimeBins) -> Self:
        """Return the rows in other time bins."""
        return replace(self, time_bins=time_bins)

    def with_columns(self, columns: Mapping[str, Any]) -> Self:
        """Add columns, which are evaluated when they are summed."""
        return replace(self, columns={**self.columns, **columns})

    def with_proba(self, prefix: str, proba: Array) -> Self:
        """Add other probabilities of the classes."""
        names = [f"{prefix}{k}" for k in range(self.n_classes)]
        return self.with_columns({prefix: proba, **dict(zip(names, proba.T, strict=True))})

    def with_edges(self, edges: list[Edges], event: int) -> Self:
        """Add the bin of an event."""
        confidence, name = f"confidence{event}", f"bin{event}"
        sizes = {**self.sizes, name: max(each.n_bins for each in edges)}
        if len(edges) == 1:
            column: Any = ByEdges(confidence, edges[0])
        else:
            values, column = self._values(confidence), np.empty(self.n_rows, dtype=np.intp)
            for inside, each in zip(self.rows_by_time_bin(), edges, strict=True):
                column[inside] = each.locate(values[inside])
        return replace(self.with_columns({name: column}), sizes=sizes)

    def with_draws(
        self, max_buckets: int, rng: np.random.Generator, count: int
    ) -> tuple[Self, int]:
        """Add the bucket of each group and its uniform numbers."""
        bucket_of, n_buckets = assign_buckets(self.n_units, max_buckets)
        drawn = {f"u{d}": ByGroup(rng.random(self.n_units)) for d in range(count)}
        rows = self.with_columns({"bucket": ByGroup(bucket_of), **drawn})
        return replace(rows, sizes={**self.sizes, "bucket": n_buckets}), n_buckets

    def require_few_cells(self, metric: GapMetric) -> None:
        """Accept any number of bins: empty ones take no memory."""

    def draws_per_pass(self) -> int:
        """How many draws for each group to hold."""
        return int(np.clip(MAX_DRAWN // self.n_units, 1, super().draws_per_pass()))

    def equal_mass_edges(self, event: int, bins: int) -> list[Edges]:
        """Edges from the confidences themselves."""
        values, weight = self._values(f"confidence{event}"), self.rows.weight
        outcome = np.zeros(0, dtype=np.bool_)
        return [
            equal_mass(
                Events(values[k], outcome, None if weight is None else weight[k], "", 0), bins
            )
            for k in self.rows_by_time_bin()
        ]

    def rows_by_time_bin(self) -> list[Any]:
        """Return the indices of the rows of each time bin."""
        if self.time_bins.count == 1:
            return [slice(None)]
        small = self.time_bins.codes.astype(np.min_scalar_type(self.time_bins.count))
        return np.split(np.argsort(small, kind="stable"), np.cumsum(self.time_bins.n_rows)[:-1])

    def groups_by_time_bin(self) -> Array:
        """Count the groups with rows in each time bin."""
        assert self.groups is not None
        parts = (self.groups.codes[rows] for rows in self.rows_by_time_bin())
        return np.array([np.count_nonzero(np.bincount(codes)) for codes in parts], dtype=np.float64)

    def sum_by(self, doing: str, *wanted: SumBy) -> list[Sums]:
        """Sum block by block."""
        tables = [_SumTable(each, [self._size(key) for key in each.keys]) for each in wanted]
        with np.errstate(invalid="ignore"):
            for block in self._blocks():
                for table in tables:
                    table.add(block)
        return [table.sums() for table in tables]

    def _size(self, key: str) -> int:
        known = {"time_bin": self.time_bins.count, "group": self.n_units}
        return self.sizes[key] if key in self.sizes else known[key]

    def _values(self, name: str) -> Array:
        return np.concatenate([block[name] for block in self._blocks()])

    def _blocks(self) -> "Iterator[_Block]":
        for part in row_blocks(self.n_rows, self.n_classes):
            yield _Block(self, part)

    def true_probability(self, prefix: str = "p") -> Expression:
        """Return the probability of the true class, looked up."""
        is_array = prefix == "p" or prefix in self.columns
        return Column(f"{prefix}_true") if is_array else super().true_probability(prefix)

    def highest(self, prefix: str = "p") -> tuple[Expression, Expression]:
        """Return the largest probability and its class, by NumPy."""
        return Column(f"{prefix}_highest"), Column(f"{prefix}_top")


class _Block(dict[str, Any]):
    """Columns of some rows, computed when they are first used."""

    def __init__(self, rows: ScoredArrays, part: slice) -> None:
        super().__init__()
        self.rows, self.part = rows, part
        self.n_rows = len(rows.rows.codes[part])
        self._known: dict[Any, Any] = {}

    def value(self, expression: Expression, known: dict[Any, Any] | None = None) -> Any:
        return interpret(expression, NumpyEngine(self), {} if known is None else known)

    def __missing__(self, name: str) -> Any:
        column = self.rows.columns.get(name)
        if isinstance(column, ByGroup):
            return column.values[self["group"]]
        if isinstance(column, Expression):
            found = self.value(column, self._known)
        elif isinstance(column, ByEdges):
            found = column.edges.locate(self[column.confidence])
        elif column is not None:
            found = column[self.part]
        else:
            found = self._given(name)
        self[name] = found
        return found

    def _given(self, name: str) -> Any:
        """Return what rows have from the start."""
        rows, part = self.rows.rows, self.part
        prefix, _, kind = name.partition("_")
        if kind in ("true", "top", "highest"):
            proba = rows.proba[part] if prefix == "p" else self.rows.columns[prefix][part]
            return self._of_proba(proba, prefix, kind)
        if name == "label":
            return rows.codes[part]
        if name == "time_bin":
            return self.rows.time_bins.codes[part]
        if name == "group":
            return part if self.rows.groups is None else self.rows.groups.codes[part]
        if "weight" in name:
            assert rows.weight is not None
            return rows.weight[part] if name == "weight" else np.sqrt(rows.weight[part])
        return rows.proba[part, int(name[1:])]

    def _of_proba(self, proba: Array, prefix: str, kind: str) -> Any:
        every = np.arange(len(proba))
        if kind == "true":
            return proba[every, self["label"]]
        if kind == "highest":
            return proba[every, self[f"{prefix}_top"]]
        is_second = proba.shape[1] == 2 and proba[:, 1] > proba[:, 0]
        return proba.argmax(axis=1) if is_second is False else is_second.astype(np.intp)


class _SumTable:
    """Sums by key that blocks are added to."""

    def __init__(self, by: SumBy, shape: list[int]) -> None:
        self.by, self.shape, self.n_keys = by, shape, math.prod(shape)
        self.in_blocks = self.n_keys <= FEW_KEYS
        self.codes: list[Codes] = []
        self.parts: dict[str, list[Any]] = {name: [] for name in by.terms}

    def add(self, block: _Block) -> None:
        codes = np.zeros(block.n_rows, dtype=np.intp)
        for key, size in zip(self.by.keys, self.shape, strict=True):
            codes = codes * size + block[key]
        if not self.in_blocks:
            self.codes.append(codes)
        for name, term in self.by.terms.items():
            values = None if is_number(term, 1.0) else block.value(term)
            if values is not None:
                values = np.broadcast_to(values, block.n_rows)
            self.parts[name].append(self._sum(codes, values) if self.in_blocks else values)

    def sums(self) -> Sums:
        if self.in_blocks:
            codes, sums = np.arange(self.n_keys), self.parts
            found = {name: np.sum(each, axis=0) for name, each in sums.items()}
            return {**self._keys(codes), **found}
        codes = np.concatenate(self.codes)
        if self.n_keys > MANY_KEYS:
            filled, codes = np.unique(codes, return_inverse=True)
        else:
            filled = np.flatnonzero(np.bincount(codes))
        where = slice(None) if self.n_keys > MANY_KEYS else filled
        columns = self._keys(filled)
        for name, parts in self.parts.items():
            values = None if parts[0] is None else np.concatenate(parts)
            columns[name] = np.bincount(codes, values).astype(np.float64, copy=False)[where]
        return columns

    def _sum(self, codes: Codes, values: Array | None) -> Array:
        if not self.shape:
            return np.array([len(codes) if values is None else values.sum()])
        return np.bincount(codes, values, minlength=self.n_keys).astype(np.float64, copy=False)

    def _keys(self, codes: Codes) -> Sums:
        found = np.unravel_index(codes, self.shape) if self.shape else ()
        return dict(zip(self.by.keys, found, strict=True))

"""Rows in memory whose formulas are evaluated with NumPy, in blocks that stay in the cache."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from tempocal.formula import interpret
from tempocal.formula.nodes import Column, Expression, is_number
from tempocal.formula.numpy_engine import NumpyEngine
from tempocal.inputs import Codes, Groups
from tempocal.links import Array
from tempocal.metrics.edges import Edges, equal_mass
from tempocal.metrics.gap_metric import GapMetric
from tempocal.metrics.predictions import CheckedPredictions, row_blocks
from tempocal.metrics.scored_rows import ScoredRows, SumBy, Sums, assign_buckets
from tempocal.metrics.time_bins import TimeBins, single_time_bin

# Sums by more keys than this are taken over all rows at once, not block by block.
FEW_KEYS = 2**12
# With more keys than this, those that have rows are found by sorting.
MANY_KEYS = 2**22
# Blocks are not made shorter for more columns than this: calls would cost more than the cache.
MAX_COLUMNS = 4
# Drawn numbers to hold at a time.
MAX_DRAWN = 2**22


@dataclass(frozen=True, eq=False)
class ScoredArrays(ScoredRows):
    """Checked predictions, their groups and time bins, and columns to evaluate."""

    rows: CheckedPredictions
    groups: Groups | None
    columns: dict[str, "Expression | Callable[[_Block], Any]"] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)  # of key columns

    @classmethod
    def of(
        cls,
        rows: CheckedPredictions,
        groups: Groups | None = None,
        time_bins: TimeBins | None = None,
    ) -> Self:
        """Rows in some time bins, by default in one."""
        n_rows, weight = len(rows.codes), rows.weight
        time_bins = time_bins or single_time_bin(n_rows)
        n_groups = None if groups is None else groups.count
        has_weights = weight is not None
        scored = cls(time_bins, rows.n_classes, n_rows, n_groups, has_weights, rows, groups)
        columns: dict[str, Any] = {
            "label": lambda block: rows.codes[block.part],
            "group": lambda block: block.part if groups is None else groups.codes[block.part],
            "weight": lambda block: None if weight is None else weight[block.part],
            "root_weight": lambda block: np.sqrt(block["weight"]),
        }
        return scored.with_columns(columns).with_proba("p", rows).in_time_bins(scored.time_bins)

    @property
    def n_units(self) -> int:
        """Number of groups, or of rows."""
        return self.n_rows if self.groups is None else self.groups.count

    @property
    def unit_weight(self) -> Expression | None:
        """Weight of a row in a sum whose square estimates a variance; None for its weight."""
        return Column("root_weight") if self.has_weights and self.groups is None else None

    def in_time_bins(self, time_bins: TimeBins) -> Self:
        """Return the rows in other time bins."""
        rows = self.with_key("time_bin", time_bins.count, lambda block: time_bins.codes[block.part])
        return replace(rows, time_bins=time_bins)

    def with_columns(self, columns: Mapping[str, Any]) -> Self:
        """Add columns, which are evaluated when they are summed."""
        return replace(self, columns={**self.columns, **columns})

    def with_key(self, name: str, size: int, column: "Callable[[_Block], Any]") -> Self:
        """Add a column of integers below ``size``."""
        return replace(self.with_columns({name: column}), sizes={**self.sizes, name: size})

    def with_proba(self, prefix: str, rows: CheckedPredictions) -> Self:
        """Add the predictions of these rows, and what NumPy finds faster than a formula."""
        proba = rows.proba

        def top(block: "_Block") -> Codes:
            part = proba[block.part]
            if part.shape[1] == 2:
                return (part[:, 1] > part[:, 0]).astype(np.intp)
            return np.asarray(part.argmax(axis=1))

        columns = {f"{prefix}_top": top, **_of_classes(prefix, proba)}
        if rows.surprisal is not None:
            columns |= _of_classes(f"{prefix}_surprisal", rows.surprisal)
        return self.with_columns(columns)

    def with_edges(self, edges: list[Edges], event: int) -> Self:
        """Add the bin of an event."""
        confidence, size = f"confidence{event}", max(each.n_bins for each in edges)
        if len(edges) == 1:
            one = edges[0]
            return self.with_key(f"bin{event}", size, lambda block: one.locate(block[confidence]))
        values, bins = self._values(confidence), np.empty(self.n_rows, dtype=np.intp)
        for inside, each in zip(self.rows_by_time_bin(), edges, strict=True):
            bins[inside] = each.locate(values[inside])
        return self.with_key(f"bin{event}", size, _sliced(bins))

    def with_draws(
        self, max_buckets: int, rng: np.random.Generator, count: int
    ) -> tuple[Self, int]:
        """Add the bucket of each group and its uniform numbers."""
        bucket_of, n_buckets = assign_buckets(self.n_units, max_buckets)
        rows = self.with_key("bucket", n_buckets, _by_group(bucket_of))
        drawn = [rng.random(self.n_units) for _ in range(count)]
        return rows.with_columns({f"u{d}": _by_group(u) for d, u in enumerate(drawn)}), n_buckets

    @property
    def draws_per_pass(self) -> int:
        """How many draws for each group to hold."""
        return int(np.clip(MAX_DRAWN // self.n_units, 1, 50))

    @property
    def events_per_pass(self) -> int:
        """How many events to sum in one pass, which look up the draws once."""
        return 8

    def require_few_cells(self, metric: GapMetric) -> None:
        """Accept any number of bins: empty ones take no memory."""

    def equal_mass_edges(self, event: int, bins: int) -> list[Edges]:
        """Edges from the confidences themselves."""
        values, weight = self._values(f"confidence{event}"), self.rows.weight
        return [
            equal_mass(values[k], None if weight is None else weight[k], bins)
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

    def only_after(self) -> Self:
        """Return the rows with the probabilities ``after0``, ... in place of their own."""
        return super().only_after().with_columns({"p_top": Column("after_top")})

    def has_column(self, name: str) -> bool:
        """Whether there is a column of this name."""
        return name in self.columns

    def of_true_class(self, prefix: str = "p") -> Expression:
        """Return, of columns for each class, the one of the true class, looked up."""
        name = f"{prefix}_true"
        return Column(name) if name in self.columns else super().of_true_class(prefix)

    def top_class(self, highest: Expression, prefix: str = "p") -> Expression:
        """Return the most probable class, found by NumPy."""
        name = f"{prefix}_top"
        return Column(name) if name in self.columns else super().top_class(highest, prefix)

    def sum_by(self, doing: str, *wanted: SumBy) -> list[Sums]:
        """Sum block by block."""
        tables = [_SumTable(each, [self.sizes[key] for key in each.keys]) for each in wanted]
        with np.errstate(invalid="ignore"):
            for block in self._blocks():
                for table in tables:
                    table.add(block)
        return [table.sums() for table in tables]

    def _values(self, name: str) -> Array:
        return np.concatenate([block[name] for block in self._blocks()])

    def _blocks(self) -> "Iterator[_Block]":
        for part in row_blocks(self.n_rows, min(self.n_classes, MAX_COLUMNS)):
            yield _Block(self, part)


class _Block(dict[str, Any]):
    """Columns of some rows, computed when they are first used."""

    def __init__(self, rows: ScoredArrays, part: slice) -> None:
        super().__init__()
        self._rows, self._known = rows, dict[Any, Any]()
        self.part, self.n_rows = part, len(range(*part.indices(rows.n_rows)))

    def value(self, term: Expression, known: dict[Any, Any] | None = None) -> Array:
        """Evaluate a formula."""
        value = interpret(term, NumpyEngine(self), {} if known is None else known)
        return np.broadcast_to(value, self.n_rows)

    def __missing__(self, name: str) -> Any:
        column = self._rows.columns[name]
        if isinstance(column, Expression):
            self[name] = self.value(column, self._known)
        else:
            self[name] = column(self)
        return self[name]


class _SumTable:
    """Sums by key that blocks are added to."""

    def __init__(self, by: SumBy, shape: list[int]) -> None:
        self.by, self.shape, self.n_keys = by, shape, math.prod(shape)
        self.in_blocks = self.n_keys <= FEW_KEYS
        self.codes: list[Codes] = []
        self.parts: dict[str, list[Any]] = {name: [] for name in by.terms}

    def add(self, block: _Block) -> None:
        """Add the rows of a block, or remember them."""
        codes = np.zeros(block.n_rows, dtype=np.intp)
        for key, size in zip(self.by.keys, self.shape, strict=True):
            codes = codes * size + block[key]
        self.codes.append(codes)
        for name, term in self.by.terms.items():
            values = None if is_number(term, 1.0) else block.value(term)
            self.parts[name].append(self._sum(codes, values) if self.in_blocks else values)

    def sums(self) -> Sums:
        """Return the sums of all keys, or of those that have rows."""
        if self.in_blocks:
            sums = {name: np.sum(each, axis=0) for name, each in self.parts.items()}
            return {**self._keys(np.arange(self.n_keys)), **sums}
        codes = np.concatenate(self.codes)
        if self.n_keys > MANY_KEYS:
            found, codes = np.unique(codes, return_inverse=True)
            filled = np.arange(len(found))
        else:
            found = filled = np.flatnonzero(np.bincount(codes))
        sums = self._keys(found)
        for name, parts in self.parts.items():
            values = None if parts[0] is None else np.concatenate(parts)
            sums[name] = np.bincount(codes, values).astype(np.float64, copy=False)[filled]
        return sums

    def _sum(self, codes: Codes, values: Array | None) -> Array:
        if not self.shape:
            return np.array([len(codes) if values is None else values.sum()])
        return np.bincount(codes, values, minlength=self.n_keys).astype(np.float64, copy=False)

    def _keys(self, codes: Codes) -> Sums:
        found = np.unravel_index(codes, self.shape) if self.shape else ()
        return dict(zip(self.by.keys, found, strict=True))


def _of_classes(prefix: str, values: Array) -> dict[str, Callable[[_Block], Any]]:
    """Return a column for each class, and that of the true class."""

    def true(block: _Block) -> Array:
        return np.asarray(values[block.part][np.arange(block.n_rows), block["label"]])

    columns: dict[str, Callable[[_Block], Any]] = {f"{prefix}_true": true}
    return columns | {f"{prefix}{k}": _sliced(each) for k, each in enumerate(values.T)}


def _by_group(values: Any) -> Callable[[_Block], Any]:
    return lambda block: values[block["group"]]


def _sliced(values: Any) -> Callable[[_Block], Any]:
    return lambda block: values[block.part]

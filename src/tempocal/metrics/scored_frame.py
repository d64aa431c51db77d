"""Rows of a table whose formulas are evaluated and summed by the engine that holds them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import narwhals as nw
import numpy as np

from tempocal.errors import InputError
from tempocal.formula.input_columns import read_scores
from tempocal.formula.nodes import (
    Below,
    Column,
    Expression,
    Number,
    Where,
    numbers,
    piecewise,
    total,
)
from tempocal.inputs import Inputs, warn_of_light_weights
from tempocal.links import Array
from tempocal.metrics.edges import Edges, equal_mass
from tempocal.metrics.gap_metric import GapMetric
from tempocal.metrics.logit_columns import predicted_by_logits
from tempocal.metrics.scored_rows import (
    BUCKETS,
    ScoredRows,
    SumBy,
    Sums,
    assign_buckets,
    indicator,
)
from tempocal.metrics.table_time_bins import cut_table
from tempocal.metrics.time_bins import Bins, TimeBins, single_time_bin
from tempocal.tables.column_roles import ColumnRoles
from tempocal.tables.computed_columns import sum_by, with_formulas
from tempocal.tables.group_ids import PRIME, GroupIds, find_groups
from tempocal.tables.labeled_table import LabeledTable, read_labeled_table
from tempocal.tables.open_table import Frame
from tempocal.tables.passes import Passes
from tempocal.tables.sequence_counts import count_sequences
from tempocal.tables.surrogate import MAX_VALUES
from tempocal.tables.transfer import join

# Largest number of rows of a result to collect.
MAX_SUMS = 2_000_000
# With fewer buckets the variance between them is too uncertain.
MIN_BUCKETS = 20
# Engines compare a confidence with every bin edge.
MAX_BINS = 1000
# With many rows, equal-mass edges lie on a grid of at most this many cells of confidence.
MAX_GRID_CELLS = 2**16
# Larger than any confidence.
ABOVE_ALL = 2.0
# One 31-bit number is drawn per group; multiplied by integers in this range it gives further ones.
# A double holds all digits of the product.
FACTORS = (2**10, 2**21)


@dataclass(frozen=True, eq=False)
class ScoredFrame(ScoredRows):
    """Labeled probabilities in a table.

    Attributes
    ----------
    frame : Frame
        With columns ``p0``, ``p1``, ... of the classes; ``label``, a class code; ``weight``,
        ``time_bin``; and where named, ``time`` and ``group``.
    labeled : LabeledTable
        The labeled rows.
    groups : GroupIds or None
        Their groups; None if rows are taken as independent.
    """

    frame: Frame
    labeled: LabeledTable
    groups: GroupIds | None

    @classmethod
    def of(
        cls,
        labeled: LabeledTable,
        frame: Frame,
        groups: GroupIds | None,
        time_bins: TimeBins | None = None,
    ) -> Self:
        """Select the columns of a frame with probabilities; by default in one time bin."""
        if labeled.has_weights:
            mean = np.float64(labeled.total_weight / labeled.n_rows)
            warn_of_light_weights(np.broadcast_to(mean, labeled.n_rows))
        own = ("label", "time", "group", "weight")
        names = [n for n in frame.collect_schema() if n in own or n[:1] == "p" or n[:5] == "after"]
        time_bins, n_classes = time_bins or single_time_bin(labeled.n_rows), len(labeled.classes)
        rows = cls(
            time_bins,
            n_classes,
            labeled.n_rows,
            None if groups is None else groups.count,
            labeled.has_weights,
            frame.select(*names),
            labeled,
            groups,
        )
        return rows.in_time_bins(time_bins)

    @property
    def draws_are_own(self) -> bool:
        """Whether each group gets draws of its own."""
        return self.groups is not None and self.groups.are_few

    @property
    def passes(self) -> Passes:
        """Passes over the rows so far."""
        return self.labeled.passes

    def in_time_bins(self, time_bins: TimeBins) -> Self:
        """Return the rows with their ``time_bin``."""
        edges = [] if time_bins.edges is None else time_bins.edges.tolist()
        time_bin = piecewise(Column("time"), edges, numbers(range(time_bins.count)), "right")
        frame = with_formulas(self.frame, {"time_bin": time_bin})
        return replace(self, frame=frame, time_bins=time_bins)

    def cut(self, bins: Bins) -> Self:
        """Cut time into bins of about the same weight, or into its steps."""
        return self.in_time_bins(cut_table(self.labeled, bins))

    def with_columns(self, columns: Mapping[str, Expression]) -> Self:
        """Add columns."""
        return replace(self, frame=with_formulas(self.frame, columns))

    def with_edges(self, edges: list[Edges], event: int) -> Self:
        """Add the bin of an event."""
        confidence, name = Column(f"confidence{event}"), f"bin{event}"
        if len(edges) == 1:
            # Compared with the edges themselves: engines round quotients differently.
            bins = numbers(range(edges[0].n_bins))
            inner = edges[0].values[1:-1].tolist()
            return self.with_columns({name: piecewise(confidence, inner, bins, "left")})
        names = [f"edge{event}_{k}" for k in range(max(each.n_bins for each in edges) - 1)]
        inner_edges = np.full((len(edges), len(names)), ABOVE_ALL)
        for k, each in enumerate(edges):
            inner_edges[k, : each.n_bins - 1] = each.values[1:-1]
        columns = {"time_bin": np.arange(len(edges), dtype=np.float64)}
        columns |= dict(zip(names, inner_edges.T, strict=True))
        above = [indicator(Below(Column(each), confidence)) for each in names]
        frame = join(self.frame, columns, on=["time_bin"]) if names else self.frame
        return replace(self, frame=with_formulas(frame, {name: total(above)}))

    def with_draws(
        self, max_buckets: int, rng: np.random.Generator, count: int
    ) -> tuple[Self, int]:
        """Add the bucket of each group and its uniform numbers.

        Few groups get the same draws as in arrays. Many groups are hashed by a cubic polynomial
        with random coefficients modulo a prime. Such hashes are 4-wise independent, so that means
        and variances of sums over groups are right.
        """
        assert self.groups is not None
        names = [f"u{d}" for d in range(count)]
        if self.groups.are_few:
            bucket_of, n_buckets = assign_buckets(self.groups.count, max_buckets)
            drawn = rng.random((count, self.groups.count))
            columns = {"bucket": bucket_of, **dict(zip(names, drawn, strict=True))}
            return replace(self, frame=self.groups.join_columns(self.frame, columns)), n_buckets
        n_buckets = min(max_buckets, self.groups.count)
        hashed = _mix_hash(self.groups.add_hash(self.frame)).with_columns(
            bucket=nw.col("hash") % n_buckets, u=nw.col("hash").cast(nw.Float64) * 2.0**-31
        )
        if names:
            factors = dict(zip(names, rng.integers(*FACTORS, size=count).tolist(), strict=True))
            u = nw.col("u")
            hashed = hashed.with_columns(**{name: u * float(k) for name, k in factors.items()})
            # A uniform number times an integer, modulo 1, is uniform.
            hashed = hashed.with_columns(**{n: nw.col(n) - nw.col(n).floor() for n in names})
        return replace(self, frame=hashed), n_buckets

    def equal_mass_edges(self, event: int, bins: int) -> list[Edges]:
        """Edges from the weight of each confidence or grid cell."""
        n_time_bins = self.time_bins.count
        cells = min(MAX_GRID_CELLS, MAX_SUMS // n_time_bins)
        confidence = nw.col(f"confidence{event}")
        cell = confidence if self.n_rows <= MAX_VALUES else (confidence * float(cells)).ceil()
        frame = self.frame.select("time_bin", mass=self.labeled.weight, top=confidence, cell=cell)
        sums = (nw.col("mass").sum(), nw.col("top").max())
        counted = frame.group_by("time_bin", "cell").agg(*sums)
        found = self.passes.collect(counted, "looking for bins of equal mass")
        inside = [found["time_bin"] == k for k in range(n_time_bins)]
        return [equal_mass(found["top"][one], found["mass"][one], bins) for one in inside]

    def groups_by_time_bin(self) -> Array:
        """Count the groups with rows in each time bin."""
        assert self.groups is not None
        if self.time_bins.count == 1:
            return np.array([float(self.groups.count)])
        if "groups" not in self.time_bins.known:
            frame = self.frame.group_by("time_bin").agg(nw.col("group").n_unique())
            found = self.passes.collect(frame, "counting groups along time")
            counts = np.zeros(self.time_bins.count)
            counts[found["time_bin"].astype(np.intp)] = found["group"]
            self.time_bins.known["groups"] = counts
        return self.time_bins.known["groups"]

    def has_column(self, name: str) -> bool:
        """Whether there is a column of this name."""
        return name in self.frame.collect_schema()

    def sum_by(self, doing: str, *wanted: SumBy) -> list[Sums]:
        """Sum by all keys together."""
        keys = list(dict.fromkeys(key for each in wanted for key in each.keys))
        terms = {name: term for each in wanted for name, term in each.terms.items()}
        found = self.passes.collect(sum_by(self.frame, keys, terms), doing)
        return [found] * len(wanted)

    def max_buckets(self, n_cells: int) -> int:
        """Limit the number of buckets by the size of the result."""
        return max(min(BUCKETS, MAX_SUMS // n_cells), 1)

    def require_few_cells(self, metric: GapMetric) -> None:
        """Refuse too many bins."""
        if metric.bins > MAX_BINS:
            raise InputError(
                f"metric has {metric.bins} bins, but from a table at most {MAX_BINS} can be had"
            )
        n_bins = self.time_bins.count
        if self.groups is not None and MAX_SUMS // (metric.bins * n_bins) < MIN_BUCKETS:
            raise InputError(
                f"metric has {metric.bins} bins in each of {n_bins} stretches of time, which is "
                f"too many to sum a table by: at most {MAX_SUMS // MIN_BUCKETS:,} together"
            )


def read_scored_frame(table: Any, roles: ColumnRoles, classes: Any) -> ScoredFrame:
    """Check a table in a first pass, and count its groups, which hold whole sequences."""
    labeled = read_labeled_table(table, roles, classes)
    if roles.sequence is not None:
        count_sequences(labeled)
    groups = find_groups(labeled) if labeled.has_groups else None
    return ScoredFrame.of(labeled, add_predicted(labeled), groups)


def add_predicted(labeled: LabeledTable) -> Frame:
    """Add the probabilities of each class as they were given, and the surprisals of logits."""
    if labeled.inputs == "logits":
        return with_formulas(labeled.frame, predicted_by_logits(labeled.n_columns))
    if labeled.n_columns == 1:
        proba = {"p0": 1.0 - nw.col("x0"), "p1": nw.col("x0")}
    else:
        proba = {f"p{k}": nw.col(f"x{k}") for k in range(labeled.n_columns)}
    return labeled.frame.with_columns(**proba)


def with_after(rows: ScoredFrame, inputs: Inputs, names: tuple[str, ...]) -> ScoredFrame:
    """Add the predictions of another model, ``y0``, ..., which are checked in a pass."""
    count = len(names)
    if max(count, 2) != rows.n_classes:
        raise InputError(
            f"after names {count} column{'s' * (count > 1)}, but before has {rows.n_classes} "
            "classes: name one column for each class, or for two classes that of the second"
        )
    read = read_scores([f"y{k}" for k in range(count)], inputs)
    finite = {f"w{k}": each for k, each in enumerate(read.values)}
    wrong = {"wrong": Where(read.valid, Number(0.0), Number(1.0))}
    (found,) = replace(rows, frame=with_formulas(rows.labeled.frame, wrong)).sum_by(
        "looking at the predictions after", SumBy((), {"wrong": Column("wrong")})
    )
    if found["wrong"].sum():
        kind = "logits" if inputs == "logits" else "probabilities, which sum to 1"
        raise InputError(
            f"after must hold {kind}, but {int(found['wrong'].sum()):,} rows of "
            f"{', '.join(map(repr, names))} hold something else or nothing"
        )
    frame = add_predicted(rows.labeled)
    if inputs == "logits":
        frame = with_formulas(frame, finite)
        frame = with_formulas(frame, predicted_by_logits(count, "after", ("y", "w")))
    elif count == 1:
        frame = frame.with_columns(after0=1.0 - nw.col("y0"), after1=nw.col("y0"))
    else:
        frame = frame.with_columns(**{f"after{k}": nw.col(f"y{k}") for k in range(count)})
    return ScoredFrame.of(rows.labeled, frame, rows.groups)


def _mix_hash(frame: Frame) -> Frame:
    """Hash the numbers of groups, which may be consecutive, to pseudo-random ones."""
    first, *others = [int(one) for one in np.random.default_rng(0).integers(1, PRIME, 4)]
    frame = frame.with_columns(mixed=nw.lit(first))
    for other in others:
        frame = frame.with_columns(mixed=(nw.col("mixed") * nw.col("hash") + other) % PRIME)
    return frame.with_columns(hash=nw.col("mixed"))

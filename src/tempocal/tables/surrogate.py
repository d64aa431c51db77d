"""Surrogate rows of a table: few weighted rows in memory in place of all rows.

One pass counts the rows in cells of (time, label, bin of the log-odds), and each cell becomes two
weighted rows (`tempocal.tables.cell_counts`). With several columns of logits there are too many
cells: the surrogate is then a sample of about 32,000 rows, reweighted to the weight of each key.
`tempocal.rows.surrogate` explains how exact passes correct them. Finer cells are counted for the
calibrators that have no coefficients.
"""

from dataclasses import dataclass, replace
from typing import Self

import narwhals as nw
import numpy as np

from tempocal.formula.nodes import Column
from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.tables.cell_counts import (
    CellCounts,
    bins_for,
    count_cells,
    count_values,
    fine_bins_for,
)
from tempocal.tables.computed_columns import with_formulas
from tempocal.tables.finest_keys import FinestKeys
from tempocal.tables.first_pass import add_log_odds
from tempocal.tables.labeled_table import LabeledTable
from tempocal.tables.open_table import Frame
from tempocal.tables.row_loss import odds_of_class
from tempocal.tables.time_keys import TimeKeys
from tempocal.tables.transfer import Columns
from tempocal.tables.unchanged import require_same

# Size of the sample, with several columns of logits.
SAMPLE_ROWS = 2**15
# Up to this many rows, distinct log-odds are counted instead of bins.
MAX_VALUES = 2**20


@dataclass(frozen=True)
class TableSurrogate:
    """Surrogate rows, and the finest key of each.

    Attributes
    ----------
    logits : ndarray of shape (n,) or (n, classes)
        Logits.
    labels : ndarray of shape (n,)
        Codes of the classes.
    weights : ndarray of shape (n,)
        Weight of the rows that each represents.
    finest_key_of : ndarray of shape (n,)
        Index of the finest key of each.
    finest_keys : FinestKeys
        The finest keys.
    class_weights : ndarray of shape (keys, classes)
        Weight of the rows of each key and class.
    sampled : bool
        Whether they are a sample; else each cell of rows has its two points.
    """

    logits: Array
    labels: Codes
    weights: Array
    finest_key_of: Codes
    finest_keys: FinestKeys
    class_weights: Array
    sampled: bool

    def coarser(self) -> Self:
        """Merge the two points of each cell, or halve a sample, to estimate the error."""
        if not self.sampled:
            pairs = self.weights.reshape(-1, 2)
            weights = pairs.sum(axis=1)
            logits = (self.logits.reshape(-1, 2) * pairs).sum(axis=1) / weights
            return replace(
                self,
                logits=logits,
                labels=self.labels[::2],
                weights=weights,
                finest_key_of=self.finest_key_of[::2],
            )
        half = np.arange(len(self.weights)) % 2 == 0
        before, after = (
            np.bincount(self.finest_key_of, w, minlength=self.finest_keys.count)
            for w in (self.weights, np.where(half, self.weights, 0.0))
        )
        scale = before / np.maximum(after, 1e-300)
        return replace(self, weights=np.where(half, self.weights * scale[self.finest_key_of], 0.0))


def build_surrogate(
    labeled: LabeledTable, frame: Frame, time_keys: TimeKeys | None, n_folds: int
) -> TableSurrogate:
    """Count cells where rows have one logit; else take a sample of the rows."""
    frame, on = _with_keys(frame, time_keys)
    if labeled.n_columns == 1:
        bins = bins_for(labeled, n_folds * (1 if time_keys is None else time_keys.n_keys))
        cells = count_cells(labeled, add_log_odds(frame, labeled.n_columns), on, bins, moments=4)
        finest_keys, key_of, by_class = _finest_keys(labeled, frame, on, cells.sums, time_keys)
        log_odds, weights = cells.two_points()
        return TableSurrogate(
            log_odds.ravel(),
            np.repeat(cells.labels, 2),
            weights.ravel(),
            np.repeat(key_of, 2),
            finest_keys,
            by_class,
            sampled=False,
        )
    return _sample(labeled, frame, on, time_keys)


def count_fine_cells(
    labeled: LabeledTable, finest_keys: FinestKeys, of_class: int
) -> tuple[CellCounts, Codes]:
    """Count the log-odds of a class in fine bins; also return the key of each cell."""
    z = tuple(Column(f"z{k}") for k in range(labeled.n_columns))
    frame = with_formulas(finest_keys.frame, {"log_odds": odds_of_class(z, of_class)})
    bins = fine_bins_for(labeled, finest_keys.count)
    if labeled.n_rows <= MAX_VALUES:
        cells = count_values(labeled, frame, finest_keys.on, bins)
    else:
        cells = count_cells(labeled, frame, finest_keys.on, bins, moments=2)
    return cells, finest_keys.indices(cells.sums)


def _with_keys(frame: Frame, time_keys: TimeKeys | None) -> tuple[Frame, tuple[str, ...]]:
    keyed = frame if time_keys is None else time_keys.add_key(frame)
    return keyed, tuple(name for name in ("key", "fold") if name in keyed.collect_schema())


def _finest_keys(
    labeled: LabeledTable,
    frame: Frame,
    on: tuple[str, ...],
    found: Columns,
    time_keys: TimeKeys | None,
) -> tuple[FinestKeys, Codes, Array]:
    """Return the keys in a result, the key of each of its rows, and weights by class."""
    weights, labels = found["m0"].astype(np.float64), found["label"].astype(np.intp)
    if on:
        stacked = np.stack([found[name].astype(np.float64) for name in on])
        values, key_of = np.unique(stacked, axis=1, return_inverse=True)
        key_of = key_of.ravel().astype(np.intp)
        columns = {
            name: row.astype(found[name].dtype) for name, row in zip(on, values, strict=True)
        }
        count = values.shape[1]
    else:
        columns, count, key_of = {}, 1, np.zeros(len(weights), dtype=np.intp)
    n_classes = len(labeled.classes)
    counts = np.bincount(key_of * n_classes + labels, weights, minlength=count * n_classes)
    by_class: Array = counts.reshape(count, n_classes).astype(np.float64)
    totals = by_class.sum(axis=1)
    if time_keys is None or time_keys.bulk is None:
        require_same(labeled.class_weights, by_class.sum(axis=0))
    times = np.zeros(count)
    if time_keys is not None and time_keys.time_range is not None:
        mean_elapsed = np.bincount(key_of, found["elapsed_sum"], minlength=count) / totals
        times = time_keys.time_range[0] + mean_elapsed * (
            time_keys.time_range[1] - time_keys.time_range[0]
        )
    elif time_keys is not None:
        times = time_keys.times(columns["key"].astype(np.float64))
    n_rows = np.bincount(key_of, found.get("n_rows", weights), minlength=count).astype(np.float64)
    return FinestKeys(frame, on, columns, totals, n_rows, times, time_keys), key_of, by_class


def _sample(
    labeled: LabeledTable, frame: Frame, on: tuple[str, ...], time_keys: TimeKeys | None
) -> TableSurrogate:
    """Count rows by key and label, and sample rows by the trailing digits of their logits."""
    weighted = frame.with_columns(m0=labeled.weight)
    weighted = weighted.with_columns(n_rows=labeled.row_count)
    sums = [nw.col("m0").sum(), nw.col("n_rows").sum()]
    if "elapsed" in weighted.collect_schema().names():
        weighted = weighted.with_columns(elapsed_sum=nw.col("elapsed") * nw.col("m0"))
        sums.append(nw.col("elapsed_sum").sum())
    counted = weighted.group_by(*on, "label").agg(*sums)
    finest_keys, _, by_class = _finest_keys(
        labeled, frame, on, labeled.passes.collect(counted, "counting by label"), time_keys
    )
    names = [f"z{k}" for k in range(labeled.n_columns)]
    digits = sum((nw.col(name) * (8192.0 + 997.0 * k) for k, name in enumerate(names)), nw.lit(0.0))
    sample = weighted.with_columns(digits=digits).with_columns(
        fraction=nw.col("digits") - nw.col("digits").floor()
    )
    n_rows = labeled.n_rows if labeled.unsplit is None else labeled.n_rows * len(labeled.classes)
    sample = sample.filter(nw.col("fraction") <= SAMPLE_ROWS / n_rows)
    sample = sample.select(*names, "label", "m0", *on).head(2 * SAMPLE_ROWS)
    found = labeled.passes.collect(sample, "taking a sample")
    key_of = finest_keys.indices(found) if len(found["m0"]) else np.zeros(0, dtype=np.intp)
    sampled_weights = np.bincount(key_of, found["m0"], minlength=finest_keys.count)
    # A row of weight zero for every key, so that each key has one.
    logits = np.stack([found[name] for name in names], axis=1)
    weights = found["m0"] * (finest_keys.weights / np.maximum(sampled_weights, 1e-300))[key_of]
    return TableSurrogate(
        np.concatenate([logits, np.zeros((finest_keys.count, len(names)))]),
        np.concatenate([found["label"], np.zeros(finest_keys.count)]).astype(np.intp),
        np.concatenate([weights, np.zeros(finest_keys.count)]),
        np.concatenate([key_of, np.arange(finest_keys.count)]).astype(np.intp),
        finest_keys,
        by_class,
        sampled=True,
    )

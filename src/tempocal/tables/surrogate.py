"""A few rows in memory for all the rows of a table, and the keys that both go by."""

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
from tempocal.tables.first_pass import odds_of
from tempocal.tables.labeled_table import LabeledTable
from tempocal.tables.open_table import Frame
from tempocal.tables.row_loss import odds_of_class
from tempocal.tables.time_keys import TimeKeys
from tempocal.tables.transfer import Columns
from tempocal.tables.unchanged import require_same

# Rows that are taken for all where there are more than two classes.
SAMPLE_ROWS = 2**15
# Up to so many rows, log-odds are counted value by value instead of in bins.
MAX_VALUES = 2**20


@dataclass(frozen=True)
class TableSurrogate:
    """Weighted rows, and the atom of each.

    Attributes
    ----------
    logits : ndarray of shape (n,) or (n, classes)
        Logits.
    labels : ndarray of shape (n,)
        Codes of the classes.
    weights : ndarray of shape (n,)
        How many rows each stands for.
    finest_key_of : ndarray of shape (n,)
        Atom of each.
    finest_keys : FinestKeys
        The keys.
    class_weights : ndarray of shape (keys, classes)
        Weight of the rows of each atom and class.
    sampled : bool
        Whether these are some of the rows; else they have the sums of all, or nearly so.
    """

    logits: Array
    labels: Codes
    weights: Array
    finest_key_of: Codes
    finest_keys: FinestKeys
    class_weights: Array
    sampled: bool

    def coarser(self) -> Self:
        """Put a point where two were, or take half of a sample, to see what difference it makes."""
        if not self.sampled:
            pair = self.weights.reshape(-1, 2)
            weights = pair.sum(axis=1)
            logits = (self.logits.reshape(-1, 2) * pair).sum(axis=1) / weights
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
    """Count rows in bins, where there is one number to a row; else take a sample of them."""
    frame, on = _keyed(frame, time_keys)
    if labeled.n_columns == 1:
        bins = bins_for(labeled, n_folds * (1 if time_keys is None else time_keys.n_keys))
        cells = count_cells(labeled, odds_of(frame, labeled.n_columns), on, bins, moments=4)
        finest_keys, places, by_class = _finest_keys(labeled, frame, on, cells.found, time_keys)
        odds, weights = cells.pairs()
        return TableSurrogate(
            odds.ravel(),
            np.repeat(cells.labels, 2),
            weights.ravel(),
            np.repeat(places, 2),
            finest_keys,
            by_class,
            sampled=False,
        )
    return _sample(labeled, frame, on, time_keys)


def count_fine_cells(
    labeled: LabeledTable, finest_keys: FinestKeys, of_class: int
) -> tuple[CellCounts, Codes]:
    """Count the log-odds of a class in fine bins; with the atom of each cell."""
    z = tuple(Column(f"z{k}") for k in range(labeled.n_columns))
    frame = with_formulas(finest_keys.frame, {"odds": odds_of_class(z, of_class)})
    bins = fine_bins_for(labeled, finest_keys.count)
    if labeled.n_rows <= MAX_VALUES:
        cells = count_values(labeled, frame, finest_keys.on, bins)
    else:
        cells = count_cells(labeled, frame, finest_keys.on, bins, moments=2)
    return cells, finest_keys.indices(cells.found)


def _keyed(frame: Frame, time_keys: TimeKeys | None) -> tuple[Frame, tuple[str, ...]]:
    keyed = frame if time_keys is None else time_keys.add_key(frame)
    return keyed, tuple(name for name in ("key", "fold") if name in keyed.columns)


def _finest_keys(
    labeled: LabeledTable,
    frame: Frame,
    on: tuple[str, ...],
    found: Columns,
    time_keys: TimeKeys | None,
) -> tuple[FinestKeys, Codes, Array]:
    """Find the keys that have rows in a result, the place of each of its rows, and weights."""
    weights, labels = found["m0"].astype(np.float64), found["label"].astype(np.intp)
    if on:
        stacked = np.stack([found[name].astype(np.float64) for name in on])
        values, places = np.unique(stacked, axis=1, return_inverse=True)
        places = places.ravel().astype(np.intp)
        columns = {
            name: row.astype(found[name].dtype) for name, row in zip(on, values, strict=True)
        }
        count = values.shape[1]
    else:
        columns, count, places = {}, 1, np.zeros(len(weights), dtype=np.intp)
    n_classes = len(labeled.classes)
    by_class = np.bincount(places * n_classes + labels, weights, minlength=count * n_classes)
    by_label: Array = by_class.reshape(count, n_classes).astype(np.float64)
    totals = by_label.sum(axis=1)
    if time_keys is None or time_keys.bulk is None:
        require_same(labeled.class_weights, by_label.sum(axis=0))
    times = np.zeros(count)
    if time_keys is not None and time_keys.time_range is not None:
        late = np.bincount(places, found["late"], minlength=count) / totals
        times = time_keys.time_range[0] + late * (time_keys.time_range[1] - time_keys.time_range[0])
    elif time_keys is not None:
        times = time_keys.times(columns["key"].astype(np.float64))
    numbers = np.bincount(places, found.get("one", weights), minlength=count).astype(np.float64)
    return FinestKeys(frame, on, columns, totals, numbers, times, time_keys), places, by_label


def _sample(
    labeled: LabeledTable, frame: Frame, on: tuple[str, ...], time_keys: TimeKeys | None
) -> TableSurrogate:
    """Count by key and label, and take some of the rows, by the digits of their logits."""
    weighed = frame.with_columns(m0=labeled.weight)
    weighed = weighed.with_columns(one=nw.lit(1.0))
    sums = [nw.col("m0").sum(), nw.col("one").sum()]
    if "since" in weighed.columns:
        weighed = weighed.with_columns(late=nw.col("since") * nw.col("m0"))
        sums.append(nw.col("late").sum())
    counted = weighed.group_by(*on, "label").agg(*sums)
    finest_keys, _, by_class = _finest_keys(
        labeled, frame, on, labeled.passes.collect(counted, "counting by label"), time_keys
    )
    names = [f"z{k}" for k in range(labeled.n_columns)]
    digits = sum((nw.col(name) * (8192.0 + 997.0 * k) for k, name in enumerate(names)), nw.lit(0.0))
    some = weighed.with_columns(digits=digits).with_columns(
        share=nw.col("digits") - nw.col("digits").floor()
    )
    some = some.filter(nw.col("share") <= SAMPLE_ROWS / labeled.n_rows)
    some = some.select(*names, "label", "m0", *on).head(2 * SAMPLE_ROWS)
    found = labeled.passes.collect(some, "taking a sample")
    places = finest_keys.indices(found) if len(found["m0"]) else np.zeros(0, dtype=np.intp)
    taken = np.bincount(places, found["m0"], minlength=finest_keys.count)
    # One row that weighs nothing for every atom, so that none is without.
    logits = np.stack([found[name] for name in names], axis=1)
    weights = found["m0"] * (finest_keys.weights / np.maximum(taken, 1e-300))[places]
    return TableSurrogate(
        np.concatenate([logits, np.zeros((finest_keys.count, len(names)))]),
        np.concatenate([found["label"], np.zeros(finest_keys.count)]).astype(np.intp),
        np.concatenate([weights, np.zeros(finest_keys.count)]),
        np.concatenate([places, np.arange(finest_keys.count)]).astype(np.intp),
        finest_keys,
        by_class,
        sampled=True,
    )

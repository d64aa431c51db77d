"""A few rows in memory for all the rows of a table, and the keys that both go by."""

from dataclasses import dataclass, replace
from typing import Self

import narwhals as nw
import numpy as np

from tempocal.formula.nodes import Column
from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.tables.cell_counts import Cells, bins_for, count_cells, count_values, fine_bins_for
from tempocal.tables.computed_columns import with_formulas
from tempocal.tables.finest_keys import Atoms
from tempocal.tables.first_pass import odds_of
from tempocal.tables.labelled import Labelled
from tempocal.tables.open_table import Frame
from tempocal.tables.row_loss import odds_of_class
from tempocal.tables.time_keys import Clock
from tempocal.tables.transfer import Columns
from tempocal.tables.unchanged import require_same

# Rows that are taken for all where there are more than two classes.
SAMPLE_ROWS = 2**15
# Up to so many rows, log-odds are counted value by value instead of in bins.
MOST_VALUES = 2**20


@dataclass(frozen=True)
class StandIns:
    """Weighted rows, and the atom of each.

    Attributes
    ----------
    logits : ndarray of shape (n,) or (n, classes)
        Logits.
    labels : ndarray of shape (n,)
        Codes of the classes.
    weights : ndarray of shape (n,)
        How many rows each stands for.
    atom_of : ndarray of shape (n,)
        Atom of each.
    atoms : Atoms
        The keys.
    class_weights : ndarray of shape (atoms, classes)
        Weight of the rows of each atom and class.
    sampled : bool
        Whether these are some of the rows; else they have the sums of all, or nearly so.
    """

    logits: Array
    labels: Codes
    weights: Array
    atom_of: Codes
    atoms: Atoms
    class_weights: Array
    sampled: bool

    def rougher(self) -> Self:
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
                atom_of=self.atom_of[::2],
            )
        half = np.arange(len(self.weights)) % 2 == 0
        before, after = (
            np.bincount(self.atom_of, w, minlength=self.atoms.count)
            for w in (self.weights, np.where(half, self.weights, 0.0))
        )
        scale = before / np.maximum(after, 1e-300)
        return replace(self, weights=np.where(half, self.weights * scale[self.atom_of], 0.0))


def find_stand_ins(labelled: Labelled, frame: Frame, clock: Clock | None, n_folds: int) -> StandIns:
    """Count rows in bins, where there is one number to a row; else take a sample of them."""
    frame, on = _keyed(frame, clock)
    if labelled.n_columns == 1:
        bins = bins_for(labelled, n_folds * (1 if clock is None else clock.n_keys))
        cells = count_cells(labelled, odds_of(frame, labelled.n_columns), on, bins, moments=4)
        atoms, places, by_class = _atoms(labelled, frame, on, cells.found, clock)
        odds, weights = cells.pairs()
        return StandIns(
            odds.ravel(),
            np.repeat(cells.labels, 2),
            weights.ravel(),
            np.repeat(places, 2),
            atoms,
            by_class,
            sampled=False,
        )
    return _sample(labelled, frame, on, clock)


def find_cells(labelled: Labelled, atoms: Atoms, of_class: int) -> tuple[Cells, Codes]:
    """Count the log-odds of a class in fine bins; with the atom of each cell."""
    z = tuple(Column(f"z{k}") for k in range(labelled.n_columns))
    frame = with_formulas(atoms.frame, {"odds": odds_of_class(z, of_class)})
    bins = fine_bins_for(labelled, atoms.count)
    if labelled.n_rows <= MOST_VALUES:
        cells = count_values(labelled, frame, atoms.on, bins)
    else:
        cells = count_cells(labelled, frame, atoms.on, bins, moments=2)
    return cells, atoms.places(cells.found)


def _keyed(frame: Frame, clock: Clock | None) -> tuple[Frame, tuple[str, ...]]:
    keyed = frame if clock is None else clock.add_key(frame)
    return keyed, tuple(name for name in ("key", "fold") if name in keyed.columns)


def _atoms(
    labelled: Labelled, frame: Frame, on: tuple[str, ...], found: Columns, clock: Clock | None
) -> tuple[Atoms, Codes, Array]:
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
    n_classes = len(labelled.classes)
    by_class = np.bincount(places * n_classes + labels, weights, minlength=count * n_classes)
    by_label: Array = by_class.reshape(count, n_classes).astype(np.float64)
    totals = by_label.sum(axis=1)
    if clock is None or clock.bulk is None:
        require_same(labelled.weights, by_label.sum(axis=0))
    times = np.zeros(count)
    if clock is not None and clock.ends is not None:
        late = np.bincount(places, found["late"], minlength=count) / totals
        times = clock.ends[0] + late * (clock.ends[1] - clock.ends[0])
    elif clock is not None:
        times = clock.times(columns["key"].astype(np.float64))
    numbers = np.bincount(places, found.get("one", weights), minlength=count).astype(np.float64)
    return Atoms(frame, on, columns, totals, numbers, times, clock), places, by_label


def _sample(labelled: Labelled, frame: Frame, on: tuple[str, ...], clock: Clock | None) -> StandIns:
    """Count by key and label, and take some of the rows, by the digits of their logits."""
    weighed = frame.with_columns(m0=labelled.weight)
    weighed = weighed.with_columns(one=nw.lit(1.0))
    sums = [nw.col("m0").sum(), nw.col("one").sum()]
    if "since" in weighed.columns:
        weighed = weighed.with_columns(late=nw.col("since") * nw.col("m0"))
        sums.append(nw.col("late").sum())
    counted = weighed.group_by(*on, "label").agg(*sums)
    atoms, _, by_class = _atoms(
        labelled, frame, on, labelled.passes.collect(counted, "counting by label"), clock
    )
    names = [f"z{k}" for k in range(labelled.n_columns)]
    digits = sum((nw.col(name) * (8192.0 + 997.0 * k) for k, name in enumerate(names)), nw.lit(0.0))
    some = weighed.with_columns(digits=digits).with_columns(
        share=nw.col("digits") - nw.col("digits").floor()
    )
    some = some.filter(nw.col("share") <= SAMPLE_ROWS / labelled.n_rows)
    some = some.select(*names, "label", "m0", *on).head(2 * SAMPLE_ROWS)
    found = labelled.passes.collect(some, "taking a sample")
    places = atoms.places(found) if len(found["m0"]) else np.zeros(0, dtype=np.intp)
    taken = np.bincount(places, found["m0"], minlength=atoms.count)
    # One row that weighs nothing for every atom, so that none is without.
    logits = np.stack([found[name] for name in names], axis=1)
    weights = found["m0"] * (atoms.weights / np.maximum(taken, 1e-300))[places]
    return StandIns(
        np.concatenate([logits, np.zeros((atoms.count, len(names)))]),
        np.concatenate([found["label"], np.zeros(atoms.count)]).astype(np.intp),
        np.concatenate([weights, np.zeros(atoms.count)]),
        np.concatenate([places, np.arange(atoms.count)]).astype(np.intp),
        atoms,
        by_class,
        sampled=True,
    )

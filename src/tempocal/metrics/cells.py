"""Cells of a calibration error over time: combinations of time bin, event and confidence bin."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.metrics.edges import Binning, make_edges
from tempocal.metrics.events import EventKind, Events, events_of, one_class
from tempocal.metrics.predictions import CheckedPredictions
from tempocal.metrics.sample import Sample

# With more cells in a time bin, empty ones are dropped.
MAX_CELLS = 5_000


@dataclass(frozen=True)
class GapMetric:
    """Settings of a calibration error: its events and bins."""

    of: EventKind | None  # None for every class
    bins: int
    binning: Binning

    def events(self, rows: CheckedPredictions) -> list[Events]:
        """Return the events whose errors are averaged."""
        if self.of is not None:
            return [events_of(rows, self.of)]
        return [one_class(rows, column, "class") for column in range(rows.n_classes)]


@dataclass(frozen=True, eq=False)
class GapCells:
    """The cell of each row and event; cells are numbered by time bin."""

    codes: Codes  # (n, E)
    confidence: Array  # (n, E)
    outcome: NDArray[np.bool_]  # (n, E)
    below: Array  # (n, E) total probability of the classes before the event's
    per_time_bin: int

    @property
    def n_events(self) -> int:
        """Events of each row."""
        return int(self.codes.shape[1])


def make_cells(sample: Sample, metric: GapMetric) -> GapCells:
    """Find the cell of every row and event."""
    found = [
        _locate(metric.events(rows), metric, rows)
        for rows in (sample.rows.take(part) for part in sample.parts)
    ]
    per_time_bin = found[0][0].shape[1] * metric.bins
    bins, confidence, outcome, below = (np.concatenate(parts) for parts in zip(*found, strict=True))
    if per_time_bin > MAX_CELLS:
        bins, per_time_bin = _drop_empty(bins, sample.parts)
    codes = bins + sample.time_bins.codes[:, None] * per_time_bin
    return GapCells(codes, confidence, outcome, below, per_time_bin)


def _drop_empty(bins: Codes, parts: Sequence[slice]) -> tuple[Codes, int]:
    """Drop the empty cells of each time bin; return the largest number of cells that is left."""
    numbered, most = np.empty_like(bins), 0
    for part in parts:
        found, codes = np.unique(bins[part], return_inverse=True)
        numbered[part] = codes.reshape(bins[part].shape)
        most = max(most, len(found))
    return numbered, most


def gaps_by_cell(sample: Sample, cells: GapCells, outcome: NDArray[np.bool_]) -> Array:
    """Sum of confidence minus outcome in each cell, divided by the weight of its time bin.

    Returns an array of shape (time bins, cells).
    """
    gap = (cells.confidence - outcome) * sample.weight[:, None]
    shape = (sample.time_bins.count, cells.per_time_bin)
    sums = np.bincount(cells.codes.ravel(), gap.ravel(), minlength=shape[0] * shape[1])
    return np.asarray(sums.reshape(shape) / (sample.totals[:, None] * cells.n_events))


def _locate(
    events: list[Events], metric: GapMetric, rows: CheckedPredictions
) -> tuple[NDArray[Any], ...]:
    before = np.cumsum(rows.proba, axis=1) - rows.proba
    every = np.arange(len(before))
    bins = [
        make_edges(one, metric.bins, metric.binning).locate(one.confidence) + k * metric.bins
        for k, one in enumerate(events)
    ]
    columns = (
        bins,
        [one.confidence for one in events],
        [one.outcome for one in events],
        [before[every, one.column] for one in events],
    )
    return tuple(np.stack(column, axis=1) for column in columns)

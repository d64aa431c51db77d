"""Gaps between confidence and outcome where every row of a table is independent of the others.

Rows have no ids that something could be drawn for. But sums of independent rows are known by their
second moments: the noise in the gaps is drawn with their covariance, and the labels of a cell are
drawn as those of so many equal rows as would spread as much.
"""

from dataclasses import dataclass
from math import comb

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.metrics.cells import GapMetric
from tempocal.metrics.gap_sums import DRAWS, MAX_DRAWS, GapSums, floor_rng, noise_rng
from tempocal.metrics.in_tables.bins import add_bin
from tempocal.metrics.in_tables.events import add_event, number_of_events
from tempocal.metrics.in_tables.scored_frame import MAX_SUMS, ScoredFrame, added
from tempocal.metrics.in_tables.time_bins import TableTimeBins
from tempocal.tables.open_table import Frame


@dataclass(frozen=True, eq=False)
class JointCells:
    """Sums over rows that share their stretch and the bin of every event."""

    stretch: Codes  # (J,)
    cells: Codes  # (J, E) bin of each event, those of the second after those of the first
    weight: Array  # (J,)
    said: Array  # (J, E) confidence times weight
    moved: Array  # (J, E) confidence minus outcome, times weight
    squares: Array  # (J, E, E) products of two such differences, times weight
    spread: Array  # (J,) variance of the outcomes by the probabilities, summed over events
    per_stretch: int

    def of(self, stretch: int) -> NDArray[np.bool_]:
        """Tell which of them are in a stretch."""
        return np.asarray(self.stretch == stretch)


def gap_sums_by_row(
    table: ScoredFrame, metric: GapMetric, stretches: TableTimeBins, seed: int
) -> GapSums:
    """Sum the gaps of all events by stretch and bins, in one pass."""
    n_events = number_of_events(metric, table.n_classes)
    _require_few(metric.bins, n_events, stretches.count)
    joint = _joint_cells(table, metric, stretches, n_events)
    totals = np.bincount(joint.stretch, joint.weight, stretches.count).astype(np.float64)
    gaps = _by_cell(joint, joint.moved, stretches.count) / totals[:, None]
    random = noise_rng(seed)
    noise = [_noise(joint, s, gaps[s], totals[s], random) for s in range(stretches.count)]
    drawn = _drawn(joint, stretches.count, floor_rng(seed)) / totals
    return GapSums(gaps, np.stack(noise), drawn, totals, float(totals.sum()))


def _joint_cells(
    table: ScoredFrame, metric: GapMetric, stretches: TableTimeBins, n_events: int
) -> JointCells:
    frame = stretches.locate(table.frame)
    for event in range(n_events):
        frame = add_event(frame, metric, event, table.n_classes)
        frame = add_bin(table, frame, metric, stretches, event)
    events = range(n_events)
    keys = ["stretch", *(f"bin{k}" for k in events)]
    summed = _columns(frame, keys, n_events)
    names = [name for name in summed.collect_schema() if name not in keys]
    counted = summed.group_by(*keys).agg(*(nw.col(name).sum() for name in names))
    found = table.passes.collect(counted, "adding up")
    squares = np.stack(
        [found[f"square{min(i, j)}_{max(i, j)}"] for i in events for j in events], axis=1
    )
    return JointCells(
        found["stretch"].astype(np.intp),
        np.stack([found[f"bin{k}"].astype(np.intp) + k * metric.bins for k in events], axis=1),
        found["weight"],
        np.stack([found[f"said{k}"] for k in events], axis=1),
        np.stack([found[f"moved{k}"] for k in events], axis=1),
        squares.reshape(-1, n_events, n_events),
        found["spread"],
        n_events * metric.bins,
    )


def _columns(frame: Frame, keys: list[str], n_events: int) -> Frame:
    weight, events = nw.col("weight"), range(n_events)
    off = {f"off{k}": nw.col(f"sure{k}") - nw.col(f"came{k}") for k in events}
    columns = {f"said{k}": weight * nw.col(f"sure{k}") for k in events}
    columns |= {f"moved{k}": weight * nw.col(f"off{k}") for k in events}
    columns |= {
        f"square{i}_{j}": weight * nw.col(f"off{i}") * nw.col(f"off{j}")
        for i in events
        for j in range(i, n_events)
    }
    variance = added(nw.col(f"sure{k}") * (1.0 - nw.col(f"sure{k}")) for k in events)
    columns["spread"] = weight * weight * variance
    return frame.with_columns(**off).select(*keys, "weight", **columns)


def _by_cell(joint: JointCells, values: Array, n_stretches: int) -> Array:
    """Sum over what shares a cell, by the number of events: (S, cells)."""
    shape = (n_stretches, joint.per_stretch)
    where = joint.stretch[:, None] * shape[1] + joint.cells
    sums = np.bincount(where.ravel(), values.ravel(), minlength=shape[0] * shape[1])
    return np.asarray(sums.reshape(shape) / joint.cells.shape[1])


def _noise(
    joint: JointCells, stretch: int, gaps: Array, total: float, random: np.random.Generator
) -> Array:
    """Draws (draws, cells) with the covariance of the gaps of one stretch."""
    inside = joint.of(stretch)
    cells, n_events = joint.cells[inside], joint.cells.shape[1]
    moments = np.zeros((joint.per_stretch, joint.per_stretch))
    np.add.at(moments, (cells[:, :, None], cells[:, None, :]), joint.squares[inside] / n_events**2)
    values, vectors = np.linalg.eigh((moments - total * np.outer(gaps, gaps)) / total**2)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.asarray(random.standard_normal((DRAWS, len(gaps))) @ root.T)


def _drawn(joint: JointCells, n_stretches: int, random: np.random.Generator) -> Array:
    """Errors (draws, S) of drawn labels, times the weight of the stretch."""
    mean = np.clip(joint.said / joint.weight[:, None], 0.0, 1.0)
    one_row = (mean * (1.0 - mean)).sum(axis=1)
    certain = joint.spread <= 0.0
    alike = joint.weight**2 * one_row / np.where(certain, 1.0, joint.spread)
    count = np.where(certain, 1, np.maximum(np.rint(alike), 1)).astype(np.int64)
    errors = np.empty((MAX_DRAWS, n_stretches))
    for draw in range(MAX_DRAWS):
        share = np.where(certain[:, None], mean, _share(count, mean, random))
        moved = joint.weight[:, None] * (mean - share)
        errors[draw] = np.abs(_by_cell(joint, moved, n_stretches)).sum(axis=1)
    return errors


def _share(count: Codes, mean: Array, random: np.random.Generator) -> Array:
    """How often each event comes in so many rows, as a share of them."""
    if mean.shape[1] == 1:
        return random.binomial(count[:, None], mean) / count[:, None]
    proba = mean / mean.sum(axis=1, keepdims=True)
    return np.asarray(random.multinomial(count, proba) / count[:, None])


def _require_few(bins: int, n_events: int, n_stretches: int) -> None:
    """Refuse more joint cells than can be held: bins of probabilities that can sum to 1."""
    sums = range(max(bins - n_events, 0), bins + 1)
    joint = bins if n_events == 1 else sum(comb(k + n_events - 1, n_events - 1) for k in sums)
    if joint * n_stretches > MAX_SUMS:
        raise InputError(
            f"metric has {bins} bins of each of {n_events} classes in {n_stretches} stretches of "
            "time, which is too many for rows that are taken as independent: name the groups of "
            "the rows with groups=, or ask for fewer bins"
        )

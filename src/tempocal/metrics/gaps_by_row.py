"""Calibration gaps, confidence minus outcome, of independent rows of a table.

Rows have no ids by which to draw for each of them. Instead, second moments are summed: the noise of
the gaps is drawn as Gaussian with their covariance, and the labels of a cell are drawn as those of
an effective number of identical rows that gives the same variance.
"""

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.formula.nodes import Column, Expression, total
from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.metrics.gap_metric import GapMetric
from tempocal.metrics.gap_sums import DRAWS, MAX_DRAWS, GapSums, floor_rng, noise_rng
from tempocal.metrics.scored_rows import ScoredRows, SumBy

# Largest number of joint cells.
MAX_CELLS = 2_000_000


@dataclass(frozen=True, eq=False)
class JointCells:
    """Sums over rows that share the time bin and the bin of every event."""

    time_bin: Codes  # (J,)
    cells: Codes  # (J, E) bin of each event plus event * bins
    weight: Array  # (J,)
    confidence_sum: Array  # (J, E) confidence times weight
    weighted_gaps: Array  # (J, E) confidence minus outcome, times weight
    products: Array  # (J, E, E) products of the gaps of two events, times weight
    outcome_variance: Array  # (J,) sum of w**2 p (1 - p) over rows and events
    cells_per_time_bin: int

    def of(self, time_bin: int) -> NDArray[np.bool_]:
        """Mask of the cells in a time bin."""
        return np.asarray(self.time_bin == time_bin)


def gap_sums_by_row(rows: ScoredRows, metric: GapMetric, n_events: int, seed: int) -> GapSums:
    """Sum the gaps of all events by time bin and bins, in one pass."""
    n_bins = rows.time_bins.count
    _require_few_cells(metric.bins, n_events, n_bins)
    joint = _joint_cells(rows, metric, n_events)
    totals = np.bincount(joint.time_bin, joint.weight, n_bins).astype(np.float64)
    gaps = _sum_by_cell(joint, joint.weighted_gaps, n_bins) / totals[:, None]
    rng = noise_rng(seed)
    noise = [_noise(joint, s, gaps[s], totals[s], rng) for s in range(n_bins)]
    drawn = _drawn_errors(joint, n_bins, floor_rng(seed)) / totals
    return GapSums(list(gaps), noise, drawn, totals, float(totals.sum()))


def _joint_cells(rows: ScoredRows, metric: GapMetric, n_events: int) -> JointCells:
    events = range(n_events)
    for event in events:
        rows = rows.with_event(metric, event).with_bins(metric, event)
    keys = ("time_bin", *(f"bin{k}" for k in events))
    (found,) = rows.sum_by("adding up", SumBy(keys, _summands(rows, n_events)))
    products = np.stack(
        [found[f"product{min(i, j)}_{max(i, j)}"] for i in events for j in events], axis=1
    )
    return JointCells(
        found["time_bin"].astype(np.intp),
        np.stack([found[f"bin{k}"].astype(np.intp) + k * metric.bins for k in events], axis=1),
        found["weight"],
        np.stack([found[f"confidence_sum{k}"] for k in events], axis=1),
        np.stack([found[f"weighted_gap{k}"] for k in events], axis=1),
        products.reshape(-1, n_events, n_events),
        found["outcome_variance"],
        n_events * metric.bins,
    )


def _summands(rows: ScoredRows, n_events: int) -> dict[str, Expression]:
    weight, events = rows.weight, range(n_events)
    confidence = [Column(f"confidence{k}") for k in events]
    gap = [confidence[k] - Column(f"outcome{k}") for k in events]
    columns: dict[str, Expression] = {"weight": weight}
    columns |= {f"confidence_sum{k}": weight * confidence[k] for k in events}
    columns |= {f"weighted_gap{k}": weight * gap[k] for k in events}
    columns |= {
        f"product{i}_{j}": weight * gap[i] * gap[j] for i in events for j in range(i, n_events)
    }
    columns["outcome_variance"] = weight * weight * total(p * (1.0 - p) for p in confidence)
    return columns


def _sum_by_cell(joint: JointCells, values: Array, n_time_bins: int) -> Array:
    """Sum over joint cells, divided by the number of events: (S, cells)."""
    shape = (n_time_bins, joint.cells_per_time_bin)
    where = joint.time_bin[:, None] * shape[1] + joint.cells
    sums = np.bincount(where.ravel(), values.ravel(), minlength=shape[0] * shape[1])
    return np.asarray(sums.reshape(shape) / joint.cells.shape[1])


def _noise(
    joint: JointCells, time_bin: int, gaps: Array, total: float, rng: np.random.Generator
) -> Array:
    """Draw noise (draws, cells) with the covariance of the gaps in one time bin."""
    inside = joint.of(time_bin)
    cells, n_events = joint.cells[inside], joint.cells.shape[1]
    moments = np.zeros((joint.cells_per_time_bin, joint.cells_per_time_bin))
    np.add.at(moments, (cells[:, :, None], cells[:, None, :]), joint.products[inside] / n_events**2)
    values, vectors = np.linalg.eigh((moments - total * np.outer(gaps, gaps)) / total**2)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.asarray(rng.standard_normal((DRAWS, len(gaps))) @ root.T)


def _drawn_errors(joint: JointCells, n_time_bins: int, rng: np.random.Generator) -> Array:
    """Errors (draws, S) of drawn labels, times the weight of the time bin."""
    mean = np.clip(joint.confidence_sum / joint.weight[:, None], 0.0, 1.0)
    variance_per_row = (mean * (1.0 - mean)).sum(axis=1)
    certain = joint.outcome_variance <= 0.0
    effective_rows = (
        joint.weight**2 * variance_per_row / np.where(certain, 1.0, joint.outcome_variance)
    )
    count = np.where(certain, 1, np.maximum(np.rint(effective_rows), 1)).astype(np.int64)
    errors = np.empty((MAX_DRAWS, n_time_bins))
    for draw in range(MAX_DRAWS):
        share = np.where(certain[:, None], mean, _drawn_frequency(count, mean, rng))
        weighted_gaps = joint.weight[:, None] * (mean - share)
        errors[draw] = np.abs(_sum_by_cell(joint, weighted_gaps, n_time_bins)).sum(axis=1)
    return errors


def _drawn_frequency(count: Codes, mean: Array, rng: np.random.Generator) -> Array:
    """Draw the relative frequency of each event in ``count`` rows."""
    if mean.shape[1] == 1:
        return rng.binomial(count[:, None], mean) / count[:, None]
    proba = mean / mean.sum(axis=1, keepdims=True)
    return np.asarray(rng.multinomial(count, proba) / count[:, None])


def _require_few_cells(bins: int, n_events: int, n_time_bins: int) -> None:
    """Refuse too many joint cells; only bins whose probabilities can sum to 1 count."""
    sums = range(max(bins - n_events, 0), bins + 1)
    joint = bins if n_events == 1 else sum(comb(k + n_events - 1, n_events - 1) for k in sums)
    if joint * n_time_bins > MAX_CELLS:
        raise InputError(
            f"metric has {bins} bins of each of {n_events} classes in {n_time_bins} stretches of "
            "time, which is too many for rows that are taken as independent: name the groups of "
            "the rows with groups=, or ask for fewer bins"
        )

"""Gain of a fit in mean log likelihood over the raw predictions, with a cluster-robust interval."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.table_fit_data import TableFitData
from tempocal.curves.grid import Grid
from tempocal.inputs import Codes
from tempocal.kernels import native
from tempocal.kernels.binary_losses import compare, dot
from tempocal.kernels.thread_pool import map_on_cores
from tempocal.links import Array, nll_from_logits
from tempocal.maps import CoefficientMap, TemporalMap
from tempocal.rows.sigmoid import CHUNK
from tempocal.rows.sums import LOG2_E

# Logits per block: large enough that threads seldom wait for the interpreter.
BLOCK = 2**17
# Blocks whose gains are held in memory at a time.
BLOCKS_AT_ONCE = 4


@dataclass(frozen=True)
class Gain:
    """Difference of the mean negative log likelihood, before minus after, and its interval."""

    mean: float
    lower: float
    upper: float

    def lowered(self, amount: float, error: float, data: FitData, level: float = 0.95) -> "Gain":
        """Subtract an amount with a standard error, independent of that of the gain."""
        mean, half = self.mean - amount, self.upper - self.mean
        if np.isfinite(half):
            half = float(np.hypot(half, error * _quantile(data, level)))
        return Gain(mean, mean - half, mean + half)


@dataclass(frozen=True)
class LossComparison:
    """Mean negative log likelihood before and after calibration, and their difference."""

    before: float
    after: float
    gain: Gain


def compare_losses(
    data: FitData, fitted: TemporalMap, grid: Grid | None = None, level: float = 0.95
) -> LossComparison:
    """Compare the losses before and after calibration in one pass; ``grid`` is that of the rows."""
    if isinstance(data, TableFitData):
        return _compare_table(data, fitted, level)
    block_sums = _block_sums(data, fitted, grid)
    by_group = None if data.groups is None else np.zeros(data.groups.count)
    sums = _sum_blocks(data, block_sums, by_group)
    before, after, mean, square = sums / data.total_weight
    if by_group is None:
        error = _row_error(square - mean**2, data)
    else:
        error = _cluster_error(by_group - mean * _group_weights(data), data)
    gain = gain_of(float(mean), error, data, level)
    return LossComparison(float(before), float(after), gain)


# Returns the sums of losses before, losses after, gains and squared gains over a block of rows; the
# gain of each row is written to the second argument.
_BlockSums = Callable[[slice, Array | None], Array]


def _block_sums(data: FitData, fitted: TemporalMap, grid: Grid | None) -> _BlockSums:
    weights, labels, times = data.weights, data.labels, data.times
    assert times is not None
    at_keys = None
    if grid is not None and grid.is_exact and isinstance(fitted, CoefficientMap):
        scales = None
        if native is not None and data.has_one_column:
            # The factor of the logit under each key, if the map is a mere scaling.
            scales = fitted.scales_at(grid.times)
        if scales is not None:
            keys, logits = grid.keys, data.raw_logits
            return lambda rows, gains_out: compare(
                logits[rows],
                scales,
                labels[rows],
                None if weights is None else weights[rows],
                keys=keys[rows],
                gains=gains_out,
            )
        at_keys = fitted.at_keys(grid.times)

    def block_sums(rows: slice, gains_out: Array | None) -> Array:
        logits = data.logits_of(rows)
        if grid is None or at_keys is None:
            calibrated = fitted(logits, times[rows])
        else:
            calibrated = at_keys(logits, grid.keys[rows])
        block_weights = None if weights is None else weights[rows]
        is_binary = logits.ndim == calibrated.ndim == 1
        if native is not None and is_binary:
            return compare(logits, calibrated, labels[rows], block_weights, gains=gains_out)
        method = _compare_binary if is_binary else _compare_classes
        before, after, gains = method(logits, calibrated, labels[rows], block_weights)
        if gains_out is not None:
            gains_out[:] = gains
        weighted_gains = gains if block_weights is None else gains * block_weights
        return np.array([before, after, weighted_gains.sum(), dot(weighted_gains, gains)])

    return block_sums


def _sum_blocks(data: FitData, block_sums: _BlockSums, by_group: Array | None) -> Array:
    """Sum over all rows; the weighted gains are added to ``by_group``."""
    n = data.n_rows
    size = max(1, BLOCK // data.n_columns)
    blocks = [slice(start, min(start + size, n)) for start in range(0, n, size)]
    if by_group is None:
        return np.asarray(np.sum(map_on_cores(lambda rows: block_sums(rows, None), blocks), axis=0))
    assert data.groups is not None
    codes, weights, total = data.groups.codes, data.weights, np.zeros(4)
    gains = np.empty(min(n, size * BLOCKS_AT_ONCE))
    for k in range(0, len(blocks), BLOCKS_AT_ONCE):
        some = blocks[k : k + BLOCKS_AT_ONCE]
        first, end = some[0].start, some[-1].stop

        def sum_block(rows: slice, first: int = first) -> Array:
            return block_sums(rows, gains[rows.start - first : rows.stop - first])

        total += np.sum(map_on_cores(sum_block, some), axis=0)
        gains_out = gains[: end - first]
        if weights is not None:
            gains_out *= weights[first:end]
        np.add.at(by_group, codes[first:end], gains_out)
    return total


def _compare_table(data: TableFitData, fitted: TemporalMap, level: float) -> LossComparison:
    """Compare losses in a table; without an exact pass the interval over groups is unknown."""
    if not data.exact or not isinstance(fitted, CoefficientMap):
        comparison = compare_losses(data.points(), fitted, level=level)
        gain = comparison.gain
        if data.groups is not None:
            gain = Gain(gain.mean, -np.inf, np.inf)
        return LossComparison(comparison.before, comparison.after, gain)
    sums, total = data.gains(fitted), data.total_weight
    mean, count = sums.gain / total, _n_units(data)
    error = np.inf
    if count > 1:
        correction = count / (count - 1)
        spread = sums.squared_deviations(mean)
        error = float(np.sqrt(spread * correction)) / total
    before = sums.before / total
    return LossComparison(before, before - mean, gain_of(mean, error, data, level))


def gain_of(mean: float, error: float, data: FitData, level: float = 0.95) -> Gain:
    """Return the gain with its interval, by Student's t over rows or groups."""
    half = np.inf if _n_units(data) <= 1 else error * _quantile(data, level)
    return Gain(mean, mean - half, mean + half)


def _quantile(data: FitData, level: float) -> float:
    """Quantile of Student's t over rows or groups."""
    return float(stdtrit(_n_units(data) - 1, 0.5 + level / 2))


def _compare_binary(
    logits: Array, mapped: Array, labels: Codes, weights: Array | None
) -> tuple[float, float, Array]:
    """Return the summed losses of binary rows before and after, and the gain of each row.

    With ``a`` the log-odds against the true class, a loss is ``log(1 + exp(-|a|)) + max(a, 0)``.
    The difference of two losses takes one logarithm, their sums one per chunk of rows.
    """
    # Without a branch on the label, which would be unpredictable.
    against = 1.0 - 2.0 * labels
    one, other = logits * against, mapped * against
    ratio, below = _one_plus_exp(one), _one_plus_exp(other)
    np.maximum(one, 0.0, out=one)
    np.maximum(other, 0.0, out=other)
    before = _sum(one, weights) + _sum_logs(ratio, weights)
    after = _sum(other, weights) + _sum_logs(below, weights)
    np.log(np.divide(ratio, below, out=ratio), out=ratio)
    ratio += np.subtract(one, other, out=one)
    return before, after, ratio


def _compare_classes(
    logits: Array, mapped: Array, labels: Codes, weights: Array | None
) -> tuple[float, float, Array]:
    before, after = nll_from_logits(logits, labels), nll_from_logits(mapped, labels)
    return _sum(before, weights), _sum(after, weights), before - after


def _one_plus_exp(odds: Array) -> Array:
    """``1 + exp(-|odds|)``."""
    small = np.copysign(odds, -1.0)
    small *= LOG2_E
    np.exp2(small, out=small)
    small += 1.0
    return small


def _sum(values: Array, weights: Array | None) -> float:
    return float(values.sum()) if weights is None else dot(values, weights)


def _sum_logs(values: Array, weights: Array | None) -> float:
    """Sum the logarithms of numbers in [1, 2]."""
    if weights is not None:
        return _sum(np.log(values), weights)
    chunks = np.arange(0, len(values), CHUNK)
    return float(np.log(np.multiply.reduceat(values, chunks)).sum())


def standard_error(values: Array, data: FitData) -> float:
    """Return the standard error of a weighted mean over groups, by linearizing the ratio.

    Without groups a row of weight w counts as w independent rows.
    """
    centered = values - data.mean(values)
    weighted = centered if data.weights is None else centered * data.weights
    groups = data.groups
    if groups is None:
        return _row_error(dot(weighted, centered) / data.total_weight, data)
    residuals = np.bincount(groups.codes, weighted, minlength=groups.count)
    return _cluster_error(residuals.astype(np.float64, copy=False), data)


def _cluster_error(residuals: Array, data: FitData) -> float:
    """Return the standard error of a mean from the summed residuals of each group."""
    count = _n_units(data)
    if count <= 1:
        return np.inf
    return float(np.sqrt(dot(residuals, residuals) * count / (count - 1))) / data.total_weight


def _group_weights(data: FitData) -> Array:
    """Weight of the rows of each group."""
    groups, weights = data.groups, data.weights
    assert groups is not None
    total = np.zeros(groups.count)
    for start in range(0, data.n_rows, BLOCK):
        rows = slice(start, start + BLOCK)
        np.add.at(total, groups.codes[rows], 1.0 if weights is None else weights[rows])
    return total


def _row_error(variance: float, data: FitData) -> float:
    """Return the standard error of a mean over independent rows."""
    count = data.total_weight
    return np.inf if count <= 1 else float(np.sqrt(max(variance, 0.0) / (count - 1)))


def _n_units(data: FitData) -> float:
    return data.total_weight if data.groups is None else data.groups.count

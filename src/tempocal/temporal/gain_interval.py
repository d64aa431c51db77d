"""What a fit gained over doing nothing, with an interval over groups."""

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
from tempocal.maps import Curves, TemporalMap
from tempocal.rows.sigmoid import CHUNK
from tempocal.rows.sums import LOG2_E

# Logits that are scored at once: enough that threads seldom wait for the interpreter.
BLOCK = 2**17
# Blocks whose gains are there at once.
BLOCKS_AT_ONCE = 4


@dataclass(frozen=True)
class Gain:
    """Difference of the mean negative log likelihood, before minus after, and its interval."""

    mean: float
    lower: float
    upper: float

    def less(self, amount: float) -> "Gain":
        """Return the same gain, moved down."""
        return Gain(self.mean - amount, self.lower - amount, self.upper - amount)


@dataclass(frozen=True)
class LossComparison:
    """Mean negative log likelihood before and after, and what was gained between the two."""

    before: float
    after: float
    gain: Gain


def compare_losses(
    data: FitData, fitted: TemporalMap, grid: Grid | None = None, level: float = 0.95
) -> LossComparison:
    """Score rows as they are and mapped, in one pass; ``grid`` is that of these rows."""
    if isinstance(data, TableFitData):
        return _score_table(data, fitted, level)
    score = _scorer(data, fitted, grid)
    by_group = None if data.groups is None else np.zeros(data.groups.count)
    sums = _sum_blocks(data, score, by_group)
    before, after, mean, square = sums / data.total_weight
    if by_group is None:
        error = _error_of_rows(square - mean**2, data)
    else:
        error = _error_of_groups(by_group - mean * _group_weights(data), data)
    gain = _gain(float(mean), error, data, level)
    return LossComparison(float(before), float(after), gain)


# Sums losses before and after, gains and their squares, of some rows; what each gains is filled in.
_Scorer = Callable[[slice, Array | None], Array]


def _scorer(data: FitData, fitted: TemporalMap, grid: Grid | None) -> _Scorer:
    weights, labels = data.weights, data.labels
    scales = _scales(data, fitted, grid)
    if scales is not None:
        assert grid is not None
        keys, logits = grid.keys, data.raw_logits
        return lambda rows, gained: compare(
            logits[rows],
            scales,
            labels[rows],
            None if weights is None else weights[rows],
            keys=keys[rows],
            gains=gained,
        )
    mapped = _map_rows(data, fitted, grid)

    def score(rows: slice, gained: Array | None) -> Array:
        logits, calibrated = data.logits_of(rows), mapped(rows)
        own = None if weights is None else weights[rows]
        is_binary = logits.ndim == calibrated.ndim == 1
        if native is not None and is_binary:
            return compare(logits, calibrated, labels[rows], own, gains=gained)
        method = _compare if is_binary else _compare_classes
        before, after, gains = method(logits, calibrated, labels[rows], own)
        if gained is not None:
            gained[:] = gains
        weighed = gains if own is None else gains * own
        return np.array([before, after, weighed.sum(), dot(weighed, gains)])

    return score


def _sum_blocks(data: FitData, score: _Scorer, by_group: Array | None) -> Array:
    """Sum over all rows, and add what each gains, times its weight, to its group."""
    n = data.n_rows
    size = max(1, BLOCK // data.n_columns)
    blocks = [slice(start, min(start + size, n)) for start in range(0, n, size)]
    if by_group is None:
        return np.asarray(np.sum(map_on_cores(lambda rows: score(rows, None), blocks), axis=0))
    assert data.groups is not None
    codes, weights, total = data.groups.codes, data.weights, np.zeros(4)
    gains = np.empty(min(n, size * BLOCKS_AT_ONCE))
    for k in range(0, len(blocks), BLOCKS_AT_ONCE):
        some = blocks[k : k + BLOCKS_AT_ONCE]
        first, end = some[0].start, some[-1].stop

        def score_some(rows: slice, first: int = first) -> Array:
            return score(rows, gains[rows.start - first : rows.stop - first])

        total += np.sum(map_on_cores(score_some, some), axis=0)
        gained = gains[: end - first]
        if weights is not None:
            gained *= weights[first:end]
        np.add.at(by_group, codes[first:end], gained)
    return total


def _score_table(data: TableFitData, fitted: TemporalMap, level: float) -> LossComparison:
    """Score the rows of a table; without a look at them nothing is known of the groups."""
    if not data.exact or not isinstance(fitted, Curves):
        scored = compare_losses(data.points(), fitted, level=level)
        gain = scored.gain
        if data.groups is not None:
            gain = Gain(gain.mean, -np.inf, np.inf)
        return LossComparison(scored.before, scored.after, gain)
    sums, total = data.gains(fitted), data.total_weight
    mean, count = sums.gain / total, _count(data)
    error = np.inf
    if count > 1:
        correction = count / (count - 1)
        spread = sums.squared_deviations(mean)
        error = float(np.sqrt(spread * correction)) / total
    before = sums.before / total
    return LossComparison(before, before - mean, _gain(mean, error, data, level))


def _gain(mean: float, error: float, data: FitData, level: float) -> Gain:
    half = np.inf if _count(data) <= 1 else error * _quantile(data, level)
    return Gain(mean, mean - half, mean + half)


def _scales(data: FitData, fitted: TemporalMap, grid: Grid | None) -> Array | None:
    """Return what the one logit of a row is multiplied by under each key, if that is all."""
    is_known = grid is not None and grid.is_exact and isinstance(fitted, Curves)
    if native is None or not is_known or not data.has_one_column:
        return None
    assert grid is not None
    assert isinstance(fitted, Curves)
    return fitted.scales_at(grid.times)


def _map_rows(data: FitData, fitted: TemporalMap, grid: Grid | None) -> Callable[[slice], Array]:
    """Calibrate some of the rows: where they share few times, by looking up what is known there."""
    logits_of, times = data.logits_of, data.times
    assert times is not None
    if grid is not None and grid.is_exact and isinstance(fitted, Curves):
        at_keys, keys = fitted.at_keys(grid.times), grid.keys
        return lambda rows: at_keys(logits_of(rows), keys[rows])
    return lambda rows: fitted(logits_of(rows), times[rows])


def _compare(
    logits: Array, mapped: Array, labels: Codes, weights: Array | None
) -> tuple[float, float, Array]:
    """Sum the losses of binary rows before and after, and tell what each of them gains.

    With ``a`` the log-odds against the true class, a loss is ``log(1 + exp(-|a|)) + max(a, 0)``.
    Two of them take one logarithm, and their sum even less.
    """
    # Without a branch on the label, which no processor foresees.
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
    """Return the standard error of a weighted mean over groups, as of a ratio.

    Without groups a row is as many as its weight.
    """
    centered = values - data.mean(values)
    weighted = centered if data.weights is None else centered * data.weights
    groups = data.groups
    if groups is None:
        return _error_of_rows(dot(weighted, centered) / data.total_weight, data)
    off = np.bincount(groups.codes, weighted, minlength=groups.count)
    return _error_of_groups(off.astype(np.float64, copy=False), data)


def _error_of_groups(off: Array, data: FitData) -> float:
    """Return the standard error of a mean, from how far the sum of each group is off."""
    count = _count(data)
    if count <= 1:
        return np.inf
    return float(np.sqrt(dot(off, off) * count / (count - 1))) / data.total_weight


def _group_weights(data: FitData) -> Array:
    """Weight of the rows of each group."""
    groups, weights = data.groups, data.weights
    assert groups is not None
    total = np.zeros(groups.count)
    for start in range(0, data.n_rows, BLOCK):
        rows = slice(start, start + BLOCK)
        np.add.at(total, groups.codes[rows], 1.0 if weights is None else weights[rows])
    return total


def _error_of_rows(variance: float, data: FitData) -> float:
    """Return the standard error of a mean over rows that are taken as independent."""
    count = data.total_weight
    return np.inf if count <= 1 else float(np.sqrt(max(variance, 0.0) / (count - 1)))


def _quantile(data: FitData, level: float) -> float:
    return float(stdtrit(_count(data) - 1, 0.5 + level / 2))


def _count(data: FitData) -> float:
    return data.total_weight if data.groups is None else data.groups.count

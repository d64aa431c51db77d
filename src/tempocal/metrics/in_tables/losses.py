"""Mean losses over the rows of a table, and their expectation if predictions are calibrated."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from tempocal.links import Array
from tempocal.metrics.dispatch import unwrap
from tempocal.metrics.in_tables.events import top_class, top_confidence
from tempocal.metrics.in_tables.group_draws import draw_by_group
from tempocal.metrics.in_tables.scored_frame import MAX_SUMS, ScoredFrame, indicator, sum_of
from tempocal.metrics.in_tables.time_bins import TableTimeBins, one_time_bin
from tempocal.metrics.jackknife import Metric
from tempocal.metrics.likelihood import nll
from tempocal.metrics.mean_losses import MeanSums
from tempocal.metrics.predictions import check_two_classes
from tempocal.metrics.sample import BUCKETS
from tempocal.metrics.squared_error import brier
from tempocal.tables.open_table import Frame
from tempocal.tables.transfer import Columns

_SUMS = ("weight", "loss", "expected", "infinite_loss")


@dataclass(frozen=True)
class RowLossColumns:
    """Columns in two stages; an infinite loss is 0 in ``loss`` and 1 in ``infinite_loss``."""

    first: dict[str, nw.Expr]
    loss: Any
    expected: Any
    infinite_loss: Any

    def add(self, frame: Frame) -> Frame:
        """Add ``loss``, ``expected`` and ``infinite_loss``."""
        columns = {
            "loss": self.loss,
            "expected": self.expected,
            "infinite_loss": self.infinite_loss,
        }
        return frame.with_columns(**self.first).with_columns(**columns)


def mean_sums(table: ScoredFrame, metric: Metric, time_bins: TableTimeBins) -> MeanSums:
    """Sum the losses in each time bin, by group or by row."""
    function, settings = unwrap(metric)
    check_two_classes(settings.get("of", ""), table.n_classes, "another of=")
    frame = time_bins.add_time_bin(_loss(function, settings, table.n_classes).add(table.frame))
    by_unit = _by_row if table.groups is None else _by_group
    return by_unit(table, frame, time_bins)


def gain_sums(table: ScoredFrame, metric: Metric, after: Sequence[str]) -> MeanSums:
    """Sum the decrease of the loss with the probabilities in the columns ``after``."""
    function, settings = unwrap(metric)
    loss = _loss(function, settings, table.n_classes)
    frame = loss.add(table.frame).with_columns(
        before=nw.col("loss"), infinite_before=nw.col("infinite_loss")
    )
    frame = frame.with_columns(**{f"p{k}": nw.col(name) for k, name in enumerate(after)})
    # Two infinite losses cancel.
    frame = loss.add(frame).with_columns(
        loss=nw.col("before") - nw.col("loss"),
        infinite_loss=nw.col("infinite_before") - nw.col("infinite_loss"),
        expected=nw.lit(0.0),
    )
    time_bins = one_time_bin()
    by_unit = _by_row if table.groups is None else _by_group
    return by_unit(table, time_bins.add_time_bin(frame), time_bins)


def _by_group(table: ScoredFrame, frame: Frame, time_bins: TableTimeBins) -> MeanSums:
    """Sum over buckets of groups, which are independent."""
    assert table.groups is not None
    max_buckets = max(min(BUCKETS, MAX_SUMS // time_bins.count), 1)
    draws = draw_by_group(frame, table.groups, max_buckets, range(0), 0)
    weighted = _weighted(draws.frame)
    sums = [nw.col(name).sum() for name in _SUMS] + [nw.col("group").n_unique()]
    found = table.passes.collect(weighted.group_by("bucket", "time_bin").agg(*sums), "adding up")
    shape = (draws.buckets, time_bins.count)
    where = np.ravel_multi_index((_codes(found, "bucket"), _codes(found, "time_bin")), shape)
    weight, loss, expected, infinite_loss, groups = (
        np.bincount(where, found[name], minlength=shape[0] * shape[1]).reshape(shape)
        for name in (*_SUMS, "group")
    )
    totals = weight.sum(axis=0)
    means, n_infinite = loss.sum(axis=0) / totals, infinite_loss.sum(axis=0)
    return MeanSums(
        _with_infinite(means, n_infinite),
        expected.sum(axis=0) / totals,
        np.where(n_infinite == 0.0, (loss - means * weight) / totals, 0.0),
        groups.sum(axis=0),
        float(table.groups.count),
    )


def _by_row(table: ScoredFrame, frame: Frame, time_bins: TableTimeBins) -> MeanSums:
    """Sum over rows; time bins are independent, so that the covariance is diagonal."""
    weighted = _weighted(
        frame.with_columns(square=nw.col("loss") * nw.col("loss") * nw.col("weight"))
    )
    names = (*_SUMS, "square")
    sums = [nw.col(name).sum() for name in names]
    found = table.passes.collect(weighted.group_by("time_bin").agg(*sums), "adding up")
    order = np.argsort(found["time_bin"])
    totals, loss, expected, infinite_loss, square = (found[name][order] for name in names)
    means = loss / totals
    spread = np.sqrt(np.maximum(square - means * loss, 0.0)) / totals
    return MeanSums(
        _with_infinite(means, infinite_loss),
        expected / totals,
        np.diag(np.where(infinite_loss == 0.0, spread, 0.0)),
        totals,
        float(totals.sum()),
    )


def _with_infinite(means: Array, infinite_loss: Array) -> Array:
    return np.where(infinite_loss > 0.0, np.inf, np.where(infinite_loss < 0.0, -np.inf, means))


def _weighted(frame: Frame) -> Frame:
    return frame.with_columns(
        **{name: nw.col(name) * nw.col("weight") for name in _SUMS if name != "weight"}
    )


def _codes(found: Columns, name: str) -> Any:
    return found[name].astype(np.intp)


def _loss(function: Any, settings: dict[str, Any], n_classes: int) -> RowLossColumns:
    p = [nw.col(f"p{k}") for k in range(n_classes)]
    if function is nll:
        return _nll(p, float(settings["clip"]))
    if function is brier:
        return _brier(p) if settings["of"] == "all_classes" else _positive_class_brier(p)
    return _overconfidence(p)


def _nll(p: list[nw.Expr], clip: float) -> RowLossColumns:
    true = nw.col("true")
    expected = sum_of(-1.0 * one * _clipped(one, clip).log() for one in p)
    infinite_loss = nw.lit(0.0) if clip > 0.0 else 1.0 - indicator(true > 0.0)
    return RowLossColumns(
        {"true": _true_class(p)}, -1.0 * _clipped(true, clip).log(), expected, infinite_loss
    )


def _brier(p: list[nw.Expr]) -> RowLossColumns:
    squares = nw.col("squares")
    first = {"true": _true_class(p), "squares": sum_of(one * one for one in p)}
    expected = sum_of(one * (squares - 2.0 * one + 1.0) for one in p)
    return RowLossColumns(first, squares - 2.0 * nw.col("true") + 1.0, expected, nw.lit(0.0))


def _positive_class_brier(p: list[nw.Expr]) -> RowLossColumns:
    error = nw.col("error")
    first = {"error": p[1] - indicator(nw.col("label") == 1)}
    expected = p[0] * p[1] * p[1] + p[1] * (1.0 - p[1]) * (1.0 - p[1])
    return RowLossColumns(first, error * error, expected, nw.lit(0.0))


def _overconfidence(p: list[nw.Expr]) -> RowLossColumns:
    confidence = nw.col("confidence")
    first = {"confidence": top_confidence(len(p))}
    correct = indicator(top_class(len(p), confidence) == nw.col("label"))
    return RowLossColumns(first, confidence - correct, confidence * (sum_of(p) - 1.0), nw.lit(0.0))


def _true_class(p: list[nw.Expr]) -> Any:
    """Probability of the true class."""
    found: Any = p[-1]
    for k, one in reversed(list(enumerate(p[:-1]))):
        found = nw.when(nw.col("label") == k).then(one).otherwise(found)
    return found


def _clipped(p: nw.Expr, clip: float) -> nw.Expr:
    """Clip before the logarithm; without a clip 0 becomes 1, as some engines refuse log(0)."""
    return nw.when(p > clip).then(p).otherwise(nw.lit(clip or 1.0))

"""Means over the rows of a table: the loss of each row, and the one that is expected of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from tempocal.links import Array
from tempocal.metrics.dispatch import unwrap
from tempocal.metrics.in_tables.events import confidence, top_class
from tempocal.metrics.in_tables.group_draws import draw_by_group
from tempocal.metrics.in_tables.scored_frame import MAX_SUMS, ScoredFrame, added, flag
from tempocal.metrics.in_tables.time_bins import TableTimeBins, whole
from tempocal.metrics.jackknife import Metric
from tempocal.metrics.likelihood import nll
from tempocal.metrics.mean_losses import MeanSums
from tempocal.metrics.predictions import check_two_classes
from tempocal.metrics.sample import BUCKETS
from tempocal.metrics.squared_error import brier
from tempocal.tables.open_table import Frame
from tempocal.tables.transfer import Columns

_SUMS = ("weight", "loss", "expected", "lost")


@dataclass(frozen=True)
class Loss:
    """Columns in two stages; a row is ``lost`` if its loss is infinite, and 0 here."""

    first: dict[str, nw.Expr]
    loss: Any
    expected: Any
    lost: Any

    def add(self, frame: Frame) -> Frame:
        """Add ``loss``, ``expected`` and ``lost``."""
        columns = {"loss": self.loss, "expected": self.expected, "lost": self.lost}
        return frame.with_columns(**self.first).with_columns(**columns)


def mean_sums(table: ScoredFrame, metric: Metric, stretches: TableTimeBins) -> MeanSums:
    """Sum the losses of each stretch, by group or by row."""
    function, settings = unwrap(metric)
    check_two_classes(settings.get("of", ""), table.n_classes, "another of=")
    frame = stretches.locate(_loss(function, settings, table.n_classes).add(table.frame))
    by_unit = _by_row if table.groups is None else _by_group
    return by_unit(table, frame, stretches)


def gain_sums(table: ScoredFrame, metric: Metric, after: Sequence[str]) -> MeanSums:
    """Sum what the losses of all rows are less with the probabilities ``after``, also columns."""
    function, settings = unwrap(metric)
    loss = _loss(function, settings, table.n_classes)
    frame = loss.add(table.frame).with_columns(before=nw.col("loss"), lost_before=nw.col("lost"))
    frame = frame.with_columns(**{f"p{k}": nw.col(name) for k, name in enumerate(after)})
    # Two infinite losses are as bad as each other.
    frame = loss.add(frame).with_columns(
        loss=nw.col("before") - nw.col("loss"),
        lost=nw.col("lost_before") - nw.col("lost"),
        expected=nw.lit(0.0),
    )
    stretches = whole()
    by_unit = _by_row if table.groups is None else _by_group
    return by_unit(table, stretches.locate(frame), stretches)


def _by_group(table: ScoredFrame, frame: Frame, stretches: TableTimeBins) -> MeanSums:
    """Sum groups in buckets, whose deviations are those of independent parts."""
    assert table.groups is not None
    most = max(min(BUCKETS, MAX_SUMS // stretches.count), 1)
    drawn = draw_by_group(frame, table.groups, most, range(0), 0)
    weighed = _weighed(drawn.frame)
    sums = [nw.col(name).sum() for name in _SUMS] + [nw.col("group").n_unique()]
    found = table.passes.collect(weighed.group_by("bucket", "stretch").agg(*sums), "adding up")
    shape = (drawn.buckets, stretches.count)
    where = np.ravel_multi_index((_codes(found, "bucket"), _codes(found, "stretch")), shape)
    weight, loss, expected, lost, groups = (
        np.bincount(where, found[name], minlength=shape[0] * shape[1]).reshape(shape)
        for name in (*_SUMS, "group")
    )
    totals = weight.sum(axis=0)
    means, infinite = loss.sum(axis=0) / totals, lost.sum(axis=0)
    return MeanSums(
        _with_infinite(means, infinite),
        expected.sum(axis=0) / totals,
        np.where(infinite == 0.0, (loss - means * weight) / totals, 0.0),
        groups.sum(axis=0),
        float(table.groups.count),
    )


def _by_row(table: ScoredFrame, frame: Frame, stretches: TableTimeBins) -> MeanSums:
    """Rows of one stretch are independent of those of the others: each is a part of its own."""
    weighed = _weighed(
        frame.with_columns(square=nw.col("loss") * nw.col("loss") * nw.col("weight"))
    )
    names = (*_SUMS, "square")
    sums = [nw.col(name).sum() for name in names]
    found = table.passes.collect(weighed.group_by("stretch").agg(*sums), "adding up")
    order = np.argsort(found["stretch"])
    totals, loss, expected, lost, square = (found[name][order] for name in names)
    means = loss / totals
    spread = np.sqrt(np.maximum(square - means * loss, 0.0)) / totals
    return MeanSums(
        _with_infinite(means, lost),
        expected / totals,
        np.diag(np.where(lost == 0.0, spread, 0.0)),
        totals,
        float(totals.sum()),
    )


def _with_infinite(means: Array, lost: Array) -> Array:
    return np.where(lost > 0.0, np.inf, np.where(lost < 0.0, -np.inf, means))


def _weighed(frame: Frame) -> Frame:
    return frame.with_columns(
        **{name: nw.col(name) * nw.col("weight") for name in _SUMS if name != "weight"}
    )


def _codes(found: Columns, name: str) -> Any:
    return found[name].astype(np.intp)


def _loss(function: Any, settings: dict[str, Any], n_classes: int) -> Loss:
    p = [nw.col(f"p{k}") for k in range(n_classes)]
    if function is nll:
        return _nll(p, float(settings["clip"]))
    if function is brier:
        return _brier(p) if settings["of"] == "all_classes" else _one_column(p)
    return _overconfidence(p)


def _nll(p: list[nw.Expr], clip: float) -> Loss:
    true = nw.col("true")
    expected = added(-1.0 * one * _at_least(one, clip).log() for one in p)
    lost = nw.lit(0.0) if clip > 0.0 else 1.0 - flag(true > 0.0)
    return Loss({"true": _true(p)}, -1.0 * _at_least(true, clip).log(), expected, lost)


def _brier(p: list[nw.Expr]) -> Loss:
    squares = nw.col("squares")
    first = {"true": _true(p), "squares": added(one * one for one in p)}
    expected = added(one * (squares - 2.0 * one + 1.0) for one in p)
    return Loss(first, squares - 2.0 * nw.col("true") + 1.0, expected, nw.lit(0.0))


def _one_column(p: list[nw.Expr]) -> Loss:
    error = nw.col("error")
    first = {"error": p[1] - flag(nw.col("label") == 1)}
    expected = p[0] * p[1] * p[1] + p[1] * (1.0 - p[1]) * (1.0 - p[1])
    return Loss(first, error * error, expected, nw.lit(0.0))


def _overconfidence(p: list[nw.Expr]) -> Loss:
    sure = nw.col("sure")
    first = {"sure": confidence(len(p))}
    right = flag(top_class(len(p), sure) == nw.col("label"))
    return Loss(first, sure - right, sure * (added(p) - 1.0), nw.lit(0.0))


def _true(p: list[nw.Expr]) -> Any:
    """Probability of the true class."""
    found: Any = p[-1]
    for k, one in reversed(list(enumerate(p[:-1]))):
        found = nw.when(nw.col("label") == k).then(one).otherwise(found)
    return found


def _at_least(p: nw.Expr, clip: float) -> nw.Expr:
    """Keep from zero, whose logarithm some engines refuse; without a clip it counts as 1."""
    return nw.when(p > clip).then(p).otherwise(nw.lit(clip or 1.0))

"""Choose how a metric is computed: mean of row losses, sum of gaps, or jackknife."""

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any

from tempocal.errors import InputError
from tempocal.inputs import check_bins
from tempocal.metrics.binned import ece
from tempocal.metrics.classwise import classwise_ece
from tempocal.metrics.edges import describe
from tempocal.metrics.gap_metric import GapMetric
from tempocal.metrics.gap_sums import calibration_error_from_sums
from tempocal.metrics.gaps_by_row import gap_sums_by_row
from tempocal.metrics.gaps_by_unit import gap_sums_by_unit
from tempocal.metrics.jackknife import Metric, jackknife_by_time_bin
from tempocal.metrics.likelihood import nll
from tempocal.metrics.mean_losses import mean_loss_by_time_bin
from tempocal.metrics.metric_intervals import MetricByTimeBin
from tempocal.metrics.overconfidence import overconfidence
from tempocal.metrics.predictions import check_two_classes
from tempocal.metrics.row_losses import LossFormula, row_brier, row_nll, row_overconfidence
from tempocal.metrics.scored_arrays import ScoredArrays
from tempocal.metrics.scored_rows import ScoredRows
from tempocal.metrics.squared_error import brier


def metric_by_time_bin(
    rows: ScoredRows, metric: Metric, level: float, seed: int
) -> MetricByTimeBin:
    """Compute a metric in each time bin of some rows."""
    loss, found = row_loss(metric), gap_metric(metric)
    if found is not None:
        gaps, name = found
        rows.require_few_cells(gaps)
        n_events = gaps.n_events(rows.n_classes)
        by_unit = gap_sums_by_row if rows.n_units is None else gap_sums_by_unit
        return calibration_error_from_sums(by_unit(rows, gaps, n_events, seed), name, level)
    if loss is not None:
        _, settings = unwrap(metric)
        check_two_classes(settings.get("of", ""), rows.n_classes, "another of=")
        return mean_loss_by_time_bin(rows, *loss, level)
    assert isinstance(rows, ScoredArrays)
    return jackknife_by_time_bin(rows, metric, level, seed)


def require_summable(metric: Metric, where: str = "from a table") -> None:
    """Refuse a metric that cannot be computed from sums."""
    if row_loss(metric) is None and gap_metric(metric) is None:
        name = getattr(metric, "__name__", repr(metric))
        raise InputError(
            f"metric is {name:.80}, which needs the rows: {where} nll, brier, overconfidence, "
            "ece and classwise_ece can be had, also with settings by functools.partial"
        )


def gap_metric(metric: Metric) -> tuple[GapMetric, str] | None:
    """Return the settings and the name of a metric that is a sum of gaps; else None."""
    function, settings = unwrap(metric)
    if function not in (ece, classwise_ece):
        return None
    bins = check_bins(settings["bins"])
    gaps = GapMetric(settings.get("of"), bins, settings["binning"])
    return gaps, _name(gaps)


def row_loss(metric: Metric) -> tuple[LossFormula, str] | None:
    """Return the row loss and the name of a metric that is a mean over rows; else None."""
    function, settings = unwrap(metric)
    if function is nll:
        return row_nll(settings["clip"]), "NLL"
    if function is brier:
        return row_brier(settings["of"]), "Brier score"
    if function is overconfidence:
        return row_overconfidence, "confidence minus accuracy"
    return None


def unwrap(metric: Any) -> tuple[Callable[..., Any], dict[str, Any]]:
    """Return the function and all settings of a metric of this package; else the metric and {}."""
    if not callable(metric):
        raise InputError(
            f"metric must be a function such as tempocal.metrics.ece, but it is {metric!r:.80}"
        )
    function, given = metric, {}
    if isinstance(metric, partial) and not metric.args:
        function, given = metric.func, metric.keywords
    own = {"sample_weight", "classes", "inputs"} & set(given)
    if own:
        raise InputError(
            f"metric has a setting {own.pop()!r} of its own, which would be overridden: pass it "
            "beside the metric instead"
        )
    if given.get("soft_label"):
        raise InputError(
            "metric has soft_label=True of its own: pass it beside the metric instead, where that "
            "takes soft labels, or call the metric itself, metric(y, proba, soft_label=True)"
        )
    if function not in (nll, brier, overconfidence, ece, classwise_ece):
        return metric, {}
    try:
        bound = signature(function).bind_partial(None, None, **given)
    except TypeError as error:
        known = ", ".join(list(signature(function).parameters)[2:])
        raise InputError(
            f"metric has settings that {function.__name__} does not: {error}. It has {known}"
        ) from error
    bound.apply_defaults()
    return function, bound.arguments


def check_arguments(metric: Any) -> None:
    """Refuse a metric that does not take what it is called with."""
    try:
        takes = signature(metric)
    except (TypeError, ValueError):
        return  # written in C: it says itself
    try:
        takes.bind(None, None, sample_weight=None, classes=None)
    except TypeError as error:
        name = getattr(metric, "__name__", repr(metric))
        raise InputError(
            "metric must take (y, proba, sample_weight=..., classes=...), but "
            f"{name:.80} does not: {error}. Write a function around it that does"
        ) from error


def _name(gaps: GapMetric) -> str:
    which = "classwise" if gaps.of is None else gaps.of.replace("_", "-")
    return f"{which} ECE, {describe(gaps.bins, gaps.binning)}"

"""Choose how a metric is computed over time: mean of row losses, sum of gaps, or jackknife."""

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any

from tempocal.errors import InputError
from tempocal.inputs import check_bins
from tempocal.metrics.binned import ece
from tempocal.metrics.cells import GapMetric
from tempocal.metrics.classwise import classwise_ece
from tempocal.metrics.edges import describe
from tempocal.metrics.gap_sums import calibration_error_by_time_bin
from tempocal.metrics.jackknife import Metric, jackknife_by_time_bin
from tempocal.metrics.likelihood import nll, row_nll
from tempocal.metrics.mean_losses import mean_loss_by_time_bin
from tempocal.metrics.metric_intervals import MetricByTimeBin
from tempocal.metrics.overconfidence import overconfidence, row_overconfidence
from tempocal.metrics.predictions import RowLoss, check_two_classes
from tempocal.metrics.sample import Sample
from tempocal.metrics.squared_error import brier, row_brier


def metric_by_time_bin(sample: Sample, metric: Metric, level: float, seed: int) -> MetricByTimeBin:
    """Compute a metric in each time bin of a sample."""
    _, settings = unwrap(metric)
    check_two_classes(settings.get("of", ""), sample.rows.n_classes, "another of=")
    loss = row_loss(metric)
    if loss is not None:
        return mean_loss_by_time_bin(sample, *loss, level)
    gaps = gap_metric(metric)
    if gaps is not None:
        return calibration_error_by_time_bin(sample, *gaps, level, seed)
    return jackknife_by_time_bin(sample, metric, level, seed)


def gap_metric(metric: Metric) -> tuple[GapMetric, str] | None:
    """Return the settings and the name of a metric that is a sum of gaps; else None."""
    function, settings = unwrap(metric)
    if function not in (ece, classwise_ece):
        return None
    bins = check_bins(settings["bins"])
    gaps = GapMetric(settings.get("of"), bins, settings["binning"])
    return gaps, _name(gaps)


def row_loss(metric: Metric) -> tuple[RowLoss, str] | None:
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
    own = {"sample_weight", "classes"} & set(given)
    if own:
        raise InputError(
            f"metric has a setting {own.pop()!r} of its own, which would be overridden: pass it "
            "beside the metric instead"
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


def _name(gaps: GapMetric) -> str:
    which = "classwise" if gaps.of is None else gaps.of.replace("_", "-")
    return f"{which} ECE, {describe(gaps.bins, gaps.binning)}"

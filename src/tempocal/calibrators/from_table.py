"""The passes over a table before a fit, and the details of its summary."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tempocal.calibrators.summary import Summary
from tempocal.calibrators.table_cache import TableCache
from tempocal.calibrators.table_fit_data import TableFitData
from tempocal.calibrators.table_needs import TableNeeds
from tempocal.curves.curve import Curve
from tempocal.curves.grid import warn_of_stray_times
from tempocal.errors import (
    InputError,
    LightWeightsWarning,
    LooksLikeProbabilitiesWarning,
    warn_user,
)
from tempocal.inputs import Groups, require_scale, warn_of_mixed_labels
from tempocal.inputs.logits import MANY_ROWS
from tempocal.inputs.weights import LIGHT_WEIGHT, MIN_ROWS_TO_WARN
from tempocal.links import Array
from tempocal.tables.group_ids import find_groups
from tempocal.tables.labeled_table import LabeledTable
from tempocal.tables.sequence_order import check_table_order
from tempocal.tables.surrogate import build_surrogate
from tempocal.tables.time_keys import TimeKeys, choose_time_keys


def prepare_table_fit(labeled: LabeledTable, needs: TableNeeds, *, exact: bool) -> TableFitData:
    """Count groups, assign folds, choose time keys and build the surrogate rows."""
    _check_labeled(labeled)
    clusters = find_groups(labeled) if labeled.has_groups else None
    if clusters is not None and labeled.unsplit is None:
        warn_of_mixed_labels(clusters.n_mixed, clusters.count)
    order = check_table_order(labeled) if labeled.has_sequences else None
    needs_folds = labeled.n_columns > 1 or needs.curves or needs.folds_for_one_column
    folds = needs.folds if needs_folds else None
    frame = labeled.frame
    if folds is not None:
        if clusters is None:
            raise InputError(
                "groups is missing: what is chosen by cross-validation is so over groups; name the "
                "column of the sequence ids with groups="
            )
        folds = (min(folds[0], clusters.count), folds[1])
        frame = clusters.add_fold(frame, *folds)
    time_keys = _choose_keys(labeled, needs.curves)
    surrogate = build_surrogate(labeled, frame, time_keys, n_folds=1 if folds is None else folds[0])
    return TableFitData(
        raw_logits=surrogate.logits,
        labels=surrogate.labels,
        weights=surrogate.weights,
        groups=None if clusters is None else Groups(np.zeros(0, dtype=np.intp), clusters.count),
        n_classes=len(labeled.classes),
        times=surrogate.finest_keys.times[surrogate.finest_key_of] if needs.curves else None,
        labeled=labeled,
        surrogate=surrogate,
        finest_key_of=surrogate.finest_key_of,
        clusters=clusters,
        exact=exact,
        fold_spec=folds,
        cache=TableCache(labeled, clusters, exact=exact),
        table_order=order,
    )


def _choose_keys(labeled: LabeledTable, curves: tuple[Curve, ...]) -> TimeKeys | None:
    """Choose time keys as fine as the finest of the curves needs."""
    for curve in curves:
        if curve.n_clocks != 1:
            raise InputError(f"tables go along one clock, but {curve!r} goes along two")
    max_times = max((curve.most_times for curve in curves), default=0)
    if max_times == 0:
        return None
    time_keys = choose_time_keys(
        labeled, max_times, allow_cells=all(curve.takes_cells for curve in curves)
    )
    if time_keys.bulk is not None:
        warn_of_stray_times(time_keys.bulk, labeled.total_weight)
    return time_keys


def _check_labeled(labeled: LabeledTable) -> None:
    """Refuse and warn as for arrays."""
    low, high = labeled.min_logits, labeled.max_logits
    require_scale(low.min(), high.max())
    enough_rows = labeled.n_columns == 1 and labeled.n_rows >= MANY_ROWS
    if enough_rows and labeled.inputs == "logits" and 0.0 <= low[0] < 0.5 < high[0] <= 1.0:
        warn_user(
            f"all {labeled.n_rows} logits lie in [0, 1], as probabilities do: if that is what "
            'they are, say inputs="proba"',
            LooksLikeProbabilitiesWarning,
        )
    if labeled.n_rows >= MIN_ROWS_TO_WARN and labeled.total_weight < LIGHT_WEIGHT * labeled.n_rows:
        warn_user(
            f"sample_weight sums to {labeled.total_weight:.3g} over {labeled.n_rows} rows. A "
            "weight is how often a row was seen, so that is all these rows count for",
            LightWeightsWarning,
        )


def with_table_details(
    summary: Summary,
    data: TableFitData,
    fitted: Callable[..., Array],
    coarse: Callable[..., Array] | None,
) -> Summary:
    """Add the number of passes; for an inexact fit also its error, from a coarser fit."""
    details: dict[str, Any] = {"passes": data.labeled.passes.count}
    if coarse is not None:
        inputs = data._inputs(slice(None))
        difference = np.abs(fitted(*inputs) - coarse(*inputs))
        details["may_be_off_by"] = float(difference.max())
    return replace(summary, details={**summary.details, **details})

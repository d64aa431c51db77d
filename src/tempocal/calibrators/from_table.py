"""From a table to what a fit starts from, and what is said of the passes afterwards."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tempocal.calibrators.stray import warn_of_stray_times
from tempocal.calibrators.summary import Summary
from tempocal.calibrators.table_cache import Looks
from tempocal.calibrators.table_fit_data import TableFitData
from tempocal.calibrators.table_needs import Needs
from tempocal.curves import Curve
from tempocal.errors import (
    InputError,
    LightWeightsWarning,
    LooksLikeProbabilitiesWarning,
    MixedLabelsWarning,
    warn_user,
)
from tempocal.inputs import Groups, require_scale
from tempocal.inputs.scores import MANY_ROWS
from tempocal.inputs.weights import FEW, LIGHT
from tempocal.links import Array
from tempocal.tables.group_ids import GroupIds, find_groups
from tempocal.tables.labelled import Labelled
from tempocal.tables.surrogate import find_stand_ins
from tempocal.tables.time_keys import Clock, clock_of

# Where fewer than this share of the groups have rows with different labels, it may be an accident.
FEW_MIXED = 0.1


def table_training(labelled: Labelled, needs: Needs, *, exact: bool) -> TableFitData:
    """Make the passes that come before a fit."""
    _check(labelled)
    clusters = find_groups(labelled) if labelled.has_groups else None
    if clusters is not None:
        _warn_of_mixed(clusters)
    wanted = labelled.n_columns > 1 or needs.curves or needs.of_one_column
    folds = needs.folds if wanted else None
    frame = labelled.frame
    if folds is not None:
        if clusters is None:
            raise InputError(
                "groups is missing: what is chosen by cross-validation is so over groups; name the "
                "column of the sequence ids with groups="
            )
        folds = (min(folds[0], clusters.count), folds[1])
        frame = clusters.folds(frame, *folds)
    clock = _clock(labelled, needs.curves)
    few = find_stand_ins(labelled, frame, clock, n_folds=1 if folds is None else folds[0])
    return TableFitData(
        given=few.logits,
        labels=few.labels,
        weights=few.weights,
        groups=None if clusters is None else Groups(np.zeros(0, dtype=np.intp), clusters.count),
        n_classes=len(labelled.classes),
        times=few.atoms.times[few.atom_of] if needs.curves else None,
        labelled=labelled,
        few=few,
        atom_of=few.atom_of,
        clusters=clusters,
        exact=exact,
        dealt=folds,
        looks=Looks(labelled, clusters, exact=exact),
    )


def _clock(labelled: Labelled, curves: tuple[Curve, ...]) -> Clock | None:
    """Key rows by time as finely as any of the curves goes."""
    for curve in curves:
        if curve.n_clocks != 1:
            raise InputError(f"tables go along one clock, but {curve!r} goes along two")
    most = max((curve.most_times for curve in curves), default=0)
    if most == 0:
        return None
    clock = clock_of(labelled, most, may_be_cells=all(curve.takes_cells for curve in curves))
    if clock.bulk is not None:
        warn_of_stray_times(clock.bulk, labelled.total_weight)
    return clock


def _check(labelled: Labelled) -> None:
    """Refuse and warn as a fit to arrays does."""
    low, high = labelled.lowest, labelled.highest
    require_scale(low.min(), high.max())
    many = labelled.n_columns == 1 and labelled.n_rows >= MANY_ROWS
    if many and labelled.inputs == "logits" and 0.0 <= low[0] < 0.5 < high[0] <= 1.0:
        warn_user(
            f"all {labelled.n_rows} logits lie in [0, 1], as probabilities do: if that is what "
            'they are, say inputs="proba"',
            LooksLikeProbabilitiesWarning,
        )
    if labelled.n_rows >= FEW and labelled.total_weight < LIGHT * labelled.n_rows:
        warn_user(
            f"sample_weight sums to {labelled.total_weight:.3g} over {labelled.n_rows} rows. A "
            "weight is how often a row was seen, so that is all these rows count for",
            LightWeightsWarning,
        )


def _warn_of_mixed(clusters: GroupIds) -> None:
    if 0 < clusters.mixed < FEW_MIXED * clusters.count:
        warn_user(
            f"the label changes within {clusters.mixed} of {clusters.count} groups. If groups are "
            "sequences, each has one outcome: look at those",
            MixedLabelsWarning,
        )


def of_table(
    summary: Summary,
    data: TableFitData,
    fitted: Callable[..., Array],
    rough: Callable[..., Array] | None,
) -> Summary:
    """Say how many passes were made; and how far a fit to counts may be off, by a rougher one."""
    facts: dict[str, Any] = {"passes": data.labelled.passes.count}
    if rough is not None:
        everything = data._inputs(slice(None))
        difference = np.abs(fitted(*everything) - rough(*everything))
        facts["may_be_off_by"] = float(difference.max())
    return replace(summary, details={**summary.details, **facts})

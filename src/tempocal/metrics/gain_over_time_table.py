"""A paired gain over time of predictions in a table, whose rows stay in the table."""

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from tempocal.errors import InputError
from tempocal.inputs import check_seed
from tempocal.metrics.dispatch import require_summable
from tempocal.metrics.gain_over_time import estimate_gain_over_time, require_error
from tempocal.metrics.gain_table import GainOverTime
from tempocal.metrics.jackknife import Metric
from tempocal.metrics.predictions import PairedInputs, check_level, check_paired_inputs
from tempocal.metrics.time_bins import Bins

if TYPE_CHECKING:
    from tempocal.tables.column_names import Names


def gain_over_time_table(
    metric: Metric,
    table: Any,
    *,
    label: str,
    before: "Names",
    after: "Names",
    time: str,
    bins: Bins = 20,
    sequence: str | None = None,
    groups: str | None = None,
    level: float = 0.95,
    sample_weight: str | None = None,
    classes: ArrayLike | None = None,
    inputs: PairedInputs = "proba",
    seed: int = 0,
) -> GainOverTime:
    """Compute what a correction, or another model, gains in each time bin, from a table.

    The same as `gain_over_time` for arrays, but the engine computes the sums. The rows stay in the
    table, so they may be more than memory holds.

    Parameters
    ----------
    metric : callable
        `nll`, `brier`, `ece` or `classwise_ece`, or a ``functools.partial`` of one.
    table, label, time, bins, sequence, groups, level, sample_weight, classes, seed
        As in `over_time_table`. Calibration errors need ``sequence`` or ``groups``.
    before, after : str or list of str
        Columns of either set of predictions: that of the second class, or one for each class.
    inputs : {"proba", "logits"} or pair of them, default="proba"
        What the columns ``before`` and ``after`` hold.

    Returns
    -------
    GainOverTime
        As from `gain_over_time`.

    Examples
    --------
    >>> import polars as pl
    >>> import tempocal as tc
    >>> m = tc.datasets.simulate_match(1000)
    >>> rows = pl.DataFrame(
    ...     {"won": m.label, "z": m.logits, "p": m.true_probability, "t": m.time, "id": m.sequence}
    ... )
    >>> table = tc.metrics.gain_over_time_table(
    ...     tc.metrics.nll,
    ...     rows,
    ...     label="won",
    ...     before="z",
    ...     after="p",
    ...     inputs=("logits", "proba"),
    ...     time="t",
    ...     sequence="id",
    ...     bins=4,
    ... )
    >>> table.effect.tolist()
    ['helps', '', '', '']
    """
    from tempocal.metrics.scored_frame import read_scored_frame, with_after  # noqa: PLC0415
    from tempocal.tables.column_names import as_names  # noqa: PLC0415
    from tempocal.tables.column_roles import ColumnRoles  # noqa: PLC0415

    check_level(level)
    seed = check_seed(seed)
    require_summable(metric)
    require_error(metric)
    old, new = check_paired_inputs(inputs)
    before = as_names(before, "before")
    roles = ColumnRoles.of(
        old,
        logits=before if old == "logits" else None,
        proba=before if old == "proba" else None,
        label=label,
        time=time,
        groups=sequence if groups is None else groups,
        sample_weight=sample_weight,
        sequence=sequence if groups is not None and groups != sequence else None,
    )
    roles = replace(roles, after=as_names(after, "after"))
    try:
        found = read_scored_frame(table, roles, classes)
    except InputError as error:
        # What is read calls the first predictions by what they hold.
        raise InputError(re.sub(rf"^{old}\b", "before", str(error))) from error
    rows = with_after(found, new, roles.after)
    return estimate_gain_over_time(rows.cut(bins), metric, level, seed)

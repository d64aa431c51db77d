"""Random split of a table by group."""

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tempocal.assessment.split_predictions import (
    BY_COLUMN,
    IN_TIME,
    SplitBy,
    require_groups,
    split_by_start,
    split_shares,
)
from tempocal.errors import InputError
from tempocal.sequences import split_by_sequence
from tempocal.tables.column_names import unused_prefix
from tempocal.tables.column_roles import ColumnRoles
from tempocal.tables.group_ids import PRIME, find_groups, modular_hash, with_joinable_ids
from tempocal.tables.labeled_table import LabeledTable, as_label
from tempocal.tables.open_table import Frame
from tempocal.tables.transfer import small_table


@dataclass(frozen=True)
class TableSplit:
    """The rows to fit to and those to evaluate on, with all their columns."""

    training: Frame
    held_out: Frame
    n_groups: int
    how: str


def split_table(roles: ColumnRoles, labeled: LabeledTable, by: SplitBy, seed: int) -> TableSplit:
    """Split at random, in time or by a column, with all rows of a group on the same side.

    Up to about a million groups, and ids that are not integers, are split as arrays are; more
    integer ids by a modular hash.
    """
    assert roles.groups is not None
    groups = find_groups(labeled)
    n_rows = labeled.n_given_rows
    shares = split_shares(n_rows, groups.count, grouped=True)
    frame = labeled.table
    schema = frame.collect_schema()
    at_random = by.in_time is None and by.column is None
    if not groups.are_listed and groups.are_integers and at_random:
        is_fitted = modular_hash(nw.col(roles.groups), PRIME, seed) < int(shares[0] * PRIME)
        training, held_out = frame.filter(is_fitted), frame.filter(~is_fitted)
        return TableSplit(training, held_out, groups.count, "at random")
    key = f"{unused_prefix(list(schema))}_group"
    keyed = frame.with_columns(**{key: as_label(roles.groups, schema[roles.groups], "groups")})
    keyed = with_joinable_ids(keyed, key)
    if by.in_time is not None:
        ids, how = _first_ids(labeled, keyed, key, by.in_time, shares), IN_TIME
    elif by.column is not None:
        ids, how = _unmarked_ids(labeled, keyed, key, by.column), BY_COLUMN
    else:
        fitted, _ = split_by_sequence(np.arange(groups.count), shares, seed=seed)
        ids, how = groups.ids[fitted], "at random"
    small = small_table(keyed, {key: ids})
    parts = [
        keyed.join(small, on=[key], how=how).select(*schema)  # type: ignore[arg-type]
        for how in ("semi", "anti")
    ]
    return TableSplit(parts[0], parts[1], groups.count, how)


def _first_ids(
    labeled: LabeledTable, keyed: Frame, key: str, column: str, shares: tuple[float, float]
) -> NDArray[Any]:
    """Return the groups that began first."""
    start = nw.col(_require_column(keyed, column, "split_in_time"))
    kind = keyed.collect_schema()[column]
    if kind == nw.Date:
        start = start.cast(nw.Datetime("us"))
    if kind in (nw.Date, nw.Datetime):
        start = start.dt.timestamp("us")
    elif not kind.is_numeric():
        raise InputError(
            f"split_in_time must be a column of numbers or dates, but {column!r} is {kind}"
        )
    starts = keyed.group_by(key).agg(start.cast(nw.Float64).min().alias("start"))
    found = labeled.passes.collect(starts, "looking for the first groups")
    order = np.argsort(found[key], kind="stable")
    ids = found[key][order]
    return ids[split_by_start(found["start"][order], ids, shares)[0]]


def _unmarked_ids(labeled: LabeledTable, keyed: Frame, key: str, column: str) -> NDArray[Any]:
    """Return the groups whose rows are not marked as those to evaluate on."""
    name = _require_column(keyed, column, "split_column")
    kind = keyed.collect_schema()[name]
    if not (kind.is_numeric() or kind == nw.Boolean):
        raise InputError(f"split_column must be a column of true and false, but {name!r} is {kind}")
    mark = nw.col(name).cast(nw.Float64)
    marks = keyed.group_by(key).agg(mark.min().alias("low"), mark.max().alias("high"))
    found = labeled.passes.collect(marks, "reading the split")
    low, high = found["low"], found["high"]
    if not (np.isin(low, (0.0, 1.0)) & np.isin(high, (0.0, 1.0))).all():
        raise InputError(f"split_column must be true or false, but {name!r} holds other values")
    if (low != high).any():
        raise InputError(
            "split_column must be the same in all rows of a group: what is fitted to would "
            "otherwise be seen again"
        )
    require_groups(int((high == 0.0).sum()), int((low == 1.0).sum()), "group")
    return np.sort(found[key][high == 0.0])


def _require_column(frame: Frame, name: str, argument: str) -> str:
    names = list(frame.collect_schema())
    if name not in names:
        raise InputError(f"{argument} names {name!r}, which is no column of the table")
    return name

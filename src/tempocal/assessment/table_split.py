"""Random split of a table by group."""

from dataclasses import dataclass

import narwhals as nw
import numpy as np

from tempocal.assessment.split_predictions import split_shares
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


def split_table(roles: ColumnRoles, labeled: LabeledTable, seed: int) -> TableSplit:
    """Split at random, with all rows of a group on the same side.

    Up to about a million groups, and ids that are not integers, are split as arrays are; more
    integer ids by a modular hash.
    """
    assert roles.groups is not None
    groups = find_groups(labeled)
    n_rows = labeled.n_given_rows
    shares = split_shares(n_rows, groups.count, grouped=True)
    frame = labeled.table
    schema = frame.collect_schema()
    if not groups.are_listed and groups.are_integers:
        is_fitted = modular_hash(nw.col(roles.groups), PRIME, seed) < int(shares[0] * PRIME)
        return TableSplit(frame.filter(is_fitted), frame.filter(~is_fitted), groups.count)
    fitted, _ = split_by_sequence(np.arange(groups.count), shares, seed=seed)
    key = f"{unused_prefix(list(schema))}_group"
    keyed = frame.with_columns(**{key: as_label(roles.groups, schema[roles.groups], "groups")})
    keyed = with_joinable_ids(keyed, key)
    small = small_table(keyed, {key: groups.ids[fitted]})
    parts = [
        keyed.join(small, on=[key], how=how).select(*schema)  # type: ignore[arg-type]
        for how in ("semi", "anti")
    ]
    return TableSplit(parts[0], parts[1], groups.count)

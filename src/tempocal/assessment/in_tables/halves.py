"""A table in two parts, by the groups of its rows."""

from dataclasses import dataclass

import narwhals as nw
import numpy as np

from tempocal.assessment.split_predictions import shares_of_parts
from tempocal.sequences import split_by_sequence
from tempocal.tables.column_roles import Asked
from tempocal.tables.group_ids import PRIME, find_groups, spread, with_keys
from tempocal.tables.labelled import Labelled, as_label
from tempocal.tables.open_table import Frame
from tempocal.tables.output_names import free_prefix
from tempocal.tables.transfer import like


@dataclass(frozen=True)
class Halves:
    """The rows to fit to, and those to judge on, with all their columns."""

    to_fit: Frame
    to_judge: Frame
    n_groups: int


def split_table(asked: Asked, labelled: Labelled, seed: int) -> Halves:
    """Split at random, all rows of a group on the same side.

    Up to about a million groups, and those that are not whole numbers, are split as those of
    arrays are; others by modular arithmetic.
    """
    assert asked.groups is not None
    groups = find_groups(labelled)
    n_rows = int(labelled.counts.sum())
    shares = shares_of_parts(n_rows, groups.count, grouped=True)
    frame = labelled.table
    schema = frame.collect_schema()
    if not groups.are_dealt and groups.are_whole:
        is_fitted = spread(nw.col(asked.groups), PRIME, seed) < int(shares[0] * PRIME)
        return Halves(frame.filter(is_fitted), frame.filter(~is_fitted), groups.count)
    fitted, _ = split_by_sequence(np.arange(groups.count), shares, seed=seed)
    key = f"{free_prefix(list(schema))}_group"
    keyed = frame.with_columns(**{key: as_label(asked.groups, schema[asked.groups], "groups")})
    keyed = with_keys(keyed, key)
    small = like(keyed, {key: groups.ids[fitted]})
    parts = [
        keyed.join(small, on=[key], how=how).select(*schema)  # type: ignore[arg-type]
        for how in ("semi", "anti")
    ]
    return Halves(parts[0], parts[1], groups.count)

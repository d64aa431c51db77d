"""Counting the sequences of a table, none of which may be split by its groups."""

import narwhals as nw

from tempocal.errors import InputError
from tempocal.tables.labeled_table import LabeledTable


def count_sequences(labeled: LabeledTable) -> int:
    """Count the sequences, and refuse those with rows of several groups."""
    min_max = (nw.col("group").min().alias("min_group"), nw.col("group").max().alias("max_group"))
    is_split = (
        nw.when(nw.col("min_group") != nw.col("max_group")).then(nw.lit(1)).otherwise(nw.lit(0))
    )
    frame = labeled.frame.select("sequence", "group").group_by("sequence").agg(*min_max)
    frame = frame.with_columns(is_split=is_split, n_sequences=nw.lit(1))
    sums = frame.select(nw.col("n_sequences").sum(), nw.col("is_split").sum())
    found = labeled.passes.collect(sums, "counting the sequences")
    require_whole(int(found["is_split"][0]))
    return int(found["n_sequences"][0])


def require_whole(n_split: int) -> None:
    """Refuse sequences with rows of several groups."""
    if n_split:
        raise InputError(
            "groups must be the same in all rows of a sequence, but differ within "
            f"{n_split} of them: a group holds whole sequences"
        )

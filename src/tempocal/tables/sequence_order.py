"""The sequences of a table: whether their rows have an order, and how long they are."""

from dataclasses import dataclass

import narwhals as nw

from tempocal.errors import InputError
from tempocal.inputs.sequence_order import PASS_ORDER, tied_message
from tempocal.tables.first_pass import LARGEST_INTEGER
from tempocal.tables.labeled_table import LabeledTable
from tempocal.tables.narwhals_engine import one_if
from tempocal.tables.open_table import Frame
from tempocal.tables.sequence_counts import require_whole


@dataclass(frozen=True)
class TableSequenceOrder:
    """What a pass found of the sequences of a table.

    Attributes
    ----------
    n_sequences : int
        Number of sequences.
    mean_length : float
        Rows of a sequence, on average.
    longest : int
        Most rows of a sequence.
    mixed : str or None
        Id of a sequence whose labels differ, if there is one.
    """

    n_sequences: int
    mean_length: float
    longest: int
    mixed: str | None


def check_table_order(labeled: LabeledTable) -> TableSequenceOrder:
    """Refuse sequences without an order or in several groups; see which labels differ."""
    sequences = _by_sequence(labeled)
    names = ["n_rows", "n_sequences", "is_tied", "is_mixed", "is_split"]
    sums = [nw.col(name).sum() for name in names]
    longest = nw.col("n_rows").max().alias("longest")
    found = labeled.passes.collect(sequences.select(*sums, longest), "looking at the sequences")
    require_whole(int(found["is_split"][0]))
    if found["is_tied"][0]:
        _require_exact_places(labeled)
        which = _first(labeled, sequences, "is_tied")
        raise InputError(tied_message(labeled.order, which, "", PASS_ORDER))
    n_sequences = int(found["n_sequences"][0])
    return TableSequenceOrder(
        n_sequences,
        float(found["n_rows"][0]) / n_sequences,
        int(found["longest"][0]),
        _first(labeled, sequences, "is_mixed") if found["is_mixed"][0] else None,
    )


def is_in_order(labeled: LabeledTable) -> bool:
    """Whether the order differs between the rows of each sequence, for fits that need none."""
    tied = _by_sequence(labeled).select(nw.col("is_tied").sum())
    return not labeled.passes.collect(tied, "looking at the order")["is_tied"][0]


def _require_exact_places(labeled: LabeledTable) -> None:
    """Refuse whole numbers that a double does not represent, which may seem to be ties."""
    if labeled.frame.collect_schema()[labeled.order].is_integer():
        return
    places = labeled.frame.select(largest=nw.col(labeled.order).abs().max())
    largest = float(labeled.passes.collect(places, "looking at the order")["largest"][0])
    if largest > LARGEST_INTEGER:
        raise InputError(
            f"{labeled.order} goes up to {largest:.6g}, where whole numbers lose digits: subtract "
            "the first one"
        )


def _by_sequence(labeled: LabeledTable) -> Frame:
    """Return a row for each sequence: its rows, and what is wrong with it."""
    labels = ["label"]
    if labeled.unsplit is not None:
        labels = [f"y{k}" for k in range(1, len(labeled.classes))]
    frame = labeled.given_rows.select(
        "sequence", "group", *labels, place=nw.col(labeled.order), n_rows=nw.lit(1)
    )
    ranges = []
    for name in (*labels, "group"):
        ranges += [
            nw.col(name).min().alias(f"min_{name}"),
            nw.col(name).max().alias(f"max_{name}"),
        ]
    places = nw.col("place").n_unique().alias("n_places")
    return (
        frame.group_by("sequence")
        .agg(nw.col("n_rows").sum(), places, *ranges)
        .with_columns(
            n_sequences=nw.lit(1),
            is_tied=one_if(nw.col("n_places") < nw.col("n_rows")),
            is_mixed=one_if(
                nw.any_horizontal(
                    *(nw.col(f"min_{name}") != nw.col(f"max_{name}") for name in labels),
                    ignore_nulls=False,
                )
            ),
            is_split=one_if(nw.col("min_group") != nw.col("max_group")),
        )
    )


def _first(labeled: LabeledTable, sequences: Frame, flag: str) -> str:
    """Return the first id of a sequence with a flag."""
    flagged = sequences.filter(nw.col(flag) > 0).select(nw.col("sequence").min())
    return str(labeled.passes.collect(flagged, "looking for a sequence")["sequence"][0])

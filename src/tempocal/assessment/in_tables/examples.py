"""A few sequences of a table, the only rows of it that are brought here."""

from math import ceil

import narwhals as nw
import numpy as np

from tempocal.assessment.examples import Example, choose_sequences, make_example
from tempocal.assessment.split_predictions import PastPredictions
from tempocal.inputs import from_seconds
from tempocal.tables.group_ids import MAX_LISTED, modular_hash, with_joinable_ids
from tempocal.tables.labeled_table import LabeledTable
from tempocal.tables.open_table import Frame
from tempocal.tables.transfer import Columns, join


def pick_examples(
    rows: LabeledTable, frame: Frame, prefixes: dict[str, str], seed: int
) -> tuple[Example, ...]:
    """Pick sequences at random, each label in turn.

    Parameters
    ----------
    rows : LabeledTable
        What is known of the rows.
    frame : Frame
        The rows, with a ``sequence`` and the probabilities of each method.
    prefixes : dict of str
        What the names of the columns of each method begin with.
    seed : int
        Seed of the choice.
    """
    found = _sequences(rows)
    # A label that changes within a sequence is not known before its rows are here.
    chosen = choose_sequences(found["one"], found["label"], seed)
    if not chosen:
        return ()
    ids = found["sequence"][chosen]
    names = [f"{prefix}{k}" for prefix in prefixes.values() for k in range(len(rows.classes))]
    few = join(with_joinable_ids(frame, "sequence"), {"sequence": ids}, on=["sequence"]).select(
        "sequence", "label", "time", *names
    )
    own = rows.passes.collect(few, "fetching examples")
    assert rows.time_kind is not None
    time = from_seconds(own["time"], rows.time_kind)
    label = rows.classes[own["label"].astype(np.intp)]
    past = PastPredictions(label, label, time, own["sequence"], own["sequence"], None)
    proba = {
        name: np.stack([own[f"{prefix}{k}"] for k in range(len(rows.classes))], axis=1)
        for name, prefix in prefixes.items()
    }
    parts = [np.flatnonzero(own["sequence"] == one) for one in ids]
    ordered = [part[np.argsort(own["time"][part], kind="stable")] for part in parts]
    return tuple(make_example(part, past, proba, rows.classes) for part in ordered)


def _sequences(rows: LabeledTable) -> Columns:
    """Length and label of each sequence, in order of their ids; of very many, of some of them."""
    frame = with_joinable_ids(rows.frame.select("sequence", "label", one=nw.lit(1)), "sequence")
    parts = ceil(rows.n_rows / (4 * MAX_LISTED))
    if parts > 1 and frame.collect_schema()["sequence"].is_integer():
        frame = frame.filter(modular_hash(nw.col("sequence"), parts, seed=1) == 0)
    summed = frame.group_by("sequence").agg(nw.col("one").sum(), nw.col("label").max())
    found = rows.passes.collect(summed.head(MAX_LISTED), "looking for examples")
    order = np.argsort(found["sequence"], kind="stable")
    return {name: column[order] for name, column in found.items()}

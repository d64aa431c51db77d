"""Example sequences of a table: the only rows that are collected."""

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
    """Pick random sequences, alternating between labels.

    Parameters
    ----------
    rows : LabeledTable
        The labeled rows.
    frame : Frame
        The rows, with a ``sequence`` and the probabilities of each method.
    prefixes : dict of str
        Start of the column names of each method.
    seed : int
        Random seed.
    """
    found = _sequences(rows)
    # Whether the label changes within a sequence is not known before its rows are collected.
    chosen = choose_sequences(found["n_rows"], found["label"], seed)
    if not chosen:
        return ()
    ids = found["sequence"][chosen]
    names = [f"{prefix}{k}" for prefix in prefixes.values() for k in range(len(rows.classes))]
    soft = [] if rows.unsplit is None else [f"y{k}" for k in range(len(rows.classes))]
    chosen_rows = join(
        with_joinable_ids(frame, "sequence"), {"sequence": ids}, on=["sequence"]
    ).select("sequence", "label", "time", *names, *soft)
    found = rows.passes.collect(chosen_rows, "fetching examples")
    assert rows.time_kind is not None
    time = from_seconds(found["time"], rows.time_kind)
    if soft:
        label = np.stack([found[name] for name in soft], axis=1)
    else:
        label = rows.classes[found["label"].astype(np.intp)]
    predictions = PastPredictions(label, label, time, found["sequence"], found["sequence"], None)
    proba = {
        name: np.stack([found[f"{prefix}{k}"] for k in range(len(rows.classes))], axis=1)
        for name, prefix in prefixes.items()
    }
    parts = [np.flatnonzero(found["sequence"] == one) for one in ids]
    ordered = [part[np.argsort(found["time"][part], kind="stable")] for part in parts]
    return tuple(make_example(part, predictions, proba, rows.classes) for part in ordered)


def _sequences(rows: LabeledTable) -> Columns:
    """Length and label of each sequence, sorted by id; with very many, of a subset."""
    frame = with_joinable_ids(
        rows.given_rows.select("sequence", "label", n_rows=nw.lit(1)), "sequence"
    )
    parts = ceil(rows.n_rows / (4 * MAX_LISTED))
    if parts > 1 and frame.collect_schema()["sequence"].is_integer():
        frame = frame.filter(modular_hash(nw.col("sequence"), parts, seed=1) == 0)
    summed = frame.group_by("sequence").agg(nw.col("n_rows").sum(), nw.col("label").max())
    found = rows.passes.collect(summed.head(MAX_LISTED), "looking for examples")
    order = np.argsort(found["sequence"], kind="stable")
    return {name: column[order] for name, column in found.items()}

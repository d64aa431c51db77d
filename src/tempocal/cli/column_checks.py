"""What is most often wrong with the columns of a file, each in a sentence with the flag to try."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.files import Ids
from tempocal.inputs import Inputs
from tempocal.links import Array

# Share of the whole range of time that sequences would cover if time were their own progress.
SMALL_PART = 0.1
# Fewer groups than this are worth a note.
FEW = 20
_WORDS = {"true": True, "false": False, "1": True, "0": False}


def check_scale(scores: Array, inputs: Inputs, names: str) -> None:
    """Refuse probabilities that were named logits, and logits that were named probabilities."""
    outside = (scores < 0.0) | (scores > 1.0)
    if inputs == "logits" and not outside.any():
        raise InputError(scale_text(names))
    if inputs == "proba" and outside.any():
        place = tuple(np.argwhere(outside)[0])
        raise InputError(
            f"--proba {names}: probabilities must lie in [0, 1], but row {place[0] + 1} has "
            f"{scores[place]:g}. If these are logits, say --logits {names}; percentages must be "
            "divided by 100"
        )


def scale_text(names: str) -> str:
    """Say that logits look like probabilities."""
    return (
        f"--logits {names}: all values lie in [0, 1], as probabilities do. If that is what "
        f"they are, say --proba {names}; if not, say --really-logits"
    )


def check_classes(text: str | None, labels: NDArray[Any], n_columns: int) -> list[Any] | None:
    """Return the classes that were listed, of the type that the labels have."""
    if text is None:
        return None
    words, wanted = [word.strip() for word in text.split(",")], max(n_columns, 2)
    if len(words) != wanted:
        raise InputError(
            f"--classes {text} lists {len(words)}, but {n_columns} "
            f"column{'s' if n_columns > 1 else ''} of predictions stand for {wanted} classes"
        )
    try:
        return [_read(word, labels.dtype.kind) for word in words]
    except (KeyError, ValueError) as error:
        raise InputError(
            f"--classes {text}: the labels are {_kind(labels)}, such as {labels[0]!s}"
        ) from error


def check_label(
    labels: NDArray[Any], classes: list[Any] | None, name: str, n_classes: int, n_columns: int
) -> None:
    """Refuse labels that do not go with the predictions."""
    found = np.unique(labels).tolist()
    shown = ", ".join(map(str, found[:5])) + ", ..." * (len(found) > 5)
    if classes is not None:
        strange = [one for one in found if one not in classes]
        if strange:
            raise InputError(f"--label {name} holds {strange[0]!r}, which --classes does not list")
    elif len(found) == 1:
        raise InputError(
            f"--label {name} holds one class only, {shown}: nothing can be learned from that; "
            "or say what the classes are with --classes"
        )
    elif len(found) > n_classes:
        raise InputError(
            f"--label {name} holds {len(found)} classes ({shown}), but {n_columns} "
            f"column{'s' if n_columns > 1 else ''} of predictions stand for {n_classes}: name a "
            "column for each class, such as --logits z_a,z_b,z_c"
        )
    elif len(found) < n_classes:
        raise InputError(
            f"--label {name} holds {len(found)} classes ({shown}), but there are {n_columns} "
            "columns of predictions: say which class each stands for with --classes"
        )


def check_nesting(sequence: Ids, values: NDArray[Any], what: str, flag: str | None) -> None:
    """Refuse a sequence in which something changes that must not."""
    first = np.zeros(len(sequence.values), dtype=np.intp)
    # Backwards, so that the first row of each sequence is what remains.
    first[sequence.codes[::-1]] = np.arange(len(values))[::-1]
    changed = values != values[first[sequence.codes]]
    if changed.any():
        row = int(np.argmax(changed))
        which = sequence.values[sequence.codes[row]]
        raise InputError(nesting_text(what, f"{which}, in row {row + 1}", flag))


def nesting_text(what: str, where: str, flag: str | None) -> str:
    """Say that something changes within a sequence, and what can be done."""
    allowed = f". If that is meant, say {flag}" if flag else ": a group holds whole sequences"
    return f"{what} changes within sequence {where}{allowed}"


def note_on_dates(time: NDArray[Any], sequence: Ids, name: str) -> str | None:
    """Return a note where times are dates of which every sequence covers but a little."""
    if time.dtype.kind != "M":
        return None
    ticks = time.astype("M8[us]").astype(np.int64).astype(np.float64)
    first = np.full(len(sequence.values), np.inf)
    last = -first
    np.minimum.at(first, sequence.codes, ticks)
    np.maximum.at(last, sequence.codes, ticks)
    if np.median(last - first) > SMALL_PART * (ticks.max() - ticks.min()):
        return None
    return dates_note(name)


def dates_note(name: str) -> str:
    """Return the note on dates of which a sequence covers but a little."""
    return (
        f"Note: --time {name} holds dates, and a sequence covers little of their range, so that "
        "time is the calendar here. If what matters is how far a sequence has come, name a column "
        "of the time since its start."
    )


def note_on_few(count: int | None) -> str | None:
    """Return a note where there are too few sequences to tell anything apart."""
    if count is None or count >= FEW:
        return None
    return (
        f"Note: with only {count} independent sequences or groups, hardly anything can be told "
        "from chance."
    )


def _read(word: str, kind: str) -> Any:
    if kind == "b":
        return _WORDS[word.lower()]
    return int(word) if kind in "iu" else float(word) if kind == "f" else word


def _kind(labels: NDArray[Any]) -> str:
    return "true or false" if labels.dtype.kind == "b" else "numbers"

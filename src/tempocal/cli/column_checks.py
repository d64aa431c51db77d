"""Checks for common mistakes in columns; each error message names the flag to try."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.files import Ids
from tempocal.inputs import Inputs
from tempocal.inputs.class_order import classes_in_names
from tempocal.links import Array

# If the median sequence covers less than this share of the range of dates, time is the calendar.
SMALL_RANGE_SHARE = 0.1
FEW_CLUSTERS = 20
_BOOLEANS = {"true": True, "false": False, "1": True, "0": False}


def check_scale(predictions: Array, inputs: Inputs, names: str) -> None:
    """Refuse probabilities passed as logits, and logits passed as probabilities."""
    outside = (predictions < 0.0) | (predictions > 1.0)
    if inputs == "logits" and not outside.any():
        raise InputError(scale_message(names))
    if inputs == "proba" and outside.any():
        index = tuple(np.argwhere(outside)[0])
        raise InputError(
            f"--proba {names}: probabilities must lie in [0, 1], but row {index[0] + 1} has "
            f"{predictions[index]:g}. If these are logits, say --logits {names}; percentages must "
            "be divided by 100"
        )


def scale_message(names: str) -> str:
    """Return the error message for logits that look like probabilities."""
    return (
        f"--logits {names}: all values lie in [0, 1], as probabilities do. If that is what "
        f"they are, say --proba {names}; if not, say --really-logits"
    )


def check_classes(text: str | None, labels: NDArray[Any], n_columns: int) -> list[Any] | None:
    """Return the listed classes, with the type of the labels."""
    if text is None:
        return None
    words, wanted = [word.strip() for word in text.split(",")], max(n_columns, 2)
    if len(words) != wanted:
        raise InputError(
            f"--classes {text} lists {len(words)}, but {n_columns} "
            f"column{'s' if n_columns > 1 else ''} of predictions stand for {wanted} classes"
        )
    try:
        return [_parse(word, labels.dtype.kind) for word in words]
    except (KeyError, ValueError) as error:
        raise InputError(
            f"--classes {text}: the labels are {_kind(labels)}, such as {labels[0]!s}"
        ) from error


def check_soft_classes(text: str | None, n_columns: int) -> list[Any] | None:
    """Return the classes listed for soft labels: integers if all of them are, else text."""
    try:
        return check_classes(text, np.zeros(1, dtype=np.intp), n_columns)
    except InputError:
        return check_classes(text, np.zeros(1, dtype=np.str_), n_columns)


def check_label(
    labels: NDArray[Any], classes: list[Any] | None, name: str, n_classes: int, n_columns: int
) -> None:
    """Refuse labels that do not match the columns of predictions."""
    found = np.unique(labels).tolist()
    shown = ", ".join(map(str, found[:5])) + ", ..." * (len(found) > 5)
    if len(found) > n_classes and _are_probabilities(found):
        raise InputError(
            f"--label {name} holds {shown}, which are no classes: if they are probabilities, "
            "say --soft-label"
        )
    if classes is not None:
        unknown = [one for one in found if one not in classes]
        if unknown:
            raise InputError(f"--label {name} holds {unknown[0]!r}, which --classes does not list")
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


def _are_probabilities(labels: list[Any]) -> bool:
    """Whether labels, perhaps as text, are numbers from 0 to 1."""
    try:
        return all(0.0 <= float(one) <= 1.0 for one in labels)
    except (TypeError, ValueError):
        return False


def require_order(names: list[str], classes: NDArray[Any], role: str) -> None:
    """Refuse columns whose names say that they are in another order than the classes."""
    found = classes_in_names(names, classes.tolist())
    if found is not None and found != classes.tolist():
        in_order = [names[found.index(one)] for one in classes.tolist()]
        raise InputError(
            f"--{role} {','.join(names)} is in another order than the classes, which are "
            f"{', '.join(map(str, classes.tolist()))}: say --{role} {','.join(in_order)}"
        )


def check_nesting(sequence: Ids, values: NDArray[Any], what: str, flag: str | None) -> None:
    """Refuse sequences within which the values change."""
    first = np.zeros(len(sequence.values), dtype=np.intp)
    # Backwards, so that the first row of each sequence is assigned last.
    first[sequence.codes[::-1]] = np.arange(len(values))[::-1]
    changed = values != values[first[sequence.codes]]
    changed = changed.any(axis=1) if values.ndim == 2 else changed
    if changed.any():
        row = int(np.argmax(changed))
        which = sequence.values[sequence.codes[row]]
        raise InputError(nesting_message(what, f"{which}, in row {row + 1}", flag))


def nesting_message(what: str, where: str, flag: str | None) -> str:
    """Return the error message for values that change within a sequence."""
    allowed = f". If that is meant, say {flag}" if flag else ": a group holds whole sequences"
    return f"{what} changes within sequence {where}{allowed}"


def calendar_note(time: NDArray[Any], sequence: Ids, name: str) -> str | None:
    """Return a note if times are dates and sequences cover little of their range."""
    if time.dtype.kind != "M":
        return None
    ticks = time.astype("M8[us]").astype(np.int64).astype(np.float64)
    first = np.full(len(sequence.values), np.inf)
    last = -first
    np.minimum.at(first, sequence.codes, ticks)
    np.maximum.at(last, sequence.codes, ticks)
    if np.median(last - first) > SMALL_RANGE_SHARE * (ticks.max() - ticks.min()):
        return None
    return calendar_note_text(name)


def calendar_note_text(name: str) -> str:
    """Return the note on dates of which a sequence covers little."""
    return (
        f"Note: --time {name} holds dates, and a sequence covers little of their range, so that "
        "time is the calendar here. If what matters is how far a sequence has come, name a column "
        "of the time since its start."
    )


def few_clusters_note(count: int | None) -> str | None:
    """Return a note if there are too few independent clusters."""
    if count is None or count >= FEW_CLUSTERS:
        return None
    return (
        f"Note: with only {count} independent sequences or groups, hardly anything can be told "
        "from chance."
    )


def _parse(word: str, kind: str) -> Any:
    if kind == "b":
        return _BOOLEANS[word.lower()]
    return int(word) if kind in "iu" else float(word) if kind == "f" else word


def _kind(labels: NDArray[Any]) -> str:
    return "true or false" if labels.dtype.kind == "b" else "numbers"

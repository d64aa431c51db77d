"""Names of the columns that a model reads and of those that are added."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tempocal.errors import InputError
from tempocal.inputs import require_names_in_order
from tempocal.predictor import Predictor

# One column or several, by name.
Names = str | Sequence[str]


@dataclass(frozen=True)
class InputColumns:
    """Names of the columns that a model reads."""

    predictions: tuple[str, ...]
    times: tuple[str, ...]


@dataclass(frozen=True)
class FileColumns:
    """Roles of the columns of a file, from which their types follow.

    Attributes
    ----------
    numbers, times : tuple of str
        Columns that must hold numbers, and times.
    label : str or None
        Column of the labels.
    only : tuple of str or None
        All columns that will be used: those not named above are ids. None passes all columns on.
    """

    numbers: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    label: str | None = None
    only: tuple[str, ...] | None = None


def quoted(name: str) -> str:
    """Quote an identifier for DuckDB."""
    return '"' + name.replace('"', '""') + '"'


def input_columns(
    model: Predictor, logits: Names | None, proba: Names | None, time: Names | None
) -> InputColumns:
    """Check column names against the inputs that the model was fitted to."""
    given, other = (logits, proba) if model.inputs == "logits" else (proba, logits)
    if given is None or other is not None:
        raise InputError(
            f"the model was fitted to {model.inputs}: name the columns that hold them, and only "
            f"them, with {model.inputs}="
        )
    predictions = as_names(given, model.inputs)
    times = () if time is None else as_names(time, "time")
    _require_count(predictions, model.columns, model.inputs)
    require_names_in_order(predictions, model.classes, model.inputs)
    if time is None and model.time_kinds:
        raise InputError(
            "time is missing: the model changes along time, name the column with time="
        )
    if time is not None and not model.time_kinds:
        raise InputError("the model does not change along time: leave time out")
    _require_count(times, len(model.time_kinds), "time")
    return InputColumns(predictions, times)


def added_columns(model: Predictor, prefix: str) -> dict[str, int]:
    """Return the name of each added column and the index of its class.

    Examples
    --------
    >>> import numpy as np
    >>> from tempocal.maps import Scale
    >>> model = Predictor("Identity", np.array(["a", "b", "c"]), "logits", 3, Scale(1.0))
    >>> added_columns(model, "calibrated")
    {'calibrated_a': 0, 'calibrated_b': 1, 'calibrated_c': 2}
    """
    if not isinstance(prefix, str) or not prefix:
        raise InputError(f"prefix must be a name, but it is {prefix!r}")
    if len(model.classes) == 2:
        return {prefix: 1}
    return {f"{prefix}_{label}": k for k, label in enumerate(model.classes.tolist())}


def as_names(given: Any, what: str) -> tuple[str, ...]:
    """Return one or several distinct names as a tuple."""
    names = tuple(given) if isinstance(given, list | tuple) else (given,)
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError(f"{what} must be the name of a column, or a list of names, not {given!r}")
    if len(set(names)) < len(names):
        raise InputError(f"{what} names a column twice: {list(names)}")
    return names


def unused_prefix(taken: Sequence[str]) -> str:
    """Return a prefix that no column name starts with; some engines ignore case."""
    prefix = "tempocal"
    while any(name.lower().startswith(prefix) for name in taken):
        prefix += "_"
    return prefix


def _require_count(names: tuple[str, ...], count: int, what: str) -> None:
    if len(names) != count:
        raise InputError(
            f"the model was fitted to {count} column{'s' * (count != 1)} of {what}, but "
            f"{what}= names {len(names)}: {list(names)}"
        )

"""The entries of a model document, one by one; those that are not what they must be are refused."""

from collections.abc import Mapping
from dataclasses import dataclass
from reprlib import repr as shown
from typing import Any, get_args

from tempocal.errors import DamagedModelFileError
from tempocal.inputs import Inputs, TimeKind

KEYS = {
    "calibrator",
    "written_by",
    "parameters",
    "classes",
    "columns",
    "column_names",
    "map",
    "summary",
}
# There only in files of calibrators that learn from parts.
LEARNED = "learned"
KEYS_ALONG_TIME = KEYS | {"bands", "time_kinds"}
KEYS_OF_CHOICE = {"calibrator", "written_by", "parameters", "best", "comparison"}

# A column by position or by name, or two of them.
TimeColumn = int | str | tuple[int, int] | tuple[str, str]


@dataclass(frozen=True)
class Columns:
    """How many columns X had, and their names if they had any."""

    count: int
    names: list[str]


def require_keys(content: Any, keys: set[str]) -> None:
    """Refuse a part of a document that has other entries than these."""
    if not isinstance(content, Mapping) or set(content) - {LEARNED} != keys:
        found = sorted(content) if isinstance(content, Mapping) else shown(content)
        raise DamagedModelFileError(f"the model needs {sorted(keys)}, but the file has {found}")


def columns_from(content: Mapping[str, Any]) -> Columns:
    """Return the columns that a model was fitted to."""
    columns, names = content["columns"], content["column_names"]
    if type(columns) is not int or columns < 1:
        raise DamagedModelFileError(f"the number of columns is {columns!r:.80}")
    is_text = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not is_text or len(names) not in (0, columns):
        raise DamagedModelFileError(f"the names of the {columns} columns are {names!r:.80}")
    return Columns(columns, names)


def inputs_from(value: Any) -> Inputs:
    """Return what the predictions are, logits or probabilities."""
    if value not in ("logits", "proba"):
        raise DamagedModelFileError(f"the model's inputs are {value!r:.80}")
    inputs: Inputs = value
    return inputs


def time_column_from(value: Any) -> TimeColumn | None:
    """Return which column of X, or which two, held the time."""
    columns = value if isinstance(value, list) else [value]
    known = len(columns) in (1, 2) and all(type(column) in (int, str) for column in columns)
    if value is not None and not known:
        raise DamagedModelFileError(f"time_column is {value!r:.80}")
    read: TimeColumn | None = tuple(value) if isinstance(value, list) else value
    return read


def time_kinds_from(value: Any) -> tuple[TimeKind, ...]:
    """Return the kind of each clock, one or two."""
    kinds = list_from(value, "time_kinds")
    if len(kinds) not in (1, 2) or not all(kind in get_args(TimeKind) for kind in kinds):
        raise DamagedModelFileError(f"time_kinds are {value!r:.80}")
    return tuple(kinds)


def list_from(value: Any, name: str) -> list[Any]:
    """Return a list as it is."""
    if not isinstance(value, list):
        raise DamagedModelFileError(f"{name} must be a list, not {value!r:.80}")
    return value

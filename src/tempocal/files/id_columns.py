"""Columns of ids and labels as arrays; different ids never become equal."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tempocal.files.column_problems import ColumnError
from tempocal.files.convert import LARGEST_EXACT, as_numbers, is_text, not_a_number, present, wrong
from tempocal.files.csv_types import can_cast
from tempocal.inputs import text_array
from tempocal.inputs.text_patterns import SIGNED_INTEGER


@dataclass(frozen=True)
class Ids:
    """Ids of rows as codes: indices into the sorted distinct values."""

    codes: NDArray[np.int64]
    values: NDArray[Any]

    def ids(self) -> NDArray[Any]:
        """Return the id of each row."""
        return np.asarray(self.values[self.codes])


def as_labels(column: Any, name: str) -> NDArray[Any]:
    """Return labels: integers, floats, booleans or text."""
    column = present(column, name, 1)
    if is_text(column):
        if pc.any(pc.ends_with(column, "\0")).as_py():
            raise ColumnError(name, f"column {name!r} holds labels that end in a NUL character")
        ids = as_ids(column, name)
        return (_integers(ids.values) if _are_distinct_integers(ids.values) else ids.values)[
            ids.codes
        ]
    if pa.types.is_boolean(column.type) or pa.types.is_integer(column.type):
        return np.asarray(column.to_numpy())
    if pa.types.is_floating(column.type):
        return as_numbers(column, name)
    raise wrong(name, "class labels: whole numbers, text or booleans", column, 1)


def _are_distinct_integers(texts: NDArray[Any]) -> bool:
    """Return whether all texts are integers, such as +1 and -1, and no two are equal."""
    matches = [re.fullmatch(SIGNED_INTEGER, str(text).strip()) for text in texts]
    return all(matches) and len(set(_integers(texts).tolist())) == len(texts)


def _integers(texts: NDArray[Any]) -> NDArray[Any]:
    return np.array([int(text) for text in texts])


def as_ids(column: Any, name: str) -> Ids:
    """Return ids of any kind, as codes."""
    encoded = _dictionary_encode(present(column, name, 1), name)
    _require_distinct_ids(encoded, name)
    # np.unique merges -0.0 and 0.0, which are two values for Arrow.
    values, rank = np.unique(_values(encoded.dictionary), return_inverse=True)
    return Ids(rank.astype(np.int64)[encoded.indices.to_numpy()], values)


def _values(dictionary: Any) -> NDArray[Any]:
    values = dictionary.to_pylist()
    array = np.array(values)
    return text_array(values, array) if array.dtype.kind in "US" else array


def _dictionary_encode(column: Any, name: str) -> Any:
    try:
        encoded = column.combine_chunks().dictionary_encode()
    except pa.ArrowNotImplementedError as error:
        raise wrong(name, "ids: numbers, text or dates", column, 1) from error
    return encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded


def _require_distinct_ids(encoded: Any, name: str) -> None:
    """Refuse NaN, also as text, and floats that may have merged several ids."""
    values = encoded.dictionary
    if not can_cast(values, pa.float64()):
        return
    numbers = values.cast(pa.float64()).to_numpy()
    missing = np.isnan(numbers)[encoded.indices.to_numpy()]
    if missing.any():
        raise not_a_number(name, int(np.argmax(missing)) + 1)
    if pa.types.is_floating(values.type) and (np.abs(numbers) >= LARGEST_EXACT).any():
        raise ColumnError(
            name,
            f"column {name!r} holds ids as floats beyond 2**53, of which several may have become "
            "one: write them as text",
        )

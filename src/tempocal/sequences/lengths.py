"""How long each sequence is, whatever kind of thing it is; and what is given beside each."""

from collections.abc import Mapping, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs import as_array
from tempocal.inputs.arrays import first_missing


def lengths_of(sequences: Any) -> NDArray[np.int64]:
    """Return the length of each sequence; whole numbers are lengths themselves."""
    require_many(sequences)
    # The first entry tells lengths from sequences: a number has no length.
    if not _has_length(next(iter(sequences))):
        lengths = _as_lengths(sequences)
    else:
        sizes = (size_of(sequence, at) for at, sequence in enumerate(sequences))
        lengths = np.fromiter(sizes, dtype=np.int64, count=len(sequences))
    if lengths.min() < 1:
        at = int(np.argmax(lengths < 1))
        raise InputError(
            f"sequences[{at}] has length {lengths[at]}, and a prefix holds at least one element: "
            "leave such sequences out, together with their labels and ids"
        )
    return lengths


def require_many(sequences: Any) -> None:
    """Refuse what would be read as sequences but is one sequence, a table, or in no order."""
    one_or_unordered = isinstance(sequences, str | bytes | Mapping | Set)
    # A table iterates over the names of its columns, each of which has a length.
    if one_or_unordered or hasattr(sequences, "columns") or not _has_length(sequences):
        raise InputError(
            "sequences must be a list of sequences, or an array of their lengths, but it is a "
            f"{type(sequences).__name__}: pass one sequence as [sequence], those of a dictionary "
            "as list(sequences.values()), those of an iterator as list(sequences)"
        )
    if len(sequences) == 0:
        raise InputError("sequences is empty: at least 1 sequence is needed")


def size_of(sequence: Any, position: int) -> int:
    """Return the length of one sequence."""
    try:
        return len(sequence)
    except TypeError as error:
        raise InputError(
            f"sequences[{position}] is {sequence!r}, which has no length: each must be a sequence "
            "with len() and slicing, such as a list, a string or an array"
        ) from error


def one_for_each(values: Any, n_sequences: int, name: str) -> NDArray[Any]:
    """Return what is given beside the sequences: one value for each, and none missing."""
    array = as_array(values, name)
    if array.ndim != 1 or len(array) != n_sequences:
        raise InputError(
            f"{name} must be one value for each of the {n_sequences} sequences, but its shape is "
            f"{array.shape}"
        )
    at = first_missing(array)
    if at is not None:
        raise InputError(f"{name}[{at}] is missing: every sequence needs one")
    return array


def _has_length(value: Any) -> bool:
    # Asked by calling: scalars of NumPy and PyTorch carry a __len__ that only raises.
    try:
        len(value)
    except TypeError:
        return False
    return True


def _as_lengths(sequences: Any) -> NDArray[np.int64]:
    lengths = as_array(sequences, "sequences")
    if lengths.ndim != 1 or lengths.dtype.kind not in "iu":
        raise InputError(
            "sequences must hold sequences, with len() and slicing, or their lengths as whole "
            f"numbers, but it starts with {next(iter(sequences))!r}"
        )
    return lengths.astype(np.int64)

"""Validation of sequences and of per-sequence values; lengths of the sequences."""

from collections.abc import Mapping, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs import as_array, first_missing


def lengths_of(sequences: Any) -> NDArray[np.int64]:
    """Return the length of each sequence; integers are taken as lengths."""
    require_sequences(sequences)
    # Distinguish lengths from sequences by the first entry: a number has no length.
    if not _has_length(next(iter(sequences))):
        lengths = _as_lengths(sequences)
    else:
        sizes = (size_of(sequence, position) for position, sequence in enumerate(sequences))
        lengths = np.fromiter(sizes, dtype=np.int64, count=len(sequences))
    if lengths.min() < 1:
        position = int(np.argmax(lengths < 1))
        raise InputError(
            f"sequences[{position}] has length {lengths[position]}, and a prefix holds at least "
            "one element: leave such sequences out, together with their labels and ids"
        )
    return lengths


def require_sequences(sequences: Any) -> None:
    """Refuse a single sequence, a data frame, and unordered collections."""
    one_or_unordered = isinstance(sequences, str | bytes | Mapping | Set)
    # A data frame iterates over its column names, each of which has a length.
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
    """Return per-sequence values as an array, one for each sequence and none missing."""
    array = as_array(values, name)
    if array.ndim != 1 or len(array) != n_sequences:
        raise InputError(
            f"{name} must be one value for each of the {n_sequences} sequences, but its shape is "
            f"{array.shape}"
        )
    position = first_missing(array)
    if position is not None:
        raise InputError(f"{name}[{position}] is missing: every sequence needs one")
    return array


def _has_length(value: Any) -> bool:
    # By calling len: scalars of NumPy and PyTorch have a __len__ that raises.
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

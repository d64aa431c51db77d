"""Class labels as names and numbers that JSON gives back as they were."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import DamagedModelFileError, InputError

# Kinds of label that JSON can hold without loss, as NumPy spells them.
_LABEL_KINDS = {"b": bool, "i": int, "u": int, "f": float, "U": str, "O": str}


def labels_to_dict(labels: NDArray[Any]) -> dict[str, Any]:
    """Labels and their type."""
    values = labels.tolist()
    wanted = _LABEL_KINDS.get(labels.dtype.kind)
    if wanted is None or not all(isinstance(value, wanted) for value in values):
        raise InputError(
            f"classes of type {labels.dtype} cannot be saved: labels must be whole numbers, text "
            "or booleans"
        )
    return {"dtype": labels.dtype.str, "values": values}


def labels_from_dict(content: Any) -> NDArray[Any]:
    """Labels with the type they had."""
    try:
        spelled, values = content["dtype"], content["values"]
        dtype = np.dtype(spelled)
        wanted = _LABEL_KINDS[dtype.kind]
        # NumPy takes more than text for a type, and text for a list of letters.
        as_written = len(content) == 2 and isinstance(spelled, str) and isinstance(values, list)
        if as_written and all(type(value) is wanted for value in values) and _fits(dtype, values):
            return np.array(values, dtype=dtype)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise DamagedModelFileError("the model's classes cannot be read") from error
    raise DamagedModelFileError("the model's classes are not of the type it says")


def _fits(dtype: np.dtype[Any], values: list[Any]) -> bool:
    """Tell whether a type holds these values and no more, each of them once."""
    natural = np.array(values, dtype=dtype.kind if dtype.kind in "UO" else None)
    if dtype.kind == "U" and dtype.itemsize != natural.itemsize:
        return False
    return np.array(values, dtype=dtype).tolist() == values and len(set(values)) == len(values)

"""A fitted calibrator as a document of names and numbers, and as a file."""

import math
from collections.abc import Mapping
from dataclasses import asdict
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tempocal.calibrators.summary import Summary
from tempocal.errors import DamagedModelFileError, InputError
from tempocal.maps import to_dict
from tempocal.modelfile import write_document
from tempocal.version import __version__

if TYPE_CHECKING:
    from tempocal.calibrators.base import Calibrator

# Kinds of label that JSON can hold without loss, as NumPy spells them.
_LABEL_KINDS = {"b": bool, "i": int, "u": int, "f": float, "U": str, "O": str}


def save(calibrator: "Calibrator", path: str | PathLike[str]) -> None:
    """Write a fitted calibrator to a model file."""
    parameters = calibrator.get_params(deep=False)
    classes = labels_to_dict(calibrator.classes_)
    if parameters["classes"] is not None:
        # What was given may be a list; what it was read as can be written.
        parameters["classes"] = classes
    write_document(
        path,
        {
            "calibrator": type(calibrator).__name__,
            "written_by": f"tempocal {__version__}",
            "parameters": {name: _plain(value) for name, value in parameters.items()},
            "classes": classes,
            "columns": int(calibrator.n_features_in_),
            "column_names": [str(name) for name in getattr(calibrator, "feature_names_in_", [])],
            "map": to_dict(calibrator.map_),
            "summary": summary_to_dict(calibrator.summary_),
        },
    )


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
        dtype = np.dtype(content["dtype"])
        wanted = _LABEL_KINDS[dtype.kind]
        values = content["values"]
        if all(type(value) is wanted for value in values) and _fits(dtype, values):
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


def summary_to_dict(summary: Summary) -> dict[str, Any]:
    """Facts of a fit; an infinite NLL, which JSON cannot hold, is left out."""
    content = asdict(summary)
    for name in ("nll_before", "nll_after"):
        if math.isinf(content[name]):
            content[name] = None
    return content


def summary_from_dict(content: Any) -> Summary:
    """Facts of a fit, as they were written."""
    if not isinstance(content, Mapping) or set(content) != set(Summary.__dataclass_fields__):
        raise DamagedModelFileError("the model's summary cannot be read")
    infinite = {name: math.inf for name in ("nll_before", "nll_after") if content[name] is None}
    return Summary(**{**content, **infinite})


def _plain(value: Any) -> Any:
    """Turn a constructor argument into what JSON can hold."""
    if isinstance(value, np.generic):
        return value.item()
    return list(value) if isinstance(value, tuple) else value

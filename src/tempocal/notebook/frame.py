"""Columns as a data frame of pandas, Polars or pyarrow, whichever is there."""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, get_args

from tempocal.errors import InputError

FrameLibrary = Literal["pandas", "polars", "pyarrow"]
_LIBRARIES: tuple[FrameLibrary, ...] = get_args(FrameLibrary)


def as_frame(columns: Mapping[str, Any], library: FrameLibrary | None = None) -> Any:
    """Return columns of equal length as a data frame.

    Parameters
    ----------
    columns : mapping of str to array or list
        The columns by name.
    library : {"pandas", "polars", "pyarrow"}, optional
        What makes it; by default the first of these that is installed.
    """
    if library is not None and library not in _LIBRARIES:
        raise InputError(f"library must be one of {', '.join(_LIBRARIES)}, but it is {library!r}")
    found = library or next((name for name in _LIBRARIES if find_spec(name)), None)
    if found is None:
        raise ImportError(f"a frame needs one of {', '.join(_LIBRARIES)}: pip install pandas")
    try:
        module = import_module(found)
    except ImportError as error:
        raise ImportError(
            f"{found} is not installed: pip install {found}, or name another library"
        ) from error
    make = module.table if found == "pyarrow" else module.DataFrame
    return make(dict(columns))

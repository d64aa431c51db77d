"""Whether the map of a model goes with its columns, its classes and its clocks."""

from typing import Any

import numpy as np

from tempocal.errors import DamagedModelFileError
from tempocal.maps import (
    FORMS,
    Basis,
    ConstantBasis,
    Curves,
    FittedMap,
    MapPerStep,
    ProductBasis,
)
from tempocal.predictor.entries import Columns, TimeColumn


def require_shape(fitted: FittedMap, columns: int, n_classes: int) -> None:
    """Refuse a map that does not make so many classes of so many columns."""
    if columns in (1, n_classes) and n_classes >= 2:
        shape = _shape_of(fitted, columns)
        if shape == (1, n_classes) or (shape == (1,) and n_classes == 2):
            return
    raise DamagedModelFileError(
        f"the map, {columns} columns and {n_classes} classes do not go together"
    )


def require_clocks(fitted: Any, clocks: int) -> None:
    """Refuse a map along time that goes along another number of clocks."""
    bases = fitted.bases if isinstance(fitted, Curves) else (fitted.basis,)
    if not all(_goes_along(basis, clocks) for basis in bases):
        raise DamagedModelFileError(f"the map does not go along {clocks} clocks")


def maps_at_moments(fitted: Any) -> tuple[FittedMap, ...]:
    """Return the maps at some moments: all there are, or of curves the first coefficients'."""
    if isinstance(fitted, MapPerStep):
        return fitted.maps
    with np.errstate(all="ignore"):
        return (FORMS[fitted.form]([table[0] for table in fitted.tables]),)


def columns_beside_time(columns: Columns, time_column: TimeColumn | None, clocks: int) -> int:
    """How many columns of X are left beside the clocks."""
    if time_column is None:
        return columns.count
    places = time_column if isinstance(time_column, tuple) else (time_column,)
    if len(places) != clocks:
        raise DamagedModelFileError(f"time_column is {time_column!r}, but time has other clocks")
    return columns.count - len({_place(place, columns) for place in places})


def _shape_of(fitted: FittedMap, columns: int) -> tuple[int, ...]:
    try:
        # Numbers that are too large are a matter of those who predict with them.
        with np.errstate(all="ignore"):
            return fitted(np.zeros(1) if columns == 1 else np.zeros((1, columns))).shape
    except (IndexError, TypeError, ValueError) as error:
        raise DamagedModelFileError(f"the map cannot be applied: {error}") from error


def _goes_along(basis: Basis, clocks: int) -> bool:
    if isinstance(basis, ConstantBasis):
        return True
    return clocks == (2 if isinstance(basis, ProductBasis) else 1)


def _place(clock: int | str, columns: Columns) -> int | str:
    if isinstance(clock, int) and -columns.count <= clock < columns.count:
        return clock % columns.count
    # Where the names of the columns are no text, scikit-learn keeps none.
    if isinstance(clock, str) and (clock in columns.names or not columns.names):
        return columns.names.index(clock) if columns.names else clock
    raise DamagedModelFileError(f"time_column {clock!r:.80} is none of the {columns.count} columns")

"""Shrinkage of the nonparametric calibrators: rows that stand for doing nothing."""

from typing import Any, Literal

import numpy as np

from tempocal.errors import InputError

PseudoRows = Literal["auto"] | float


def check_pseudo_rows(shrinkage: Any, auto: float) -> float:
    """Return the number of pseudo-rows that was asked for, ``auto`` for "auto"."""
    if isinstance(shrinkage, str) and shrinkage == "auto":
        return auto
    try:
        number = float("nan") if isinstance(shrinkage, str | bool) else float(shrinkage)
    except (TypeError, ValueError):
        number = float("nan")
    if not 0 <= number < np.inf:
        raise InputError(
            f'shrinkage must be "auto" or a number of at least 0, but it is {shrinkage!r}'
        )
    return number

"""Shared by the nonparametric calibrators: one curve per class, and pseudo-rows as shrinkage."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from tempocal.calibrators.fit_data import FitData, FitResult
from tempocal.errors import InputError
from tempocal.maps import BinaryMap, OneVsRest
from tempocal.nonparametric import OrderedRows, sort_rows

PseudoRows = Literal["auto"] | float


def fit_curves(data: FitData, fit_curve: Callable[[OrderedRows], BinaryMap]) -> FitResult:
    """Fit one curve of the log-odds, or one for each class against the rest."""
    if not data.has_one_column:
        curves = (fit_curve(sort_rows(*problem)) for problem in data.binary_problems())
        return FitResult(OneVsRest(tuple(curves)))
    (problem,) = data.binary_problems()
    rows = sort_rows(*problem)
    curve = fit_curve(rows)
    before, after = data.nll_of_curve(rows, curve)
    return FitResult(OneVsRest((curve,)), nll_before=before, nll_after=after)


def check_pseudo_rows(shrinkage: Any, auto: float) -> float:
    """Return the requested number of pseudo-rows, ``auto`` for "auto".

    A pseudo-row has the mean prediction as its label, so it shrinks towards the identity.
    """
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

"""Fit one curve of the log-odds, or one for each class against the rest."""

from collections.abc import Callable

from tempocal.calibrators.fit_data import FitData, FitResult
from tempocal.maps import BinaryMap, OneVsRest
from tempocal.nonparametric import Ordered, in_order


def fit_curves(data: FitData, fit_curve: Callable[[Ordered], BinaryMap]) -> FitResult:
    """Fit a curve for each class with a function of rows in order."""
    if not data.has_one_column:
        curves = (fit_curve(in_order(*problem)) for problem in data.binary_problems())
        return FitResult(OneVsRest(tuple(curves)))
    (problem,) = data.binary_problems()
    rows = in_order(*problem)
    curve = fit_curve(rows)
    before, after = data.curve_losses(rows, curve)
    return FitResult(OneVsRest((curve,)), nll_before=before, nll_after=after)

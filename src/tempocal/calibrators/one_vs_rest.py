"""Fit one curve of the log-odds, or one for each class against the rest."""

from collections.abc import Callable

from tempocal.calibrators.fit_data import Fitted, Training
from tempocal.maps import BinaryMap, OneVsRest
from tempocal.nonparametric import Ordered, in_order


def fit_curves(training: Training, fit_curve: Callable[[Ordered], BinaryMap]) -> Fitted:
    """Fit a curve for each class with a function of rows in order."""
    if not training.has_one_column:
        curves = (fit_curve(in_order(*problem)) for problem in training.binary_problems())
        return Fitted(OneVsRest(tuple(curves)))
    (problem,) = training.binary_problems()
    rows = in_order(*problem)
    curve = fit_curve(rows)
    before, after = training.curve_losses(rows, curve)
    return Fitted(OneVsRest((curve,)), nll_before=before, nll_after=after)

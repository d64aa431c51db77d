"""Fit one binary model, or one for each class against the rest."""

from collections.abc import Callable

from tempocal.calibrators.parametric import details_of, shrink
from tempocal.calibrators.training import Fitted, Training
from tempocal.links import Array
from tempocal.maps import BinaryMap, OneVsRest
from tempocal.solve import Problem


def fit_parametric(
    training: Training,
    shrinkage: object,
    make_problem: Callable[[Array, Array, Array | None], Problem],
    make_map: Callable[[Array], BinaryMap],
) -> Fitted:
    """Fit coefficients for each class: log-odds, targets, weights in; coefficients to map."""
    fits = [
        shrink(make_problem(odds, targets, training.weights), shrinkage, training.groups)
        for odds, targets in training.binary_problems()
    ]
    return Fitted(
        OneVsRest(tuple(make_map(one.solution.theta) for one in fits)),
        details_of(*fits),
        design_effect=max(one.design_effect for one in fits),
    )


def fit_curves(
    training: Training, fit_curve: Callable[[Array, Array, Array | None], BinaryMap]
) -> Fitted:
    """Fit a curve for each class with a function of log-odds, targets and weights."""
    maps = [
        fit_curve(odds, targets, training.weights) for odds, targets in training.binary_problems()
    ]
    return Fitted(OneVsRest(tuple(maps)))

"""Fit one binary model, or one for each class against the rest."""

from collections.abc import Callable

from tempocal.calibrators.parametric import details_of, one_or_list, shrink
from tempocal.calibrators.training import Fitted, Training
from tempocal.links import Array
from tempocal.maps import BinaryMap, OneVsRest
from tempocal.solve import Problem


def fit_parametric(
    training: Training,
    shrinkage: object,
    make_problem: Callable[[Array, Array, Array | None], Problem],
    make_map: Callable[[Array], BinaryMap],
    names: tuple[str, ...],
) -> Fitted:
    """Fit coefficients for each class: log-odds, targets, weights in; coefficients to map.

    ``names`` are those of the map's fields, for the summary.
    """
    fits = [
        shrink(make_problem(odds, targets, training.weights), shrinkage, training.groups)
        for odds, targets in training.binary_problems()
    ]
    maps = tuple(make_map(one.solution.theta) for one in fits)
    values = {name: one_or_list([getattr(fitted, name) for fitted in maps]) for name in names}
    effects = [one.design_effect for one in fits if one.design_effect is not None]
    return Fitted(
        OneVsRest(maps), {**values, **details_of(*fits)}, max(effects) if effects else None
    )


def fit_curves(
    training: Training, fit_curve: Callable[[Array, Array, Array | None], BinaryMap]
) -> Fitted:
    """Fit a curve for each class with a function of log-odds, targets and weights."""
    maps = [
        fit_curve(odds, targets, training.weights) for odds, targets in training.binary_problems()
    ]
    return Fitted(OneVsRest(tuple(maps)))

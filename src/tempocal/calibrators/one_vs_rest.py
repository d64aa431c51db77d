"""Fit one curve of the log-odds, or one for each class against the rest."""

from collections.abc import Callable

from tempocal.calibrators.training import Fitted, Training
from tempocal.links import Array
from tempocal.maps import BinaryMap, OneVsRest


def fit_curves(
    training: Training, fit_curve: Callable[[Array, Array, Array | None], BinaryMap]
) -> Fitted:
    """Fit a curve for each class with a function of log-odds, targets and weights."""
    maps = [fit_curve(*problem) for problem in training.binary_problems()]
    return Fitted(OneVsRest(tuple(maps)))

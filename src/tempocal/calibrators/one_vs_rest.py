"""Fit one curve of the log-odds, or one for each class against the rest."""

from collections.abc import Callable

from tempocal.calibrators.training import Fitted, Training
from tempocal.links import Array
from tempocal.maps import BinaryMap, OneVsRest


def fit_curves(
    training: Training, fit_curve: Callable[[Array, Array, Array | None], BinaryMap]
) -> Fitted:
    """Fit a curve for each class with a function of log-odds, targets and weights."""
    if not training.has_one_column:
        return Fitted(OneVsRest(tuple(fit_curve(*one) for one in training.binary_problems())))
    # Rows in order are put in order once, and a curve is looked up in no time.
    rows = training.in_order()
    fitted = OneVsRest((fit_curve(*rows.binary_problems()[0]),))
    before, after = rows.before_and_after(fitted)
    return Fitted(fitted, nll_before=before, nll_after=after)

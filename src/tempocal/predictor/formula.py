"""From a fitted model to the formula of its probabilities."""

from collections.abc import Sequence

from tempocal.errors import InputError
from tempocal.formula.input_columns import read_scores, within
from tempocal.formula.links import Expressions
from tempocal.formula.nodes import Column, Every, Null, Where
from tempocal.inputs import LARGEST_TIME
from tempocal.maps import TemporalMap
from tempocal.predictor import Predictor


def formula_of(model: Predictor, scores: Sequence[str], time: Sequence[str] = ()) -> Expressions:
    """Return the probability of each class as a formula of named columns.

    Where `Predictor.predict_proba` refuses a row, the formula has no number (`Null`): a missing
    or undefined prediction or time, a logit beyond 2**53, probabilities that do not sum to 1, a
    step that a ``PerStep(unseen="error")`` has not seen.

    Parameters
    ----------
    model : Predictor
        A model of any calibrator, along any curve.
    scores : sequence of str
        Columns of the logits, or of the probabilities where the model takes those.
    time : sequence of str
        Columns of the times, one for each clock, as numbers: seconds since 1970-01-01 UTC where the
        model goes along datetimes, seconds where it goes along timedeltas.

    Returns
    -------
    tuple of Expression
        One for each class, in the order of ``model.classes``.

    Examples
    --------
    >>> import numpy as np
    >>> from tempocal.formula import evaluate
    >>> from tempocal.maps import Scale
    >>> model = Predictor("TemperatureScaling", np.array([0, 1]), "logits", 1, Scale(0.5))
    >>> _, positive = formula_of(model, ["z"])
    >>> evaluate(positive, {"z": np.array([2.0, np.nan])}).round(3)
    array([0.731,   nan])
    """
    return _formula(model, scores, time, as_logits=False)


def decision_of(model: Predictor, scores: Sequence[str], time: Sequence[str] = ()) -> Expressions:
    """Return calibrated logits as formulas: one for two classes, else one for each.

    They may be infinite where the model is certain, so that not every engine can work them out.

    Parameters
    ----------
    model, scores, time
        As in `formula_of`.

    Examples
    --------
    >>> import numpy as np
    >>> from tempocal.formula import evaluate
    >>> from tempocal.maps import Scale
    >>> model = Predictor("TemperatureScaling", np.array([0, 1]), "logits", 1, Scale(0.5))
    >>> evaluate(*decision_of(model, ["z"]), {"z": np.array([2.0, np.nan])})
    array([ 1., nan])
    """
    return _formula(model, scores, time, as_logits=True)


def _formula(
    model: Predictor, scores: Sequence[str], time: Sequence[str], *, as_logits: bool
) -> Expressions:
    _require_count(scores, model.columns, model.inputs)
    _require_count(time, len(model.time_kinds), "time")
    read = read_scores(scores, model.inputs)
    clocks = tuple(Column(name) for name in time)
    valid = [read.valid, *(within(t, -LARGEST_TIME, LARGEST_TIME) for t in clocks)]
    fitted, z = model.map, read.values
    if isinstance(fitted, TemporalMap):
        found = fitted.logits(z, clocks) if as_logits else fitted.probabilities(z, clocks)
        defined = fitted.is_defined(clocks)
        valid += [] if defined is None else [defined]
    else:
        found = fitted.logits(z) if as_logits else fitted.probabilities(z)
    if as_logits and len(found) == len(model.classes) == 2:
        found = (found[1] - found[0],)
    holds = Every(tuple(valid)) if len(valid) > 1 else valid[0]
    return tuple(Where(holds, each, Null()) for each in found)


def _require_count(names: Sequence[str], count: int, what: str) -> None:
    if len(names) != count:
        raise InputError(
            f"the model takes {count} column{'s' * (count != 1)} of {what}, but {len(names)} "
            f"{'is' if len(names) == 1 else 'are'} named: {list(names)}"
        )

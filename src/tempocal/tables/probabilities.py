"""The probability of each class, in the engine that holds the predictions."""

from collections.abc import Sequence

from tempocal.fitted import FittedModel
from tempocal.formula import formula_of, in_stages, interpret
from tempocal.tables.engine import NarwhalsEngine
from tempocal.tables.open import Frame


def add_probabilities(
    frame: Frame, model: FittedModel, scores: Sequence[str], times: Sequence[str] = ()
) -> Frame:
    """Add columns ``p0``, ``p1``, ... of the classes of a model; NULL where it has no answer.

    Parameters
    ----------
    frame : Frame
        Rows whose columns are double.
    model : FittedModel
        What to calibrate with.
    scores, times : sequence of str
        Columns of the predictions and of the times, which are seconds unless they are numbers.

    Examples
    --------
    >>> import narwhals as nw, numpy as np, polars as pl
    >>> from tempocal.maps import Scale
    >>> model = FittedModel("TemperatureScaling", np.array([0, 1]), "logits", 1, Scale(0.5))
    >>> frame = nw.from_native(pl.DataFrame({"z": [2.0]}))
    >>> add_probabilities(frame, model, ["z"])["p1"].round(3).to_list()
    [0.731]
    """
    engine = NarwhalsEngine()
    staged = in_stages(list(formula_of(model, scores, times)), "stage")
    named = {f"p{k}": each for k, each in enumerate(staged.outputs)}
    for stage in (*staged.stages, named):
        frame = frame.with_columns(
            **{name: interpret(each, engine, {}) for name, each in stage.items()}
        )
    return frame

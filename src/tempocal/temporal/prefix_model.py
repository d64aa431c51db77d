"""Predictions of the user's model for prefixes: a callable or a scikit-learn classifier."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tempocal.errors import InputError
from tempocal.inputs import as_float64, as_logits
from tempocal.links import Array


def scoring_function(model: Any, inputs: str) -> Callable[[list[Any]], Any]:
    """Return the function of the model that scores a list of prefixes."""
    classifier = hasattr(model, "predict_proba") or hasattr(model, "decision_function")
    # A class is callable too, but makes instances.
    if isinstance(model, type) or not (classifier or callable(model)):
        raise InputError(
            "model must be a callable of a list of prefixes, or a fitted classifier with "
            f"predict_proba or decision_function, but it is {model!r}"
        )
    if not classifier:
        return model  # type: ignore[no-any-return]
    if inputs == "logits" and hasattr(model, "decision_function"):
        return model.decision_function  # type: ignore[no-any-return]
    if not hasattr(model, "predict_proba"):
        raise InputError(
            f'the calibrator takes inputs="{inputs}", but model {type(model).__name__} has no '
            'predict_proba: give the calibrator inputs="logits"'
        )
    if inputs == "proba":
        return model.predict_proba  # type: ignore[no-any-return]
    return lambda batch: as_logits(model.predict_proba(batch), "proba", "predict_proba")


def check_output(output: Any, n_prefixes: int) -> Array:
    """Check that the model returned one row per prefix, and return them as a 2-d array."""
    outputs = as_float64(output, "what the model returned")
    # A data frame is refused: its column names, hence the order of classes, would be ignored.
    if outputs.ndim in (1, 2) and len(outputs) == n_prefixes and not hasattr(output, "columns"):
        return outputs.reshape(n_prefixes, -1)
    rows = len(outputs) if outputs.ndim else 0
    raise InputError(
        f"model returned {rows} rows for {n_prefixes} prefixes, a {type(output).__name__} of shape "
        f"{outputs.shape}: it must return an array of shape (n,), (n, 1) or (n, K) for n prefixes, "
        "columns in the order of the classes"
    )


def concatenate(outputs: list[Array]) -> Array:
    """Concatenate batches, which must all have the same number of columns."""
    widths = {part.shape[1] for part in outputs}
    if len(widths) > 1:
        raise InputError(f"model returned {sorted(widths)} columns, other ones for other prefixes")
    return np.concatenate(outputs)

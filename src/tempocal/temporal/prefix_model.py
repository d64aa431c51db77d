"""Ask a model about prefixes, whatever kind of model it is."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tempocal.errors import InputError
from tempocal.inputs import as_float64, as_logits
from tempocal.links import Array


def scoring_function(model: Any, inputs: str) -> Callable[[list[Any]], Any]:
    """Choose what the model is asked for."""
    classifier = hasattr(model, "predict_proba") or hasattr(model, "decision_function")
    # A class is a callable too, of its settings.
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
    """Check that the model returned a row for each prefix of a batch."""
    scores = as_float64(output, "what the model returned")
    # The names of a table's columns would be lost, and with them their order.
    if scores.ndim in (1, 2) and len(scores) == n_prefixes and not hasattr(output, "columns"):
        return scores.reshape(n_prefixes, -1)
    rows = len(scores) if scores.ndim else 0
    raise InputError(
        f"model returned {rows} rows for {n_prefixes} prefixes, a {type(output).__name__} of shape "
        f"{scores.shape}: it must return an array of shape (n,), (n, 1) or (n, K) for n prefixes, "
        "columns in the order of the classes"
    )


def concatenate(scores: list[Array]) -> Array:
    """Put batches together, which must all have the same columns."""
    widths = {part.shape[1] for part in scores}
    if len(widths) > 1:
        raise InputError(f"model returned {sorted(widths)} columns, other ones for other prefixes")
    return np.concatenate(scores)

"""Predictions of a classifier, validated and converted to logits, or to probabilities for metrics.

A certain prediction (a probability of 0 or 1, or an infinite logit) is read as odds of 2**53 to 1.
So one wrong certain prediction does not make a fit impossible, and a calibrator can soften it.
Probabilities are clipped to those odds, since 1 - 2**-53 is the largest float64 below 1. Finite
logits are never changed; beyond 2**53, where consecutive integers are not distinct in float64, they
are refused.
"""

from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError, LooksLikeProbabilitiesWarning, warn_user
from tempocal.inputs.arguments import as_array, as_float64, require_finite
from tempocal.kernels import native
from tempocal.kernels.min_max import min_max
from tempocal.links import SMALLEST_PROBABILITY, Array, Floats, logsumexp

Inputs = Literal["logits", "proba"]
Number = TypeVar("Number", bound=np.floating[Any])

CERTAIN_LOGIT = float(np.log1p(-SMALLEST_PROBABILITY) - np.log(SMALLEST_PROBABILITY))
LARGEST_LOGIT = 2.0**53
SMALLEST_SCALE = 1e-100
SUM_TOLERANCE = 1e-3
MANY_ROWS = 50


def as_logits(predictions: Any, inputs: Inputs = "logits", name: str = "logits") -> Array:
    """Return logits: shape (n,) for one column (sigmoid), (n, K) for K >= 2 (softmax).

    Parameters
    ----------
    predictions : array-like of shape (n,), (n, 1) or (n, K)
        Output of the classifier.
    inputs : {"logits", "proba"}
        What ``predictions`` are; never guessed from the values.
    name : str
        Name of the argument in error messages.
    """
    return as_logits_and_range(predictions, inputs, name)[0].astype(np.float64, copy=False)


def as_logits_and_range(
    predictions: Any, inputs: Inputs = "logits", name: str = "logits"
) -> tuple[Floats, float, float]:
    """Return logits as `as_logits` does, their minimum and their maximum.

    float32 is not converted if the compiled loops can read it.
    """
    if inputs == "proba":
        logits = _logits_from_proba(_check_columns(as_float64(predictions, name), name), name)
        return logits, *min_max(logits)
    if inputs != "logits":
        raise InputError(f'inputs must be "logits" or "proba", but it is {inputs!r}')
    given = read_logits(predictions, name)
    if native is None:
        given = given.astype(np.float64, copy=False)
    # No temporary in the usual case: min_max returns NaN if there is one, which compares as false.
    low, high = (float(value) for value in min_max(given))
    if low >= -LARGEST_LOGIT and high <= LARGEST_LOGIT:
        return given, low, high
    logits = _make_finite(given.astype(np.float64, copy=False), name)
    return logits, *min_max(logits)


def read_logits(logits: Any, name: str = "logits") -> Floats:
    """Return logits in the shape of `as_logits`, with unchecked values.

    Other shapes and types are refused; float32 is not converted.
    """
    array = as_array(logits, name)
    if array.dtype == np.float32 and array.flags.aligned:
        return _check_columns(array, name)
    return _check_columns(as_float64(array, name), name)


def require_scale(low: float, high: float, name: str = "logits") -> None:
    """Refuse logits, from ``low`` to ``high``, so small that coefficients would overflow."""
    largest = max(high, -low)
    if 0.0 < largest < SMALLEST_SCALE:
        raise InputError(
            f"{name} must not all be smaller than {SMALLEST_SCALE:g}, but the largest is "
            f"{largest:g}: multiply them by a constant"
        )


def warn_of_probabilities(logits: Floats, low: float, high: float) -> None:
    """Warn if logits, from ``low`` to ``high``, look like probabilities.

    Only probabilities sum to 1 in every row; and many logits in one column are seldom all in [0, 1]
    and on both sides of 1/2.
    """
    if low < 0.0 or high > 1.0:
        return
    is_wide = len(logits) >= MANY_ROWS and low < 0.5 < high
    if logits.ndim == 1 and is_wide and not _are_integers(logits):
        warn_user(
            f"all {len(logits)} logits lie in [0, 1], as probabilities do: if that is what "
            'they are, say inputs="proba"',
            LooksLikeProbabilitiesWarning,
        )
    if logits.ndim == 2:
        off = np.abs(logits.sum(axis=1) - 1.0).max()
        if off <= SUM_TOLERANCE:
            warn_user(
                "the logits lie in [0, 1] and sum to 1 in every row, as probabilities do: if that "
                'is what they are, say inputs="proba"',
                LooksLikeProbabilitiesWarning,
            )


def _are_integers(values: Floats) -> bool:
    return bool((values == np.floor(values)).all())


def check_proba(
    proba: Any,
    name: str = "proba",
    hint: str = "metrics take probabilities, after the labels: metric(y, proba)",
) -> Array:
    """Return probabilities of shape (n, K); a single column is that of the second class.

    ``hint`` ends the error message about numbers outside [0, 1].
    """
    array = _check_columns(as_float64(proba, name), name)
    _require_probabilities(array, name, hint)
    if array.ndim == 1:
        return np.stack([1.0 - array, array], axis=1)
    return array


def _make_finite(logits: Array, name: str) -> Array:
    """Replace infinite logits; refuse NaN and what is finite but too large."""
    if np.isnan(logits).any():
        row = int(np.argwhere(np.isnan(logits))[0, 0])
        raise InputError(f"{name} contains NaN (first at row {row}); it must be numbers")
    infinite = np.isinf(logits)
    _require_moderate(np.where(infinite, 0.0, logits), name)
    if logits.ndim == 1:
        return np.where(infinite, np.copysign(CERTAIN_LOGIT, logits), logits)
    return _finite_rows(logits, name)


def _require_moderate(logits: Array, name: str) -> None:
    beyond = np.abs(logits) > LARGEST_LOGIT
    if beyond.any():
        index = tuple(np.argwhere(beyond)[0])
        raise InputError(
            f"{name} must lie within 2**53 of zero, but row {index[0]} has {logits[index]:g}: "
            "for a class that is certain or impossible pass inf or -inf"
        )


def _finite_rows(logits: Array, name: str) -> Array:
    """Replace +inf (this class is certain) and -inf (it is impossible) within each row."""
    above, below = np.isposinf(logits), np.isneginf(logits)
    unclear = (above.sum(axis=1) > 1) | below.all(axis=1)
    if unclear.any():
        row = int(np.argmax(unclear))
        raise InputError(
            f"{name} at row {row} is {logits[row].tolist()}: infinity can mean one certain class "
            "or some impossible ones, not several certain ones or none possible"
        )
    rest = logsumexp(np.where(np.isfinite(logits), logits, -np.inf))
    # One class +inf and all others -inf leave no finite logit as reference.
    rest = np.where(np.isfinite(rest), rest, 0.0)
    filled = np.where(above, rest + CERTAIN_LOGIT, logits)
    return np.where(below, rest - CERTAIN_LOGIT, filled)


def _logits_from_proba(proba: Array, name: str) -> Array:
    _require_probabilities(proba, name, 'if these are logits, say inputs="logits"')
    clipped = np.clip(proba, SMALLEST_PROBABILITY, 1.0 - SMALLEST_PROBABILITY)
    if proba.ndim == 1:
        return np.asarray(np.log(clipped) - np.log1p(-clipped), dtype=np.float64)
    return np.asarray(np.log(clipped), dtype=np.float64)


def _require_probabilities(proba: Array, name: str, hint: str) -> None:
    require_finite(proba, name)
    if proba.min() < 0.0 or proba.max() > 1.0:
        wrong = (proba < 0.0) | (proba > 1.0)
        row = tuple(np.argwhere(wrong)[0])
        raise InputError(
            f"{name} must lie in [0, 1], but row {row[0]} has {float(proba[row])!r}: {hint}"
        )
    if proba.ndim == 2:
        sums = proba.sum(axis=1)
        off = np.abs(sums - 1.0) > SUM_TOLERANCE
        if off.any():
            row_index = int(np.argmax(off))
            raise InputError(
                f"the rows of {name} must sum to 1, but row {row_index} sums to {sums[row_index]:g}"
            )


def _check_columns(array: NDArray[Number], name: str) -> NDArray[Number]:
    if array.ndim not in (1, 2):
        raise InputError(
            f"{name} must have shape (n,), (n, 1) or (n, K), but its shape is {array.shape}. "
            "Reshape your data"
        )
    if len(array) == 0:
        raise InputError(f"{name} is empty: Found array with 0 sample(s), at least 1 is needed")
    if array.ndim == 2 and array.shape[1] == 0:
        raise InputError(
            f"{name} has 0 feature(s) (shape={array.shape}) while a minimum of 1 is required."
        )
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array

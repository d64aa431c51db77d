"""A fitted model that predicts, and knows nothing of how it was fitted."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs import (
    LARGEST_TIME,
    Inputs,
    TimeKind,
    Times,
    as_logits,
    check_time,
    require_same_kind,
)
from tempocal.kernels.min_max import min_max
from tempocal.links import Array
from tempocal.maps import proba_at_once, proba_of_map


@dataclass(frozen=True)
class Predictor:
    """What a model file says about predicting.

    Attributes
    ----------
    name : str
        Calibrator and curve.
    classes : ndarray of shape (K,)
        The classes, in the order of the columns of `predict_proba`.
    inputs : {"logits", "proba"}
        What the predictions to be calibrated must be.
    columns : int
        How many columns they must have.
    map : callable
        From logits, and times unless ``time_kinds`` is empty, to calibrated logits.
    time_kinds : tuple of str
        The kind of each clock; empty for a model that does not change along time.
    """

    name: str
    classes: NDArray[Any]
    inputs: Inputs
    columns: int
    map: Any
    time_kinds: tuple[TimeKind, ...] = ()

    def predict_proba(self, scores: Any, time: Any = None) -> Array:
        """Probability of each class, of shape (n, K), to the bit as the calibrator's own.

        Parameters
        ----------
        scores : array-like of shape (n,), (n, 1) or (n, K)
            Logits or probabilities, as ``inputs`` says, without the time among them.
        time : array-like of shape (n,), or (n, 2) for two clocks
            Times, of the kind that the fit had; None for a model without.
        """
        if self.inputs == "logits" and not self.time_kinds and time is None:
            proba = proba_at_once(self.map, scores, self.columns)
            if proba is not None:
                return proba
        logits = as_logits(scores, self.inputs, name=self.inputs)
        self._require_columns(1 if logits.ndim == 1 else logits.shape[1])
        if not self.time_kinds:
            if time is not None:
                raise InputError("the model does not change along time: leave time out")
            return proba_of_map(self.map, logits)
        times = self._times(time, len(logits))
        return proba_of_map(self.map, logits, times.values)

    def _times(self, time: Any, n_rows: int) -> Times:
        if time is None:
            raise InputError("time is missing: the model changes along time")
        times = check_time(time, n_rows, clocks=len(self.time_kinds))
        require_same_kind(times, self.time_kinds)
        return moderate(times)

    def _require_columns(self, columns: int) -> None:
        if columns != self.columns:
            raise InputError(
                f"{self.inputs} must have {self.columns} column{'s' * (self.columns > 1)} as in "
                f"the fit, but they have {columns}"
            )


def moderate(times: Times) -> Times:
    """Refuse times so far apart, or so large, that their distances overflow."""
    if times.values.size == 0:
        return times
    low, high = times.time_range or min_max(times.values)
    largest = float(max(high, -low))
    if largest > LARGEST_TIME:
        raise InputError(f"time must lie within {LARGEST_TIME:g} of zero, but it has {largest:g}")
    return times

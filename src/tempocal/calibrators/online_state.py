"""What a fitted calibrator remembers, to go on when more rows come."""

from dataclasses import dataclass, field, replace
from functools import update_wrapper
from numbers import Real
from types import MethodType
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from tempocal.calibrators.standardization import Standardization
from tempocal.errors import InputError, NoPartialFitError
from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.solve import Posterior


@dataclass(frozen=True)
class OnlineState:
    """The models of a calibrator, without their rows.

    Attributes
    ----------
    posteriors : tuple of Memory
        One, or one for each class against the rest.
    class_weights : ndarray of shape (classes,)
        Weight of the rows of each class.
    times, weights : ndarray
        Times along which the curve was laid, and the weight of the rows there; empty without one.
    standards : tuple of Standard or None
        Coordinates of the coefficients of each model; empty where all are those of the map.
    in_model_file : bool
        Whether it belongs in the model file: where rows come in parts.
    """

    posteriors: tuple[Posterior, ...]
    class_weights: Array
    times: Array = field(default_factory=lambda: np.zeros(0))
    time_weights: Array = field(default_factory=lambda: np.zeros(0))
    standardizations: tuple[Standardization | None, ...] = ()
    in_model_file: bool = False

    @property
    def standardization_by_model(self) -> tuple[Standardization | None, ...]:
        """Coordinates of each model."""
        return self.standardizations or (None,) * len(self.posteriors)

    def discounted(self, keep: float) -> Self:
        """Let all rows so far count less."""
        return replace(
            self,
            posteriors=tuple(one.discounted(keep) for one in self.posteriors),
            class_weights=keep * self.class_weights,
        )


def require_online_state(online_state: OnlineState | None) -> OnlineState:
    """Refuse to go on from a fit that has kept nothing to go on from."""
    if online_state is None:
        raise InputError(
            "there is nothing to go on from: the model was saved after fit, which keeps nothing "
            "of its rows, or has too many coefficients. Begin with partial_fit"
        )
    return online_state


class PartialFit:
    """A ``partial_fit`` that some calibrators have; for others an error says which do.

    The error is an AttributeError, so that ``hasattr`` tells, as scikit-learn wants it.
    """

    def __init__(self, method: Any = None) -> None:
        self._method = method
        if method is not None:
            update_wrapper(cast("Any", self), method)

    def __get__(self, calibrator: Any, kind: type | None = None) -> Any:
        if calibrator is None:
            if self._method is None:
                raise _no_partial_fit(kind, "it has no coefficients that new rows could update")
            return self._method
        reason = calibrator._why_no_partial_fit()
        if reason is not None:
            raise _no_partial_fit(type(calibrator), reason)
        return MethodType(self._method, calibrator)


def _no_partial_fit(kind: type | None, reason: str) -> NoPartialFitError:
    return NoPartialFitError(
        f"{getattr(kind, '__name__', kind)} has no partial_fit: {reason}. TemperatureScaling, "
        "PlattScaling, VectorScaling, MatrixScaling, BetaCalibration and DirichletCalibration have "
        "one, alone and under TemporalCalibrator; of the others, fit a new one to all rows"
    )


def mark_for_saving(online_state: OnlineState | None) -> OnlineState | None:
    """Let it be part of the model file."""
    return None if online_state is None else replace(online_state, in_model_file=True)


def check_keep(keep: Any) -> float:
    """Return the share of the past that is kept."""
    number = float(keep) if isinstance(keep, Real) and not isinstance(keep, bool) else np.nan
    if not 0.0 < number <= 1.0:
        raise InputError(f"keep must be a number above 0 and at most 1, but it is {keep!r}")
    return number


def check_first_classes(given: Any, own: Any) -> Any:
    """Return the classes that a first call is told, by ``classes`` or when it was constructed."""
    if given is None or own is None:
        return own if given is None else given
    if np.array_equal(np.asarray(given), np.asarray(own)):
        return own
    raise InputError(f"classes are {given!r}, but the calibrator was made with {own!r}")


def check_later_classes(given: Any, known: NDArray[Any]) -> None:
    """Refuse other classes than those of the first call."""
    if given is not None and not np.array_equal(np.asarray(given), known):
        raise InputError(f"classes are {given!r}, but they were {known.tolist()} in the first call")


def check_later_groups(groups: Groups | None, known: int | None) -> None:
    """Refuse rows in groups where they were independent, and the other way round."""
    if (groups is None) != (known is None):
        now, before = ("missing", "were") if groups is None else ("given", "were not")
        raise InputError(
            f"groups are {now}, but {before} given before: give them in all calls or in none"
        )

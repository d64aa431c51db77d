"""State of a calibrator between calls of ``partial_fit``, and the checks of these calls."""

from dataclasses import dataclass, field, replace
from functools import partial, update_wrapper
from numbers import Real
from types import MethodType
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError, NoPartialFitError
from tempocal.inputs import Groups, as_array, check_flag
from tempocal.links import Array
from tempocal.solve import Posterior

if TYPE_CHECKING:
    from tempocal.calibrators.linear_model import Standardization


@dataclass(frozen=True)
class OnlineState:
    """Gaussian posteriors of the models of a calibrator, in place of the rows seen so far.

    Attributes
    ----------
    posteriors : tuple of Posterior
        One, or one for each class against the rest.
    class_weights : ndarray of shape (classes,)
        Weight of the rows of each class.
    times, time_weights : ndarray
        Grid of the curve and the weight of the rows at each time; empty without a curve.
    standardizations : tuple of Standardization or None
        Standardization of each model's features; empty if there is none.
    in_model_file : bool
        Whether to save it in the model file: after ``partial_fit``, not after ``fit``.
    """

    posteriors: tuple[Posterior, ...]
    class_weights: Array
    times: Array = field(default_factory=partial(np.zeros, 0))
    time_weights: Array = field(default_factory=partial(np.zeros, 0))
    standardizations: "tuple[Standardization | None, ...]" = ()
    in_model_file: bool = False

    @property
    def standardization_by_model(self) -> "tuple[Standardization | None, ...]":
        """Standardization of each model, None where there is none."""
        return self.standardizations or (None,) * len(self.posteriors)

    @property
    def has_moving_targets(self) -> bool:
        """Whether rows learned from forecasts."""
        return any(one.moving is not None for one in self.posteriors)

    def discounted(self, keep: float) -> Self:
        """Multiply the weight of all rows so far by ``keep``."""
        return replace(
            self,
            posteriors=tuple(one.discounted(keep) for one in self.posteriors),
            class_weights=keep * self.class_weights,
        )


def require_online_state(online_state: OnlineState | None) -> OnlineState:
    """Refuse a partial fit after a fit that kept no state."""
    if online_state is None:
        raise InputError(
            "there is nothing to go on from: the model was saved after fit, which keeps nothing "
            "of its rows, or has too many coefficients. Begin with partial_fit"
        )
    return online_state


class PartialFit:
    """Descriptor: a ``partial_fit`` that only some calibrators have.

    For the others it raises an AttributeError that names those, so that ``hasattr`` is False, as
    scikit-learn expects.
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
        "PlattScaling, VectorScaling, MatrixScaling, BetaCalibration, QuadraticScaling and "
        "DirichletCalibration have one, alone and under TemporalCalibrator; of the others, fit a "
        "new one to all rows"
    )


def mark_for_saving(online_state: OnlineState | None) -> OnlineState | None:
    """Return the state to be saved in the model file."""
    return None if online_state is None else replace(online_state, in_model_file=True)


def check_keep(keep: Any) -> float:
    """Return the discount factor of earlier rows."""
    number = float(keep) if isinstance(keep, Real) and not isinstance(keep, bool) else np.nan
    if not 0.0 < number <= 1.0:
        raise InputError(f"keep must be a number above 0 and at most 1, but it is {keep!r}")
    return number


def check_first_classes(given: Any, own: Any) -> Any:
    """Return the classes of the first call: its argument, or that of the constructor."""
    if given is None or own is None:
        return own if given is None else given
    if np.array_equal(np.asarray(given), np.asarray(own)):
        return own
    raise InputError(f"classes are {given!r}, but the calibrator was made with {own!r}")


def check_later_classes(given: Any, known: NDArray[Any]) -> None:
    """Refuse classes other than those of the first call."""
    if given is not None and not np.array_equal(np.asarray(given), known):
        raise InputError(f"classes are {given!r}, but they were {known.tolist()} in the first call")


def groups_of_soft_labels(y: Any, *, soft_label: bool) -> NDArray[Any] | None:
    """Return a group for each row of soft labels, so that all calls have groups or none has."""
    has_rows = check_flag(soft_label, "soft_label") and y is not None
    return np.arange(len(as_array(y, "y"))) if has_rows else None


def check_later_groups(groups: Groups | None, known: int | None) -> None:
    """Refuse groups if the first call had none, and the reverse."""
    if (groups is None) != (known is None):
        now, before = ("missing", "were") if groups is None else ("given", "were not")
        raise InputError(
            f"groups are {now}, but {before} given before: give them in all calls or in none"
        )

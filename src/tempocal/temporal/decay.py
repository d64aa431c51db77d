"""The parameters of an exponential curve, in the units of the user's time."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tempocal.calibrators.summary import Summary
from tempocal.inputs import TimeKind
from tempocal.links import Array
from tempocal.maps import Curves, ExponentialBasis, TemporalMap

# Beyond this, exp would overflow or alpha would lose all precision.
MAX_EXPONENT = 300.0


class DecayParameters:
    """What a calibrator along an `ExponentialDecay` says of it."""

    map_: TemporalMap
    summary_: Summary
    time_kinds_: tuple[TimeKind, ...]

    @property
    def alpha_(self) -> Any:
        """Distance of the curve below its limit at the time origin."""
        return self._decay().alpha

    @property
    def beta_(self) -> Any:
        """Rate of the decay."""
        return self._decay().beta

    @property
    def gamma_(self) -> Any:
        """Limit of the curve."""
        return self._decay().gamma

    @property
    def time_origin_(self) -> float:
        """Time origin of the decay."""
        return self._decay().origin

    def _decay(self) -> "_Decay":
        check_is_fitted(self, "map_")
        bases = self.map_.bases if isinstance(self.map_, Curves) else ()
        decays = [basis for basis in bases if isinstance(basis, ExponentialBasis)]
        if not decays:
            if "ExponentialDecay" in self.summary_.calibrator:
                raise AttributeError("all rows of the fit had the same time: there is no decay")
            raise AttributeError(
                f"alpha_, beta_, gamma_ and time_origin_ are those of an ExponentialDecay(), but "
                f"this is {self.summary_.calibrator}"
            )
        assert isinstance(self.map_, Curves)
        return _decay_parameters(decays, self.map_.tables, self.time_kinds_)


@dataclass(frozen=True)
class _Decay:
    """The parameters of an exponential in the user's units."""

    alpha: Any
    beta: Any
    gamma: Any
    origin: float


def _decay_parameters(
    bases: list[ExponentialBasis], tables: tuple[Array, ...], kinds: tuple[TimeKind, ...]
) -> _Decay:
    first = bases[0].first
    rates = np.array([basis.rate for basis in bases])
    # From time 0 as in the paper, unless alpha would lose its precision.
    from_zero = kinds == ("number",) and np.abs(rates * first).max() < MAX_EXPONENT
    origin = 0.0 if from_zero else first
    limits = np.stack([table[0] for table in tables])
    starts = np.stack([table[1] for table in tables])
    alphas = (limits - starts) * np.exp(rates * (first - origin))[:, None]
    return _Decay(_squeeze(alphas), _squeeze(rates), _squeeze(limits), origin)


def _squeeze(values: Array) -> Any:
    """Unwrap arrays of length 1."""
    squeezed = values[0] if len(values) == 1 else values
    return float(squeezed.item()) if squeezed.size == 1 else squeezed

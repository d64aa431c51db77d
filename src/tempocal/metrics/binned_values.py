"""What a metric gives over stretches of time, whatever kind of metric it is."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Range:
    """A value, its interval, what perfect probabilities would show, and how it can be read.

    The interval is widened to hold the value where it does not. It is one of the truth, which is
    below a value that noise has added to, so that in about one of a thousand stretches its upper
    end is below the value too. An end that is moved outwards leaves the coverage no lower.
    """

    value: float
    lower: float
    upper: float
    floor: float
    only_upper: bool = False

    def __post_init__(self) -> None:
        # In this order a value of NaN moves no end.
        object.__setattr__(self, "lower", min(self.lower, self.value))
        object.__setattr__(self, "upper", max(self.upper, self.value))


@dataclass(frozen=True, eq=False)
class Profile:
    """One range for each stretch, and one for their mean."""

    by_stretch: tuple[Range, ...]
    mean: Range
    estimator: str
    # By chance alone, no stretch has an error of more than this times its floor, in 98 % of cases.
    chance_ratio: float = np.inf

    def column(self, name: str) -> NDArray[Any]:
        """Return one number of every stretch."""
        return np.array([getattr(one, name) for one in self.by_stretch])

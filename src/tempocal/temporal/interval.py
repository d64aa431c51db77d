"""Bands around parameters, as they are shown."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.stats import t as student

from tempocal.links import Array

# Parameters that cannot be negative.
NONNEGATIVE = ("inverse_temperature", "a", "b")


@dataclass(frozen=True)
class Interval:
    """Lower and upper bounds of a band, one pair for each time.

    Attributes
    ----------
    lower, upper : ndarray
        The bounds, of the shape of the parameter.
    level : float
        Nominal coverage, on average over time.
    n_groups : int or None
        Number of groups behind the band; None if rows were taken as independent.
    """

    lower: Array
    upper: Array
    level: float
    n_groups: int | None

    @classmethod
    def around(
        cls, center: Array, deviation: Array, name: str, level: float, n_groups: int | None
    ) -> Self:
        """Return the band of a parameter, given its standard deviation."""
        degrees = np.inf if n_groups is None else max(n_groups - 1, 1)
        half_width = float(student.ppf(0.5 + level / 2, degrees)) * deviation
        lower = center - half_width
        if name in NONNEGATIVE:
            lower = np.maximum(lower, 0.0)
        return cls(lower, center + half_width, level, n_groups)

    def __str__(self) -> str:
        source = (
            "rows taken as independent: no groups were given"
            if self.n_groups is None
            else f"over {self.n_groups} groups"
        )
        bounds = ", ".join(
            f"[{low:.4g}, {high:.4g}]"
            for low, high in zip(np.ravel(self.lower), np.ravel(self.upper), strict=True)
        )
        return f"{self.level:.0%} interval ({source}): {bounds}"

"""Quantiles of the distributions that intervals are made with."""

from statistics import NormalDist

import numpy as np

from tempocal.links import Array


def normal_quantile(share: float) -> float:
    """Quantile of the normal distribution."""
    return NormalDist().inv_cdf(share)


def student_quantile(share: float, degrees: Array | float) -> Array:
    """Quantile of Student's t distribution."""
    from scipy.special import stdtrit  # noqa: PLC0415 - importing the metrics must cost little

    return np.asarray(stdtrit(degrees, share), dtype=np.float64)


def half_width(level: float, units: float) -> float:
    """Half the width of an interval, in standard deviations; infinite for a single unit."""
    if units <= 1.0:
        return np.inf
    quantile = student_quantile(0.5 + level / 2, units - 1.0)
    return float(quantile * np.sqrt(units / (units - 1.0)))

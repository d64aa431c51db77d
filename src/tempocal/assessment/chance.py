"""Which calibration errors may be chance: the one rule of words, pictures and tables.

An error is called found if it is above its chance limit, and may be chance otherwise.
"""

import numpy as np
from numpy.typing import NDArray

from tempocal.links import Array
from tempocal.metrics import IntervalEstimate, OverTime

# Below this many floors only an upper bound of an error is known.
FLOORS = 2.0


def chance_limit(errors: OverTime) -> Array:
    """Largest error in each time bin that chance alone explains.

    It is the error, in floors, that perfect probabilities exceed in some time bin in only 2 of 100
    cases: as many looks as there are time bins are guarded against. It is at least twice the floor,
    and 1 where there are too few sequences for an interval.
    """
    limit = max(errors.chance_ratio, FLOORS) * errors.floor
    too_few = errors.only_upper & (errors.value > FLOORS * errors.floor)
    return np.asarray(np.where(too_few, 1.0, np.minimum(limit, 1.0)))


def may_be_chance(errors: OverTime) -> NDArray[np.bool_]:
    """Whether the error of each time bin is within its chance limit."""
    return np.asarray(errors.value <= chance_limit(errors))


def single_chance_limit(error: IntervalEstimate) -> float:
    """Chance limit of a single error, such as the mean over time: twice its floor."""
    return min(FLOORS * error.floor, 1.0)

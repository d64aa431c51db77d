"""Few sequences in memory in place of all, whose sums exact passes correct.

As `tempocal.rows.surrogate` does for outcomes. The linear term of a fit that learns from forecasts
moves with the coefficients, and a fit asks for it hundreds of times. A sample of whole sequences
tells how it moves; a pass over all sequences at theta_0 tells what it is there:

    linear term(theta)  =  few(theta)  +  all(theta_0) - few(theta_0) .

The fit ends at a fixed point of this. The next pass is made there, or where Anderson's method
expects the fixed point of all rows, until it no longer moves. If it does not settle, the sample has
misled: every linear term is a pass over all sequences then, slow but right.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.sparse import csr_array

from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.rows.fixed_point import FixedPoint
from tempocal.rows.sequence_rows import TOLERANCE, PastScores, Sequences

# The expected distance of the next result is this many times what was measured.
SAFETY_FACTOR = 10.0
LEAST_RATE = 1e-4
# The sample has misled if a pass leaves more than this share of the distance, which is not tiny; or
# after so many passes at one set of strengths.
MISLED, CLOSE, MOST_PASSES = 0.5, 1e-6, 30


class SurrogateSequences:
    """Few sequences, and what passes over all of them have corrected.

    Parameters
    ----------
    few : Sequences
        Some of the sequences, in memory.
    all_sequences : Sequences
        All of them.
    share : float
        Weight of all rows over that of the few.
    """

    def __init__(self, few: Sequences, all_sequences: Sequences, share: float) -> None:
        self._few, self._all, self._share = few, all_sequences, share
        self._center: Array | None = None  # where all sequences were summed last
        self._correction = np.zeros(0)
        self._has_misled = False
        self._fixed_point: FixedPoint | None = None
        self._distance, self._rate, self._n_passes = np.inf, 1.0, 0

    @property
    def decay(self) -> float:
        """Weight of what comes one row later."""
        return self._all.decay

    def linear_term(self, theta: Array) -> Array:
        """Sum of features times outcomes minus targets at ``theta``: (keys, coefficients)."""
        if self._has_misled:
            return self._all.linear_term(theta)
        if self._center is None:
            self._correct(theta)
        return self._share * self._few.linear_term(theta) + self._correction

    def refine(self, theta: Array, scale: Array) -> Array | None:
        """Sum all sequences near ``theta``, a fixed point of the few, unless it is that of all.

        Returns where all were summed, or None.
        """
        if self._has_misled or self._center is None:
            return None
        self._fixed_point = self._fixed_point or FixedPoint(scale)
        distance = self._fixed_point.distance(theta - self._center)
        if self._n_passes:
            rate = distance / self._distance
            self._rate = rate if self._n_passes == 1 else max(self._rate, rate)
        if SAFETY_FACTOR * max(self._rate, LEAST_RATE) * distance <= TOLERANCE:
            self._n_passes = 0
            self._fixed_point.clear()
            return None
        is_far = self._n_passes > 0 and distance > max(MISLED * self._distance, CLOSE)
        if is_far or self._n_passes > MOST_PASSES:
            self._has_misled = True
            return self._center
        self._distance, self._n_passes = distance, self._n_passes + 1
        self._correct(self._fixed_point.next(self._center, theta))
        return self._center

    def jacobian(self, theta: Array, directions: Array) -> Array:
        """Minus the derivative of the estimating function in the unknowns of ``directions``."""
        return self._all.jacobian(theta, directions)

    def group_gradients(self, theta: Array, codes: Codes, count: int) -> Sequence[csr_array]:
        """Minus the estimating function, summed by group and key, for each coefficient."""
        return self._all.group_gradients(theta, codes, count)

    def past_scores(
        self, theta: Array, directions: Array, codes: Codes, count: int
    ) -> Iterator[PastScores]:
        """Scores of the forecast of the row before, and of the mean of all before."""
        return self._all.past_scores(theta, directions, codes, count)

    def _correct(self, theta: Array) -> None:
        few = self._share * self._few.linear_term(theta)
        self._center, self._correction = theta.copy(), self._all.linear_term(theta) - few

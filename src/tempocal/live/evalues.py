"""Evidence against forecasts, as bets whose mean is 1 while the forecasts are right.

*One bet.* A forecast p of K classes is followed by an outcome o: the class that came true, as a
vector with one 1, or the next forecast of the same sequence. If the forecasts are right,
E[o | past] = p. An alternative says q instead, and its factor is ::

    sum_k o_k q_k / p_k        with mean  sum_k p_k q_k / p_k = sum_k q_k = 1

For a class that came true this is the likelihood ratio q_y / p_y. The alternatives are fixed from
the start, so that a bet depends on p alone:

- slope b, ``q ~ p**b``: the forecasts are too sure (b < 1) or too timid (b > 1);
- shift a of class k, ``q ~ p * exp(a)`` there: they are too low for it (a > 0) or too high.

*Many bets.* Each alternative starts at every bet m with the weight ``w_m``, so that a change is
found after a long good time as well. With ``R_n = (R_{n-1} + w_n) f_n`` for each alternative, the
value after n bets is ::

    M_n = mean R_n + sum_{m > n} w_m       with     w_m = s_{m-1} - s_m,    s_n = 1 / log2(n + 2)

where the mean is over alternatives, by weight. ``M_0 = 1`` and ``E[M_n | past] = M_{n-1}``.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tempocal.links import SMALLEST_PROBABILITY, Array, logsumexp

SLOPES = (0.5, 0.75, 4 / 3, 2.0)
SHIFTS = (-1.0, -0.3, 0.3, 1.0)


@dataclass(frozen=True)
class Alternatives:
    """What is bet on: slopes first, then the shifts of each class.

    Of two classes only the second is shifted, for a shift of the first is the same in reverse.
    """

    n_classes: int

    @property
    def shifted(self) -> range:
        """Classes that are shifted."""
        return range(1 if self.n_classes == 2 else 0, self.n_classes)

    @property
    def count(self) -> int:
        """How many alternatives there are."""
        return len(SLOPES) + len(SHIFTS) * len(self.shifted)

    @property
    def log_weights(self) -> Array:
        """Logarithm of the weight of each: half to slopes, half to shifts."""
        n_shifts = self.count - len(SLOPES)
        sizes = np.repeat([len(SLOPES), n_shifts], [len(SLOPES), n_shifts])
        return np.asarray(-np.log(2.0 * sizes))

    def log_factors(self, proba: Array, outcome: Array) -> Array:
        """Logarithm of the factors, of shape (..., count), of forecasts and outcomes (..., K)."""
        slopes = [_log_slope(proba, outcome, slope) for slope in SLOPES]
        size = np.expm1(SHIFTS)
        p, o = (values[..., list(self.shifted), None] for values in (proba, outcome))
        shifts = np.log1p(o * size) - np.log1p(p * size)  # (..., shifted classes, sizes)
        return np.concatenate([np.stack(slopes, -1), shifts.reshape(*proba.shape[:-1], -1)], -1)

    def slope_of(self, which: int) -> float | None:
        """Slope of an alternative; None for a shift."""
        return SLOPES[which] if which < len(SLOPES) else None

    def shift_of(self, which: int) -> tuple[int, float]:
        """Class and size of a shift."""
        place, size = divmod(which - len(SLOPES), len(SHIFTS))
        return self.shifted[place], SHIFTS[size]


def _log_slope(proba: Array, outcome: Array, slope: float) -> Array:
    ratio = (outcome * proba ** (slope - 1.0)).sum(axis=-1)
    return np.asarray(np.log(ratio) - np.log((proba**slope).sum(axis=-1)))


def inside(proba: Array) -> Array:
    """Probabilities that sum to 1 and of which none is 0, as `tempocal.inputs` reads them."""
    kept = np.maximum(proba, SMALLEST_PROBABILITY)
    return np.asarray(kept / kept.sum(axis=-1, keepdims=True))


def log_running_after(log_running: Array, settled: int, log_factors: Array) -> Array:
    """Logarithm of R after each of the next bets, along the first axis; R_0 is zero."""
    shares = later(settled + np.arange(len(log_factors) + 1))
    trace = np.empty_like(log_factors)
    for k, log_start in enumerate(np.log(shares[:-1] - shares[1:])):
        log_running = np.logaddexp(log_running, log_start) + log_factors[k]
        trace[k] = log_running
    return trace


def log_values(trace: Array, settled: int, log_weights: Array) -> Array:
    """Logarithm of M after each of the bets of a trace that began after ``settled`` of them."""
    bets = logsumexp(trace + log_weights)[..., 0]
    shares = later(settled + 1 + np.arange(len(trace)))
    return np.asarray(np.logaddexp(bets, np.log(shares).reshape(-1, *[1] * (bets.ndim - 1))))


def later(settled: NDArray[np.intp]) -> Array:
    """Return the weight of all that starts after so many bets."""
    return np.asarray(1.0 / np.log2(settled + 2.0))

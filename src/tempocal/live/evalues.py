"""E-values of forecasts: bets whose mean is 1 while the forecasts are calibrated.

*One bet.* A forecast p of K classes is followed by an outcome o: the class that came true, as a
one-hot vector, or the next forecast of the same sequence. If the forecasts are calibrated,
E[o | past] = p. For an alternative forecast q the factor is ::

    sum_k o_k q_k / p_k        with mean  sum_k p_k q_k / p_k = sum_k q_k = 1

For a class that came true this is the likelihood ratio q_y / p_y. The alternatives are fixed in
advance, so that a bet depends on p alone:

- slope b, ``q ~ p**b``: the forecasts are overconfident (b < 1) or underconfident (b > 1);
- shift a of class k, ``q_k ~ p_k * exp(a)``: they are too low for it (a > 0) or too high.

*Many bets.* Each alternative starts at every bet m with the weight ``w_m``, so that a change is
detected after a long calibrated period as well. With ``R_n = (R_{n-1} + w_n) f_n`` for each
alternative, the e-value after n bets is ::

    M_n = mean R_n + sum_{m > n} w_m       with     w_m = s_{m-1} - s_m,    s_n = 1 / log2(n + 2)

where the mean is the weighted mean over alternatives. M is a martingale: ``M_0 = 1`` and
``E[M_n | past] = M_{n-1}``.

*An outcome that stays unknown* is settled at the lowest factor that any class would give,
alternative by alternative. M is then never above what it would have been with the outcome known,
whatever decides which outcomes stay unknown, so that it reaches c with probability at most 1/c,
too. (The next forecast of a sequence gives a mean of the factors of the classes, no lower one.)
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tempocal.links import SMALLEST_PROBABILITY, Array, logsumexp

SLOPES = (0.5, 0.75, 4 / 3, 2.0)
SHIFTS = (-1.0, -0.3, 0.3, 1.0)


@dataclass(frozen=True)
class Alternatives:
    """The alternatives: slopes first, then the shifts of each class.

    With two classes only the second is shifted: a shift of the first is the opposite shift of it.
    """

    n_classes: int

    @property
    def shifted_classes(self) -> range:
        """Codes of the classes that are shifted."""
        return range(1 if self.n_classes == 2 else 0, self.n_classes)

    @property
    def count(self) -> int:
        """Number of alternatives."""
        return len(SLOPES) + len(SHIFTS) * len(self.shifted_classes)

    @property
    def log_weights(self) -> Array:
        """Logarithm of the weight of each: in total one half for slopes, one half for shifts."""
        n_shifts = self.count - len(SLOPES)
        sizes = np.repeat([len(SLOPES), n_shifts], [len(SLOPES), n_shifts])
        return np.asarray(-np.log(2.0 * sizes))

    def log_factors(self, proba: Array, outcome: Array) -> Array:
        """Logarithm of the factors, of shape (..., count), of forecasts and outcomes (..., K)."""
        slopes = [_log_slope(proba, outcome, slope) for slope in SLOPES]
        size = np.expm1(SHIFTS)
        p, o = (values[..., list(self.shifted_classes), None] for values in (proba, outcome))
        shifts = np.log1p(o * size) - np.log1p(p * size)  # (..., shifted classes, sizes)
        shifts = shifts.reshape(*shifts.shape[:-2], -1)
        return np.concatenate([np.stack(slopes, -1), shifts], -1)

    def lowest_log_factors(self, proba: Array) -> Array:
        """Logarithm of the lowest factor that any outcome would give each alternative."""
        classes = np.eye(self.n_classes)
        return np.asarray(self.log_factors(proba[..., None, :], classes).min(axis=-2))

    def slope_of(self, which: int) -> float | None:
        """Slope of the alternative of this index; None for a shift."""
        return SLOPES[which] if which < len(SLOPES) else None

    def shift_of(self, which: int) -> tuple[int, float]:
        """Class and size of the shift of this index."""
        index, size = divmod(which - len(SLOPES), len(SHIFTS))
        return self.shifted_classes[index], SHIFTS[size]


def _log_slope(proba: Array, outcome: Array, slope: float) -> Array:
    ratio = (outcome * proba ** (slope - 1.0)).sum(axis=-1)
    return np.asarray(np.log(ratio) - np.log((proba**slope).sum(axis=-1)))


def clip_proba(proba: Array) -> Array:
    """Clip probabilities away from 0 as `tempocal.inputs` does, and normalize them to sum 1."""
    clipped = np.maximum(proba, SMALLEST_PROBABILITY)
    return np.asarray(clipped / clipped.sum(axis=-1, keepdims=True))


def log_running_after(log_running: Array, settled: int, log_factors: Array) -> Array:
    """Logarithm of R after each of the next bets, along the first axis; R_0 is zero."""
    remaining = remaining_weight(settled + np.arange(len(log_factors) + 1))
    trace = np.empty_like(log_factors)
    for k, log_start in enumerate(np.log(remaining[:-1] - remaining[1:])):
        log_running = np.logaddexp(log_running, log_start) + log_factors[k]
        trace[k] = log_running
    return trace


def log_values(trace: Array, settled: int, log_weights: Array) -> Array:
    """Logarithm of M after each of the bets of a trace that began after ``settled`` of them."""
    bets = logsumexp(trace + log_weights)[..., 0]
    remaining = remaining_weight(settled + 1 + np.arange(len(trace)))
    return np.asarray(np.logaddexp(bets, np.log(remaining).reshape(-1, *[1] * (bets.ndim - 1))))


def remaining_weight(settled: NDArray[np.intp]) -> Array:
    """Return s_n, the total weight of what starts after n settled bets."""
    return np.asarray(1.0 / np.log2(settled + 2.0))

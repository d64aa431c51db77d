"""Search for coefficients whose own forecasts are the targets of their fit.

With targets fixed at a center the loss is minimized as ever. Where the minimum is the center, it is
the root of the estimating function (`tempocal.solve.estimating`). From a center c with the minimum
m, with H the Hessian at fixed targets, A the Jacobian with moving ones and S the penalties, the
root is close to::

    c  +  (A + S)^-1 (H + S) (m - c)

That is Newton's method for the estimating function, and A from a nearby point serves as well. Far
from the root, or where A fails, the next center is the minimum itself, a fixed point iteration that
converges from anywhere in practice, but slowly. Anderson's method shortens both: the next center is
the combination of the last ones for which the changes would be the smallest.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tempocal.links import Array
from tempocal.rows import SequenceRows

# Root mean square change of the linear predictors at which the fixed point is reached, and the one
# below which changes that no longer shrink are rounding errors; both relative to the predictors.
TOLERANCE, ROUNDING = 1e-11, 1e-8
# Centers that are combined, and centers after which the fit counts as not converged.
MEMORY, MAX_CENTERS = 6, 100
# A change that is longer than this share of the one before is slow; where changes grow by the other
# factor the earlier centers are forgotten.
SLOW, GROWTH = 0.5, 2.0
# Changes of the linear predictors that are too long for Newton's method, and steps that are too
# long in comparison with the change.
FAR, TOO_LONG = 0.3, 30.0
# Where it failed it is tried again once changes are shorter than this share.
RETRY = 0.1
# A Jacobian from this near will do at first.
NEAR = 0.3
# With more unknowns their dense matrices cost more than they save.
MAX_UNKNOWNS = 600
RIDGE, TINY = 1e-14, 1e-300


@dataclass(frozen=True)
class Tangent:
    """The estimating function near a center, linear in the unknowns.

    Attributes
    ----------
    penalty, hessian : ndarray of shape (unknowns, unknowns)
        Matrix of the penalties, and Hessian of the loss at fixed targets.
    free : ndarray of bool, shape (unknowns,)
        Which unknowns are not at a bound.
    """

    penalty: Array
    hessian: Array
    free: NDArray[np.bool_]

    def newton_step(self, change: Array, jacobian: Array) -> Array | None:
        """From a center to about the root, given the change to the minimum; None if it fails."""
        moving, free = jacobian + self.penalty, self.free
        residual = (self.hessian + self.penalty) @ change - moving[:, ~free] @ change[~free]
        step = change.copy()
        try:
            step[free] = np.linalg.solve(moving[np.ix_(free, free)], residual[free])
        except np.linalg.LinAlgError:
            return None
        return step if np.isfinite(step).all() else None


class CenterSearch:
    """Where targets are computed next.

    Parameters
    ----------
    rows : SequenceRows
        Rows whose targets move.
    scaled : callable
        From a change of the unknowns to that of the linear predictors, in root mean squares.
    jacobian : callable
        Jacobian at some unknowns, or at a point that is within a distance of them.
    far : float
        Changes of the linear predictors that are too long for Newton's method.
    is_long : callable
        Whether a change is so long that the function is not linear along it.
    """

    def __init__(
        self,
        rows: SequenceRows,
        scaled: Callable[[Array], Array],
        jacobian: Callable[[Array, float], Array],
        far: float = FAR,
        is_long: Callable[[Array], bool] = lambda _: False,
    ) -> None:
        self._rows, self._scaled, self._jacobian = rows, scaled, jacobian
        self._far, self._is_long = far, is_long
        self._had_step = False  # whether the last step was of Newton's method
        self._last, self._n_centers = np.inf, 0
        self._is_fresh = False  # whether the last step had a Jacobian of its own center
        self._newton_below = np.inf  # the change from which on Newton's method is tried
        self._history: list[tuple[Array, Array]] = []  # centers, and where each leads

    def is_found(self, change: Array, size: float) -> bool:
        """Whether the change from the center to its minimum is none, or no further one helps."""
        self._n_centers += 1
        distance, unit = self._distance(change), max(1.0, size)
        stalls = not distance <= SLOW * self._last and self._is_fresh
        found = distance <= TOLERANCE * unit or (stalls and distance <= ROUNDING * unit)
        self._rows.converged = found
        return found or self._n_centers >= MAX_CENTERS

    def next_center(self, center: Array, change: Array, tangent: Callable[[], Tangent]) -> Array:
        """Return the next center, given the change from this one to its minimum."""
        distance = self._distance(change)
        step = self._newton_step(center, change, distance, tangent)
        if not distance <= GROWTH * self._last:
            self._history.clear()
        self._last = distance
        return self._combine(center, change if step is None else step)

    def _newton_step(
        self, center: Array, change: Array, distance: float, tangent: Callable[[], Tangent]
    ) -> Array | None:
        known, self._had_step = self._had_step, False
        is_near = distance <= min(self._far, self._newton_below) and not self._is_long(change)
        if not is_near or len(change) > MAX_UNKNOWNS:
            return None
        is_slow = known and not distance <= SLOW * self._last
        if is_slow and self._is_fresh:
            self._give_up(distance)
            return None
        # After a failure nothing but a Jacobian of this center will do.
        needs_own = is_slow or (not known and self._newton_below < np.inf)
        jacobian = self._jacobian(center + change, 0.0 if needs_own else NEAR)
        step = tangent().newton_step(change, jacobian)
        if step is None or self._is_long(step) or not self._distance(step) <= TOO_LONG * distance:
            self._give_up(distance)
            return None
        if needs_own or not known:
            self._history.clear()
        self._is_fresh, self._had_step = needs_own, True
        return step

    def _give_up(self, distance: float) -> None:
        """Go on without the Jacobian until changes are much shorter."""
        self._newton_below, self._is_fresh = RETRY * distance, False
        self._history.clear()

    def _combine(self, center: Array, step: Array) -> Array:
        """Combine the last centers so that their steps cancel."""
        history = self._history
        history.append((center, step))
        del history[:-MEMORY]
        if len(history) == 1:
            return center + step
        steps = np.stack([self._scaled(one) for _, one in history])
        differences = np.diff(steps, axis=0)
        square = differences @ differences.T
        ridge = RIDGE * np.trace(square) + TINY
        shares = np.linalg.solve(square + ridge * np.eye(len(square)), differences @ steps[-1])
        ends = np.diff(np.stack([at + one for at, one in history]), axis=0)
        combined = step - shares @ ends
        return center + (step if self._is_long(combined) else combined)

    def _distance(self, change: Array) -> float:
        return float(np.linalg.norm(self._scaled(change)))

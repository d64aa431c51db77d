"""The estimating function of rows that learn from forecasts, in coefficients and rates."""

from collections.abc import Callable, Sequence

import numpy as np

from tempocal.links import Array
from tempocal.rows import Directions, SequenceRows
from tempocal.solve.moving_targets import Tangent
from tempocal.solve.penalties import Strengths, as_matrix
from tempocal.solve.problem import Problem, Solution

# Logarithms of rates, relative to the range of time, and the problem at them. Where one is an
# array, the basis and the penalty matrices have a first axis for it.
LogRates = Sequence[float | Array]
MakeProblem = Callable[[LogRates], Problem]

SLOWEST, FASTEST = float(np.log(1e-2)), float(np.log(1e3))
# Step of the log rate in finite differences.
RATE_STEP = 1e-4
# Longest change of a log rate at a time: the curve is not linear in it.
MAX_CHANGE = 0.5


class EstimatingRates:
    """The estimating function near a center of coefficients, followed by log rates."""

    def __init__(self, make_problem: MakeProblem, n_rates: int, strengths: Strengths) -> None:
        self._make_problem, self._n_rates, self._strengths = make_problem, n_rates, strengths
        self._center = np.zeros(0)
        self._directions = np.zeros(0)

    def move_to(self, center: Array) -> Array:
        """Set the center; return the coefficients of every key there."""
        self._center, self._directions = center, self._directions_at(center)
        theta, log_rates = self._split(center)
        return self._make_problem(log_rates).at_keys(theta)

    def scaled(self, change: Array) -> Array:
        """Change of the linear predictors with one of coefficients and rates."""
        return self._rows.scaled(self._directions @ change)

    def is_long(self, change: Array) -> bool:
        """Whether a rate changes so much that the curve is not linear in it."""
        return not float(np.abs(change[-self._n_rates :]).max()) <= MAX_CHANGE

    def jacobian(self, at: Array, within: float) -> Array:
        """Jacobian near some coefficients and rates."""
        theta, log_rates = self._split(at)
        # A Jacobian at nearby rates will do.
        directions = Directions(np.zeros(0), len(at), lambda: self._directions_at(at))
        at_keys = self._make_problem(log_rates).at_keys(theta)
        return self._rows.jacobian_near(at_keys, directions, within=within)

    def tangent(self, log_rates: Sequence[float], solution: Solution) -> Tangent:
        """Return the estimating function near the solution at fixed targets."""
        problem = self._make_problem(log_rates)
        sums = solution.sums or problem.rows.sums(problem.at_keys(solution.theta))
        assert sums.hessian is not None
        size = len(self._center)
        flat = self._directions.reshape(-1, size)
        hessian = flat.T @ (sums.hessian @ self._directions).reshape(-1, size)
        penalty = np.zeros((size, size))
        n = len(solution.theta)
        penalty[:n, :n] = as_matrix(problem.penalty_matrix(self._strengths))
        interior = [SLOWEST < rate < FASTEST for rate in log_rates]
        return Tangent(penalty, hessian, np.append(solution.theta > problem.lower, interior))

    @property
    def _rows(self) -> SequenceRows:
        rows = self._make_problem((1.0,) * self._n_rates).rows
        assert isinstance(rows, SequenceRows)
        return rows

    def _directions_at(self, center: Array) -> Array:
        """Coefficients of every key by each unknown: (keys, coefficients of a key, unknowns)."""
        theta, log_rates = self._split(center)
        problem = self._make_problem(log_rates)
        basis, width = np.asarray(problem.basis, np.float64), problem.rows.n_coefficients
        by_table = basis[:, None, :, None] * np.eye(width)[:, None, :]
        parts = [by_table.reshape(len(basis), width, len(theta))]
        for k in range(self._n_rates):
            ends = []
            for step in (-RATE_STEP, RATE_STEP):
                moved = list(log_rates)
                moved[k] += step
                ends.append(self._make_problem(moved).at_keys(theta))
            parts.append(((ends[1] - ends[0]) / (2 * RATE_STEP))[:, :, None])
        return np.concatenate(parts, axis=2)

    def _split(self, unknowns: Array) -> tuple[Array, list[float]]:
        return unknowns[: -self._n_rates], unknowns[-self._n_rates :].tolist()

"""A fitted curve, linearized in its coefficients and the logarithms of its rates."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tempocal.inputs import Groups
from tempocal.lazy import cached
from tempocal.links import Array
from tempocal.maps import Basis
from tempocal.rows import SequenceRows
from tempocal.solve import Scatter, Strengths, projected_squares
from tempocal.solve.estimating import average_share, average_shares, scaled_by
from tempocal.solve.estimating_rates import FASTEST, SLOWEST
from tempocal.solve.linear_systems import invert_blocks
from tempocal.solve.penalties import as_matrix

if TYPE_CHECKING:
    from tempocal.temporal.fit_along_time import CurveFit

# Step of the log rate in finite differences.
RATE_STEP = 1e-4


class Linearization:
    """A fitted curve, linearized in its coefficients and log rates."""

    def __init__(self, fitted: "CurveFit") -> None:
        self.fitted, self.problem = fitted, fitted.problem
        theta = fitted.result.solution.theta
        rates = fitted.log_rates if fitted.problem.basis.ndim == 2 else ()
        self.n_rates = len(rates)
        # The basis one step up and one step down in each log rate.
        self.basis_up = tuple(basis_at_rate(fitted, k, RATE_STEP) for k in range(len(rates)))
        self.basis_down = tuple(basis_at_rate(fitted, k, -RATE_STEP) for k in range(len(rates)))
        self.table = theta.reshape(-1, fitted.problem.rows.n_coefficients)
        # A rate at a bound of its range is treated as fixed.
        interior = np.array([SLOWEST < rate < FASTEST for rate in rates], dtype=bool)
        self.free = np.append(theta > fitted.problem.lower, interior)

    def hessian_and_scatter(self, groups: Groups | None) -> tuple[Array | None, Scatter | None]:
        """Hessian of the loss and scatter of its gradient over groups, rates included.

        Without rates the Hessian is that of the solution, and None is returned for it.
        """
        problem, solution = self.problem, self.fitted.result.solution
        if not self.n_rates:
            return None, None if groups is None else Scatter.of(problem, solution, groups)
        at_keys, directions, hessian = (
            problem.at_keys(solution.theta),
            self.directions,
            self.hessian,
        )
        if isinstance(problem.rows, SequenceRows):
            hessian = self.information
        if groups is None:
            return hessian[None], None

        def project(tables: Sequence[Any]) -> Array:
            parts = [table @ directions[:, p] for p, table in enumerate(tables)]
            return np.asarray(np.sum(parts, axis=0))

        squares = projected_squares(problem, at_keys, groups, project)
        return hessian[None], Scatter(squares[None], np.array([float(groups.count)]))

    @property
    def _strengths(self) -> Strengths:
        return self.fitted.result.strengths

    def inverse(self, matrix: Array) -> Array:
        """Inverse over the coefficients and rates that are free."""
        bandwidth = None if self.n_rates else self.problem.bandwidth
        return np.asarray(invert_blocks(matrix[None], self.free[None], bandwidth=bandwidth)[0])

    def penalty_matrix(self, strengths: Strengths, effect: float) -> Array:
        """Return the penalty matrix; for a log rate, the precision of a uniform prior."""
        n = len(self.problem.identity)
        penalty_matrix = (effect * 12.0 / (FASTEST - SLOWEST) ** 2) * np.eye(n + self.n_rates)
        penalty_matrix[:n, :n] = as_matrix(self.problem.penalty_matrix(strengths))
        return penalty_matrix

    @cached
    def hessian(self) -> Array:
        """Hessian of the loss in the coefficients and rates."""
        problem, solution = self.problem, self.fitted.result.solution
        sums = solution.sums or problem.rows.sums(problem.at_keys(solution.theta))
        assert sums.hessian is not None
        # Gauss-Newton: without the second derivative of the curve times the gradient, which is
        # noise at the optimum and made the Hessian in the rate negative for nearly flat curves.
        size = self.directions.shape[2]  # of (keys, width, coefficients and rates)
        by_key = (sums.hessian @ self.directions).reshape(-1, size)
        return np.asarray(self.directions.reshape(-1, size).T @ by_key)

    @cached
    def jacobian(self) -> Array:
        """Minus the derivative of the estimating function of rows that learn from forecasts."""
        rows = self.problem.rows
        assert isinstance(rows, SequenceRows)
        at_keys = self.problem.at_keys(self.fitted.result.solution.theta)
        return rows.sequences.jacobian(at_keys, self.directions)

    @cached
    def share(self) -> float:
        """Average of that derivative relative to the Hessian."""
        inverse = self.inverse(self.hessian + self.penalty_matrix(self._strengths, 1.0))
        return average_share(inverse[None], self.jacobian[None], self.hessian[None])

    @cached
    def information(self) -> Array:
        """Hessian times the shares of it that moving targets leave."""
        inverse = self.inverse(self.hessian + self.penalty_matrix(self._strengths, 1.0))
        n, width = len(self.problem.identity), self.table.shape[1]
        own = np.s_[None, :n, :n]
        shares = average_shares(inverse[own], self.jacobian[own], self.hessian[own], width)
        every = np.append(np.tile(shares, n // width), np.full(self.n_rates, self.share))
        return np.asarray(scaled_by(every, self.hessian[None])[0])

    @cached
    def directions(self) -> Array:
        """Differentiate the coefficients at every key by the curve's coefficients and log rates."""
        basis, (count, width) = self._basis_at_keys(), self.table.shape
        by_table = basis[:, None, :, None] * np.eye(width)[:, None, :]
        by_table = by_table.reshape(len(basis), width, count * width)
        by_rate = [(derivative @ self.table)[:, :, None] for derivative in self._rate_derivatives()]
        return np.concatenate([by_table, *by_rate], axis=2)

    def _rate_derivatives(self) -> list[Array]:
        """Differentiate the basis by each log rate, at the keys."""
        times = self.fitted.track.grid.times
        return [
            (up(times) - down(times)) / (2 * RATE_STEP)
            for up, down in zip(self.basis_up, self.basis_down, strict=True)
        ]

    def _basis_at_keys(self) -> Array:
        basis = self.problem.basis
        if basis.ndim == 2:
            return np.asarray(basis, dtype=np.float64)
        return np.asarray(basis[:, None] == np.arange(len(self.table)), dtype=np.float64)


def basis_at_rate(fitted: "CurveFit", k: int, step: float) -> Basis:
    """Return the basis with one log rate changed."""
    rates = fitted.log_rates
    return fitted.shape_at((*rates[:k], rates[k] + step, *rates[k + 1 :])).basis


def readout_of(fitted: "CurveFit") -> Array:
    """From coefficients of a key to the numbers of the map."""
    readout = fitted.model.readout
    return np.eye(len(fitted.model.identity)) if readout is None else readout

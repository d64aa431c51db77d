"""Limited-memory BFGS, for models with too many coefficients for a Hessian."""

import numpy as np
from scipy.optimize import minimize

from tempocal.links import Array
from tempocal.solve.penalties import Strengths
from tempocal.solve.problem import Problem, Solution

# Largest component of the mean gradient, and relative change of the objective, at which to stop.
GRADIENT_TOLERANCE = 1e-7
VALUE_TOLERANCE = 1e-13
MAX_ITERATIONS = 2000
# How much further to look for a loss, if it is this small, that still falls.
FURTHER = 0.1
SMALL_LOSS = 1e-4
# Added to the curvature of every direction, some of which may have none.
RIDGE = 1e-9


def minimize_lbfgs(problem: Problem, strengths: Strengths, start: Array) -> Solution:
    """Minimize the penalized loss of a problem from its gradients alone."""
    penalty_matrix = problem.penalty_matrix(strengths)
    weight = problem.rows.total_weight

    basis = _round_basis(problem, penalty_matrix)
    width = len(basis)

    # Coefficients are measured from the identity, and in a basis in which the objective is round.
    def to_offset(inner: Array) -> Array:
        return np.asarray(inner.reshape(-1, width) @ basis).ravel()

    def objective(inner: Array) -> tuple[float, Array]:
        theta = problem.identity + to_offset(inner)
        point = problem.evaluate(theta, strengths, hessian=False)
        gradient = point.gradient.reshape(-1, width) @ basis.T
        return point.value / weight, gradient.ravel() / weight

    inner = np.linalg.solve(basis.T, (start - problem.identity).reshape(-1, width).T).T
    result = minimize(
        objective,
        inner.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={
            "maxiter": MAX_ITERATIONS,
            "maxfun": 2 * MAX_ITERATIONS,
            "maxcor": 20,
            "ftol": VALUE_TOLERANCE,
            "gtol": GRADIENT_TOLERANCE,
        },
    )
    offset = to_offset(result.x)
    theta = problem.identity + offset
    # Of separable data nothing is left of the loss, and along a ray from zero it still falls.
    further = problem.evaluate((1.0 + FURTHER) * theta, strengths, hessian=False).value / weight
    return Solution(
        theta=theta,
        loss=float(result.fun) * weight - problem.penalty_value(strengths, theta),
        hessian=None,
        gradient=None,
        passes=int(result.nfev) + 1,
        converged=bool(result.success),
        unbounded=bool(further < result.fun < SMALL_LOSS),
    )


def _round_basis(problem: Problem, penalty_matrix: Array) -> Array:
    """Rows of coefficients are inner ones times this: the inverse root of their curvature."""
    width = len(problem.moment)
    diagonal = penalty_matrix if penalty_matrix.ndim == 1 else np.diag(penalty_matrix)
    curvature = problem.moment + np.diag(diagonal.reshape(-1, width).mean(axis=0))
    scale = np.sqrt(np.diag(curvature) / problem.rows.total_weight)
    scale[scale == 0.0] = 1.0
    correlation = curvature / problem.rows.total_weight / np.outer(scale, scale)
    root = np.linalg.cholesky(correlation + RIDGE * np.eye(width))
    return np.asarray(np.linalg.inv(root) / scale, dtype=np.float64)

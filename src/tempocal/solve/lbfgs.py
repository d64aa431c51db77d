"""Limited-memory BFGS, for models with too many coefficients for a Hessian.

The problem is preconditioned: coefficients are measured from the identity, in a basis in which the
approximate Hessian is the identity matrix.
"""

import numpy as np
from scipy.optimize import minimize

from tempocal.links import Array
from tempocal.solve.penalties import Strengths
from tempocal.solve.problem import Problem, Solution

# Largest component of the mean gradient, and relative change of the objective, at which to stop.
GRADIENT_TOLERANCE = 1e-7
VALUE_TOLERANCE = 1e-13
MAX_ITERATIONS = 2000
# A mean loss below SMALL_LOSS that still decreases when the coefficients grow by this share means
# that the data are separable.
EXTRAPOLATION = 0.1
SMALL_LOSS = 1e-4
# Added to the correlation matrix, which may be singular.
RIDGE = 1e-9


def minimize_lbfgs(problem: Problem, strengths: Strengths, start: Array) -> Solution:
    """Minimize the penalized loss of a problem with L-BFGS."""
    penalty_matrix = problem.penalty_matrix(strengths)
    weight = problem.rows.total_weight

    preconditioner = _preconditioner(problem, penalty_matrix)
    width = len(preconditioner)

    def to_offset(preconditioned: Array) -> Array:
        return np.asarray(preconditioned.reshape(-1, width) @ preconditioner).ravel()

    def objective(preconditioned: Array) -> tuple[float, Array]:
        theta = problem.identity + to_offset(preconditioned)
        point = problem.evaluate(theta, strengths, hessian=False)
        gradient = point.gradient.reshape(-1, width) @ preconditioner.T
        return point.value / weight, gradient.ravel() / weight

    preconditioned = np.linalg.solve(
        preconditioner.T, (start - problem.identity).reshape(-1, width).T
    ).T
    result = minimize(
        objective,
        preconditioned.ravel(),
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
    extrapolated = (
        problem.evaluate((1.0 + EXTRAPOLATION) * theta, strengths, hessian=False).value / weight
    )
    return Solution(
        theta=theta,
        loss=float(result.fun) * weight - problem.penalty_value(strengths, theta),
        hessian=None,
        gradient=None,
        passes=int(result.nfev) + 1,
        converged=bool(result.success),
        unbounded=bool(extrapolated < result.fun < SMALL_LOSS),
    )


def _preconditioner(problem: Problem, penalty_matrix: Array) -> Array:
    """Inverse square root of the approximate Hessian of a row of coefficients.

    Rows of coefficients are rows of preconditioned coefficients times this matrix.
    """
    width = len(problem.moment)
    diagonal = penalty_matrix if penalty_matrix.ndim == 1 else np.diag(penalty_matrix)
    curvature = problem.moment + np.diag(diagonal.reshape(-1, width).mean(axis=0))
    scale = np.sqrt(np.diag(curvature) / problem.rows.total_weight)
    scale[scale == 0.0] = 1.0
    correlation = curvature / problem.rows.total_weight / np.outer(scale, scale)
    root = np.linalg.cholesky(correlation + RIDGE * np.eye(width))
    return np.asarray(np.linalg.inv(root) / scale, dtype=np.float64)

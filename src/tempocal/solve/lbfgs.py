"""Limited-memory BFGS, for models with too many coefficients for a Hessian."""

from scipy.optimize import minimize

from tempocal.links import Array
from tempocal.solve.problem import Problem, Solution, Strength

# Largest component of the mean gradient, and relative change of the objective, at which to stop.
GRADIENT_TOLERANCE = 1e-7
VALUE_TOLERANCE = 1e-13
MAX_ITERATIONS = 2000
# How much further to look for a loss that still falls.
FURTHER = 0.1


def minimize_lbfgs(problem: Problem, strength: Strength, start: Array) -> Solution:
    """Minimize the penalized loss of a problem from its gradients alone."""
    pull = problem.pull(strength)
    weight = problem.rows.total_weight

    # Coefficients are measured from the identity, so that a start there is zero.
    def objective(offset: Array) -> tuple[float, Array]:
        point = problem.evaluate(problem.identity + offset, pull, hessian=False)
        return point.value / weight, point.gradient / weight

    result = minimize(
        objective,
        start - problem.identity,
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
    offset = result.x
    # Along a ray from zero the loss of separable data falls forever.
    unbounded = objective(offset + FURTHER * (problem.identity + offset))[0] < result.fun
    return Solution(
        theta=problem.identity + offset,
        loss=float(result.fun) * weight - 0.5 * float(pull @ (offset * offset)),
        hessian=None,
        passes=int(result.nfev) + 1,
        converged=bool(result.success),
        unbounded=bool(unbounded),
    )

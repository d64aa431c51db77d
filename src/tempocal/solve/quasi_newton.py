"""Come close to an optimum by gradients alone, where the curvature is about known.

With many coefficients a Hessian takes five times as long as a gradient, or more. The curvature of a
sample is off by a tenth or so, and so each step leaves a tenth of the way. A few of them later,
Newton's method has a last step to take, and no more.
"""

import numpy as np

from tempocal.links import Array
from tempocal.solve.linear_systems import approximate_solver
from tempocal.solve.newton import DECREASE_TOLERANCE
from tempocal.solve.penalties import Strengths, as_matrix
from tempocal.solve.problem import Problem

# Of what a step promises, the next may promise this share, or else the curvature is not known.
MAX_RATIO = 0.25
# No step is trusted to leave less than this share.
MIN_RATIO = 1e-3
# Where the next step would promise this much less than the last one may, there is no need of it.
MARGIN = 0.1


def quasi_newton_steps(
    problem: Problem, strengths: Strengths, start: Array, curvature: Array
) -> tuple[Array, int]:
    """Coefficients close to the optimum, or to where the steps became slow; and passes made.

    ``curvature`` is about that of the loss; bounds are not looked at.
    """
    solve = approximate_solver(curvature + as_matrix(problem.penalty_matrix(strengths)))
    if solve is None:
        return start, 0
    point = problem.evaluate(start, strengths, hessian=False)
    weight, previous, passes = problem.rows.total_weight, np.inf, 1
    while True:
        step = -solve(point.gradient)
        predicted = -0.5 * float(point.gradient @ step)
        if not 0.0 <= predicted <= MAX_RATIO * previous:
            return point.theta, passes
        if max(predicted / previous, MIN_RATIO) * predicted <= MARGIN * DECREASE_TOLERANCE * weight:
            return point.theta + step, passes
        trial = problem.evaluate(point.theta + step, strengths, hessian=False)
        passes += 1
        if not trial.value <= point.value:
            return point.theta, passes
        point, previous = trial, predicted

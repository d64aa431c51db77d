"""Come close to an optimum by gradients alone, where the curvature is about known.

With many coefficients a Hessian takes five times as long as a gradient, or more. The curvature of a
sample is off by a tenth or so, and so each step leaves a tenth of the way. A few of them later,
Newton's method has a last step to take, and no more.
"""

import numpy as np

from tempocal.links import Array
from tempocal.solve.linear_systems import rough_solver
from tempocal.solve.newton import LAST_STEP
from tempocal.solve.penalties import Strengths, as_matrix
from tempocal.solve.problem import Problem

# Of what a step promises, the next may promise this share, or else the curvature is not known.
SLOW = 0.25
# No step is trusted to leave less than this share.
LEAST = 1e-3
# Where the next step would promise this much less than the last one may, there is no need of it.
MARGIN = 0.1


def approach(
    problem: Problem, strengths: Strengths, start: Array, curvature: Array
) -> tuple[Array, int]:
    """Coefficients close to the optimum, or to where the steps became slow; and passes made.

    ``curvature`` is about that of the loss; bounds are not looked at.
    """
    solve = rough_solver(curvature + as_matrix(problem.pull(strengths)))
    if solve is None:
        return start, 0
    point = problem.evaluate(start, strengths, hessian=False)
    weight, before, passes = problem.rows.total_weight, np.inf, 1
    while True:
        step = -solve(point.gradient)
        promised = -0.5 * float(point.gradient @ step)
        if not 0.0 <= promised <= SLOW * before:
            return point.theta, passes
        if max(promised / before, LEAST) * promised <= MARGIN * LAST_STEP * weight:
            return point.theta + step, passes
        trial = problem.evaluate(point.theta + step, strengths, hessian=False)
        passes += 1
        if not trial.value <= point.value:
            return point.theta, passes
        point, before = trial, promised

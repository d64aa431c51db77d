"""Simplified Newton (chord) steps: exact gradients, a fixed approximate Hessian.

With many coefficients a Hessian takes at least five times as long as a gradient. The Hessian of a
subsample is off by about 10 %, so each step leaves about 10 % of the distance to the optimum. After
a few such steps Newton's method has only its last step left to take.
"""

import numpy as np

from tempocal.links import Array
from tempocal.solve.linear_systems import approximate_solver
from tempocal.solve.newton import DECREASE_TOLERANCE
from tempocal.solve.penalties import Strengths, as_matrix
from tempocal.solve.problem import Problem

# Largest ratio of successive predicted decreases: above it the Hessian is too far off to go on.
MAX_RATIO = 0.25
# Smallest ratio assumed when the next decrease is extrapolated from the last two.
MIN_RATIO = 1e-3
# Stop when the extrapolated decrease is this share of what Newton's last step may predict.
MARGIN = 0.1


def quasi_newton_steps(
    problem: Problem, strengths: Strengths, start: Array, curvature: Array
) -> tuple[Array, int]:
    """Return coefficients near the optimum, or where progress stalled, and the number of passes.

    ``curvature`` approximates the Hessian of the loss. Bounds are ignored.
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

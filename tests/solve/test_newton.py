"""Newton's method at its edges: known sums, bounds, budgets, blocks of their own."""

from dataclasses import replace

import numpy as np
import pytest

from support.problems import problem_of
from tempocal.rows import BinaryRows
from tempocal.solve import Problem, minimize_newton
from tempocal.solve.newton import MAX_PASSES
from tempocal.solve.quadratic_loss import QuadraticLoss

NONE = (0.0, 0.0)


def a_slope(seed=0, n=300, scale=1.0, lower=1e-6, weighted=False) -> Problem:
    rng = np.random.default_rng(seed)
    z = scale * rng.normal(size=n)
    y = (rng.logistic(size=n) < 0.7 * z / scale).astype(np.int64)
    weights = rng.exponential(size=n) if weighted else None
    rows = BinaryRows(z[None], y, weights=weights)
    return problem_of(rows, [1.0], lower)


def sums_at(problem, theta):
    return problem.rows.sums(problem.at_keys(theta))


def from_rows(z, y, weights=None, lower=1e-6) -> Problem:
    return problem_of(BinaryRows(z[None], y.astype(np.int64), weights=weights), [1.0], lower)


def separated() -> Problem:
    z = np.linspace(-2.0, 2.0, 40)
    return from_rows(z, z > 0)


def saturated(size=400.0, n=2000) -> Problem:
    """Few rows are misclassified, and all are so confident that no curvature is left."""
    y = np.arange(n) % 2
    z = size * (2.0 * y - 1.0)
    z[:3] *= -1.0
    return from_rows(z, y)


def next_to(problem) -> float:
    return float(minimize_newton(problem, NONE, problem.identity).theta[0])


BEST = next_to(a_slope(seed=3))


def test_known_sums_save_their_pass():
    problem = a_slope()
    far, first = np.array([0.4]), minimize_newton(problem, NONE, np.array([0.4]))
    assert minimize_newton(problem, NONE, far).passes == first.passes > 1
    assert minimize_newton(problem, NONE, first.theta).passes == 1
    sums = sums_at(problem, first.theta)
    again = minimize_newton(problem, NONE, first.theta, sums)
    assert again.passes == 0
    assert again.sums is sums


def test_there_are_at_most_max_passes():
    found = minimize_newton(saturated(), NONE, np.ones(1))
    assert (found.passes, found.converged) == (MAX_PASSES, False)


def test_keys_are_separate_where_nothing_joins_them():
    problem = a_slope()
    assert problem.is_separate
    keys = np.array([0, 0, 1, 1])
    two = BinaryRows(np.ones((1, 4)), np.array([0, 1, 0, 1]), keys=keys, n_keys=2)
    curve = replace(problem, basis=np.array([[2.0]]))
    for other in (problem_of(two, [1.0]), curve, replace(problem, held_out_fold=0)):
        assert not other.is_separate


def test_earlier_rows_are_part_of_the_objective():
    problem = a_slope()
    earlier = QuadraticLoss(np.array([2.0]), np.zeros(1), np.full((1, 1, 1), 1e9))
    found = minimize_newton(replace(problem, earlier_loss=earlier), NONE, np.ones(1))
    assert found.theta[0] == pytest.approx(2.0, abs=1e-6)


@pytest.mark.parametrize("rows", [separated(), saturated(n=4)], ids=["separated", "three of four"])
def test_a_scalar_is_unbounded_where_no_row_is_misclassified(rows):
    """The rows decide, whatever the last step and the loss look like."""
    z, y = rows.rows._input_features[0], rows.rows._input_targets
    has_errors = ((z > 0) != (y > 0)).any()
    for start in (0.5, 1.0, 30.0):
        assert minimize_newton(rows, NONE, np.array([start])).unbounded is not has_errors


def test_a_start_below_the_bound_is_put_on_it():
    problem = a_slope(seed=3, lower=BEST + 1e-9)
    below = minimize_newton(problem, NONE, np.array([BEST]))
    assert (below.theta == problem.lower).all()
    assert (below.step == 0.0).all()

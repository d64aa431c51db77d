"""The evidence on the quadratic approximation: its gradient, and its maximum by scipy."""

import numpy as np
import pytest
from scipy.optimize import minimize

from support.evidence_problems import CURVES, evidence_at, problem_of
from tempocal.inputs import Groups
from tempocal.solve import fit, fit_by_evidence
from tempocal.solve.evidence import log_evidence, min_strengths_of
from tempocal.solve.laplace import LaplaceApproximation

AUTO = (None, None, None, None)


STRENGTHS, EFFECT = (2.0, 3.0, 0.5, 7.0), 1.5


@pytest.fixture(params=CURVES)
def problem(request):
    return problem_of(request.param, "rising", platt=True)


@pytest.fixture
def solution(problem):
    return fit(problem, STRENGTHS, fit(problem, STRENGTHS).theta)


@pytest.fixture
def approximation(problem, solution):
    return LaplaceApproximation(problem, solution, STRENGTHS, EFFECT)


@pytest.mark.parametrize("mode_in_log", [False, True])
def test_the_gradient_is_that_of_finite_differences(problem, solution, mode_in_log):
    approximation = LaplaceApproximation(
        problem, solution, STRENGTHS, EFFECT, mode_in_log=mode_in_log
    )
    logs, step = np.log([0.7, 30.0, 4.0, 0.2]), 1e-4
    steps = step * np.vstack([np.eye(4), -np.eye(4)])
    values, _ = approximation.evidence(np.exp(logs + steps))
    wanted = (values[:4] - values[4:]) / (2 * step)
    _, gradients = approximation.evidence(np.exp(logs)[None])
    np.testing.assert_allclose(gradients[0], wanted, rtol=1e-6, atol=1e-7)


def test_next_to_the_fit_the_evidence_changes_as_the_exact_one(problem, approximation):
    """But for the change of the Hessian with the fit, which the approximation leaves out."""
    near = np.array(STRENGTHS) * 1.02
    values, _ = approximation.evidence(np.stack([approximation.prior, near / EFFECT]))
    exact = [
        log_evidence(problem, fit(problem, tuple(one)), tuple(one), EFFECT)
        for one in (STRENGTHS, near.tolist())
    ]
    assert values[1] - values[0] == pytest.approx(exact[1] - exact[0], rel=0.1)


def test_no_other_strengths_have_more_evidence(problem, approximation):
    smallest = min_strengths_of(problem)
    best = np.array(approximation.best_strengths(smallest, AUTO)) / EFFECT

    def down(logs):
        return -approximation.evidence(np.exp(logs)[None])[0][0]

    bounds = [(np.log(one), 12.0) for one in smallest]
    starts = [np.log(best), np.zeros(4), np.full(4, 5.0)]
    found = [minimize(down, one, method="L-BFGS-B", bounds=bounds).fun for one in starts]
    assert down(np.log(best)) <= min(found) + 1e-7


def test_strengths_of_few_groups_that_run_away_take_few_fits():
    problem = problem_of("spline", "true already", platt=True, n=100)
    groups = Groups(np.repeat(np.arange(4), 25), 4)
    chosen = fit_by_evidence(problem, groups)
    assert chosen.solution.passes < 80
    assert evidence_at(problem, chosen.strengths) < 0


@pytest.mark.parametrize("effect", [1.0, 1.7, 2.0414524])
def test_a_strength_at_its_bound_does_not_stop_the_others(effect):
    """Multiplied by the design effect and divided again it may be a rounding error off."""
    problem = problem_of("random walk", "wild", platt=True)
    smallest = min_strengths_of(problem)
    strengths = tuple(effect * s for s in (smallest[0], smallest[1], 0.5, 7.0))
    solution = fit(problem, strengths)
    solution = fit(problem, strengths, solution.theta)
    approximation = LaplaceApproximation(problem, solution, strengths, effect)
    one = approximation.best_strengths(smallest, AUTO)
    held = approximation.best_strengths(smallest, (one[0], one[1], None, None))
    assert abs(np.log(one[2] / strengths[2])) > 0.01
    np.testing.assert_allclose(one, held, rtol=1e-6)

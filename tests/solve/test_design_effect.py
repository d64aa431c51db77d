"""Design effects of the trend and of the roughness of a curve."""

from dataclasses import replace

import numpy as np
import pytest

from support.evidence_problems import problem_of
from tempocal.inputs import Groups
from tempocal.solve import Effects, design_effect, fit
from tempocal.solve.design_effect import TrendSplit
from tempocal.solve.evidence import alternative_fit, min_strengths_of
from tempocal.solve.laplace import LaplaceApproximation

STRENGTHS = (2.0, 3.0, 0.5, 7.0)
AUTO = (None, None, None, None)


@pytest.fixture
def problem():
    """A spline of slopes and biases whose straight lines are told apart."""
    found = problem_of("spline", "rising", platt=True)
    count = found.n_coefficients // 2
    lines = np.stack([np.ones(count), np.linspace(-1, 1, count)], axis=1)
    smooth = [replace(one, stride=2) for one in found.penalties[2:]]
    trend = np.kron(lines, np.eye(2))
    return replace(found, trend=trend, penalties=(*found.penalties[:2], *smooth))


@pytest.fixture
def solution(problem):
    return fit(problem, STRENGTHS, fit(problem, STRENGTHS).theta)


def approximation_of(problem, solution, effects):
    return LaplaceApproximation.at(problem, solution, STRENGTHS, effects)


def test_smoothing_penalties_leave_the_trend_alone(problem):
    for penalty in problem.penalties[2:]:
        np.testing.assert_allclose(penalty.matrix @ problem.trend, 0.0, atol=1e-9)


def test_the_two_parts_add_up_and_the_rough_one_has_no_trend(problem, solution):
    split, [hessian] = TrendSplit.of(problem, solution.hessian), solution.hessian
    np.testing.assert_allclose(split.trend + split.rough, np.eye(len(hessian)))
    np.testing.assert_allclose(split.trend @ split.trend, split.trend, atol=1e-9)
    np.testing.assert_allclose(problem.trend.T @ split.rough, 0.0, atol=1e-9)
    # Both parts of the Hessian are symmetric: no information is counted in both.
    np.testing.assert_allclose(split.rough @ hessian, hessian @ split.rough.T, atol=1e-8)


def test_equal_effects_are_one(problem, solution):
    """Told apart or not: if both are the same, so is the evidence and what follows from it."""
    points = np.array([STRENGTHS, (0.1, 20.0, 3.0, 0.4)])
    one, two = (
        approximation_of(problem, solution, effects)
        for effects in (Effects(1.5), Effects(1.5, 1.5))
    )
    for a, b in zip(one.evidence(points), two.evidence(points), strict=True):
        np.testing.assert_allclose(a - a[0], b - b[0], atol=1e-9)
    np.testing.assert_allclose(one.coefficients(points[1]), two.coefficients(points[1]))


@pytest.mark.parametrize("mode_in_log", [False, True])
def test_the_evidence_is_that_of_a_normal_distribution(problem, solution, mode_in_log):
    """Written out: without penalties the coefficients are normal, with covariances added up."""
    effects = Effects(3.0, 0.8)
    found = LaplaceApproximation.at(problem, solution, STRENGTHS, effects, mode_in_log=mode_in_log)
    assert found.free.all()
    [hessian], offset = solution.hessian, solution.theta - problem.identity
    penalties = [one.matrix for one in problem.penalties]
    total = sum(s * one for s, one in zip(STRENGTHS, penalties, strict=True))
    unpenalized = offset + np.linalg.solve(hessian, total @ offset)
    products = hessian @ problem.trend
    of_trend = products @ np.linalg.inv(problem.trend.T @ products) @ products.T
    information = of_trend / 3.0 + (hessian - of_trend) / 0.8
    points = np.array([(0.7, 3.0, 0.5, 7.0), (0.1, 20.0, 3.0, 0.4), (5.0, 0.2, 90.0, 1.0)])

    def evidence(point):
        prior = sum(s * one for s, one in zip(point, penalties, strict=True))
        covariance = np.linalg.inv(prior) + np.linalg.inv(information)
        fit_term = unpenalized @ np.linalg.solve(covariance, unpenalized)
        in_log = np.array([mode_in_log, mode_in_log, True, True])
        hyperprior = np.log1p(1 / point) + 0.5 * in_log * np.log(point)
        return -0.5 * (np.linalg.slogdet(covariance)[1] + fit_term) - hyperprior.sum()

    values, _ = found.evidence(points)
    wanted = np.array([evidence(point) for point in points])
    np.testing.assert_allclose(values - values[0], wanted - wanted[0], rtol=1e-6, atol=1e-7)


def test_the_gradient_of_the_evidence_is_that_of_finite_differences(problem, solution):
    found = approximation_of(problem, solution, Effects(3.0, 0.8))
    logs, step = np.log([0.7, 30.0, 4.0, 0.2]), 1e-4
    steps = step * np.vstack([np.eye(4), -np.eye(4)])
    values, _ = found.evidence(np.exp(logs + steps))
    _, gradients = found.evidence(np.exp(logs)[None])
    wanted = (values[:4] - values[4:]) / (2 * step)
    np.testing.assert_allclose(gradients[0], wanted, rtol=1e-6, atol=1e-7)


def test_coefficients_at_other_strengths_are_those_of_the_fit(problem, solution):
    """On the quadratic of the whole loss, which a fit divides by no effects."""
    found = approximation_of(problem, solution, Effects(3.0, 0.8))
    np.testing.assert_allclose(
        found.coefficients(STRENGTHS), solution.theta - problem.identity, atol=1e-9
    )
    others = (1.0, 2.0, 5.0, 0.3)
    [hessian], offset = solution.hessian, solution.theta - problem.identity
    before, after = (problem.penalty_matrix(one) for one in (STRENGTHS, others))
    wanted = np.linalg.solve(hessian + after, (hessian + before) @ offset)
    np.testing.assert_allclose(found.coefficients(others), wanted, atol=1e-8)


def test_copies_of_rows_have_an_effect_of_their_number_on_both_parts(problem):

    n = 600
    repeated = problem_of("spline", "rising", platt=True, n=n, repeat=5)
    repeated = replace(repeated, trend=problem.trend, penalties=problem.penalties)
    groups = Groups(np.repeat(np.arange(n), 5), n)
    found = fit(repeated, STRENGTHS)
    effects = design_effect(repeated, found, groups, STRENGTHS)
    assert effects.mean == pytest.approx(5.0, rel=0.2)
    assert effects.rough == pytest.approx(5.0, rel=0.2)


def test_strengths_of_roughness_are_weaker_in_bands(problem, solution):
    effects, smallest = Effects(3.0, 0.8), min_strengths_of(problem)
    found = alternative_fit(
        problem,
        solution,
        STRENGTHS,
        effects,
        fixed_strengths=AUTO,
        min_strengths=smallest,
    )
    quadratic = LaplaceApproximation.at(problem, solution, STRENGTHS, effects, mode_in_log=True)
    mode = quadratic.best_strengths(smallest, AUTO)
    assert found.strengths[:2] == mode[:2]
    assert found.strengths[2] < mode[2]
    # A strength that the user gave is no estimate.
    fixed = (None, None, 0.5, 7.0)
    held = alternative_fit(
        problem,
        solution,
        STRENGTHS,
        effects,
        fixed_strengths=fixed,
        min_strengths=smallest,
    )
    assert held.strengths[2:] == (0.5, 7.0)

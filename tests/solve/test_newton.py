"""The scalar shortcut takes the same last step as Newton's method, or leaves it to that."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from support.problems import problem_of
from tempocal.rows import BinaryRows
from tempocal.solve import Problem, fit, minimize_newton, newton
from tempocal.solve.newton import MAX_PASSES, _check_unbounded, _scalar_last_step, run_newton
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


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 200),
    scale=st.sampled_from([1e-3, 0.05, 0.3, 1.0, 5.0, 1e3]),
    strength=st.sampled_from([0.0, 0.3, 20.0, 1e6]),
    off=st.sampled_from([0.0, 1e-9, -1e-7, 1e-5, 0.01, -0.5]),
    weighted=st.booleans(),
)
def test_it_is_the_step_of_newtons_method(*, seed, n, scale, strength, off, weighted):
    problem, strengths = a_slope(seed, n, scale, weighted=weighted), (strength, 0.0)
    start = np.maximum((1.0 + off) * fit(problem, strengths).theta, problem.lower)
    sums = sums_at(problem, start)
    quick = _scalar_last_step(problem, strengths, start, sums, passes=1)
    assume(quick is not None)
    slow = _check_unbounded(problem, strengths, run_newton(problem, strengths, start))
    assert (quick.passes, quick.converged, quick.unbounded) == (1, True, slow.unbounded)
    assert slow.passes == 1
    assert slow.converged
    np.testing.assert_allclose(quick.theta, slow.theta, rtol=1e-14)
    np.testing.assert_allclose(quick.loss, slow.loss, rtol=1e-12)
    # There the penalty was added and subtracted again.
    np.testing.assert_allclose(quick.hessian, slow.hessian, rtol=1e-14, atol=1e-15 * strength)
    rounding = 1e-12 * (quick.hessian.item() + strength) * max(1.0, abs(start.item()))
    np.testing.assert_allclose(quick.gradient, slow.gradient, atol=rounding)
    np.testing.assert_allclose(quick.theta - quick.step, start, rtol=1e-15)
    assert quick.sums is sums


@pytest.mark.parametrize("strength", [0.0, 5.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_next_to_the_optimum_it_is_taken(strength, weighted):
    problem, strengths = a_slope(weighted=weighted), (strength, 0.0)
    start = (1.0 + 1e-8) * run_newton(problem, strengths, problem.identity).theta
    assert (
        _scalar_last_step(problem, strengths, start, sums_at(problem, start), passes=1) is not None
    )


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


def heavy() -> Problem:
    """Confident rows of large weight: next to no curvature relative to the total weight."""
    z, y = np.array([20.0, -20.0, 1e-3, -1e-3]), np.array([1, 0, 0, 1])
    return from_rows(z, y, weights=np.array([1e15, 1e15, 1.0, 1.0]))


def next_to(problem) -> float:
    return float(run_newton(problem, NONE, problem.identity).theta[0])


BEST = next_to(a_slope(seed=3))
DOUBTFUL = {
    "a long step": (a_slope(), 0.4),
    "tiny logits, whose slope is far away": (a_slope(scale=0.01), next_to(a_slope(scale=0.01))),
    "separated": (separated(), 30.0),
    "nothing left to lose": (separated(), 1e4),
    "no curvature": (separated(), 1e6),
    "hardly any curvature": (heavy(), 1.0),
    "saturated": (saturated(), 1.0),
    "saturated, with a far step": (saturated(size=380.0), 1.0),
    "at the bound": (a_slope(seed=3, lower=BEST), BEST),
    "over the bound": (a_slope(seed=3, lower=BEST + 1e-9), BEST + 2e-9),
    "not a number": (a_slope(), np.nan),
}


@pytest.mark.parametrize(("problem", "start"), DOUBTFUL.values(), ids=DOUBTFUL)
def test_what_is_in_doubt_is_left_to_newtons_method(problem, start):
    theta = np.array([start])
    assert _scalar_last_step(problem, NONE, theta, sums_at(problem, theta), passes=1) is None


def test_it_takes_the_place_of_newtons_method(monkeypatch):
    problem = a_slope()
    best = run_newton(problem, NONE, problem.identity).theta
    monkeypatch.setattr(newton, "run_newton", None)
    assert minimize_newton(problem, NONE, best).converged


def test_its_pass_is_counted_also_if_newtons_method_continues():
    problem = a_slope()
    far, first = np.array([0.4]), run_newton(problem, NONE, np.array([0.4]))
    assert minimize_newton(problem, NONE, far).passes == first.passes > 1
    assert minimize_newton(problem, NONE, first.theta).passes == 1
    sums = sums_at(problem, first.theta)
    assert minimize_newton(problem, NONE, first.theta, sums).passes == 0


def test_there_are_at_most_max_passes():
    found = minimize_newton(saturated(), NONE, np.ones(1))
    assert (found.passes, found.converged) == (MAX_PASSES, False)


def test_it_is_for_a_single_coefficient_only():
    problem = a_slope()
    assert problem.is_scalar
    keys = np.array([0, 0, 1, 1])
    two = BinaryRows(np.ones((1, 4)), np.array([0, 1, 0, 1]), keys=keys, n_keys=2)
    curve = replace(problem, basis=np.array([[2.0]]))
    later = replace(
        problem, earlier_loss=QuadraticLoss(np.ones(1), np.zeros(1), np.ones((1, 1, 1)))
    )
    for other in (problem_of(two, [1.0]), curve, later, replace(problem, held_out_fold=0)):
        assert not other.is_scalar


def test_a_start_below_the_bound_is_put_on_it():
    problem = a_slope(seed=3, lower=BEST + 1e-9)
    below = minimize_newton(problem, NONE, np.array([BEST]))
    assert (below.theta == problem.lower).all()
    assert (below.step == 0.0).all()

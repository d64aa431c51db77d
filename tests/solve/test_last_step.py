"""One step in plain numbers is the step that Newton's method takes, or is left to it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tempocal.rows import BinaryRows
from tempocal.solve import Problem, minimize_newton
from tempocal.solve.newton import _judged, _last_step, descend_newton


def a_slope(seed=0, n=300, scale=1.0, lower=1e-6, weighted=False) -> Problem:
    rng = np.random.default_rng(seed)
    z = scale * rng.normal(size=n)
    y = (rng.logistic(size=n) < 0.7 * z / scale).astype(np.int64)
    weights = rng.exponential(size=n) if weighted else None
    rows = BinaryRows(z[None], y, weights=weights)
    return Problem.around(rows, [1.0], [False], lower=lower)


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
    optimum = descend_newton(problem, strengths, problem.identity)
    start = np.maximum((1.0 + off) * optimum.theta, problem.lower)
    sums = sums_at(problem, start)
    quick = _last_step(problem, strengths, start, sums, passes=1)
    assume(quick is not None)
    slow = _judged(problem, strengths, descend_newton(problem, strengths, start))
    assert (quick.passes, quick.converged, quick.unbounded) == (1, True, slow.unbounded)
    assert slow.passes == 1
    assert slow.converged
    np.testing.assert_allclose(quick.theta, slow.theta, rtol=1e-14)
    np.testing.assert_allclose(quick.loss, slow.loss, rtol=1e-12)
    # There the pull was added, and taken off again.
    np.testing.assert_allclose(quick.hessian, slow.hessian, rtol=1e-14, atol=1e-15 * strength)
    np.testing.assert_allclose(quick.theta - quick.step, start, rtol=1e-15)
    assert quick.sums is sums


@pytest.mark.parametrize("strength", [0.0, 5.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_next_to_the_optimum_it_is_taken(strength, weighted):
    problem, strengths = a_slope(weighted=weighted), (strength, 0.0)
    start = (1.0 + 1e-8) * descend_newton(problem, strengths, problem.identity).theta
    assert _last_step(problem, strengths, start, sums_at(problem, start), passes=1) is not None


def separated() -> Problem:
    z = np.linspace(-2.0, 2.0, 40)
    return Problem.around(BinaryRows(z[None], (z > 0).astype(np.int64)), [1.0], [False])


DOUBTFUL = {
    "a long step": (a_slope(), 0.4),
    "tiny logits, whose slope is far away": (a_slope(scale=0.01), None),
    "huge logits": (a_slope(scale=1e9), None),
    "separated": (separated(), 30.0),
    "nothing left to lose": (separated(), 1e4),
    "no curvature": (separated(), 1e6),
    "at the bound": (a_slope(seed=3, lower=2.0), 2.0),
    "beyond the bound": (a_slope(seed=3, lower=2.0), 2.0 + 1e-12),
    "not a number": (a_slope(), np.nan),
}


@pytest.mark.parametrize(("problem", "start"), DOUBTFUL.values(), ids=DOUBTFUL)
def test_what_is_in_doubt_is_left_to_newtons_method(problem, start):
    none = (0.0, 0.0)
    theta = descend_newton(problem, none, problem.identity).theta if start is None else [start]
    theta = np.asarray(theta)
    assert _last_step(problem, none, theta, sums_at(problem, theta), passes=1) is None


def test_its_pass_is_counted_whoever_goes_on():
    problem, none = a_slope(), (0.0, 0.0)
    far, first = np.array([0.4]), descend_newton(problem, none, np.array([0.4]))
    assert minimize_newton(problem, none, far).passes == first.passes > 1
    near = minimize_newton(problem, none, first.theta)
    assert near.passes == 1
    known = sums_at(problem, first.theta)
    assert minimize_newton(problem, none, first.theta, known).passes == 0


def test_it_is_for_one_number_alone():
    problem = a_slope()
    assert problem.is_one_number
    two_keys = BinaryRows(
        np.ones((1, 4)), np.array([0, 1, 0, 1]), keys=np.array([0, 0, 1, 1]), n_keys=2
    )
    curve = replace(problem, basis=np.array([[2.0]]))
    for other in (Problem.around(two_keys, [1.0], [False]), curve, replace(problem, left_out=0)):
        assert not other.is_one_number


def test_a_start_below_the_bound_is_put_on_it():
    problem, none = a_slope(lower=0.5), (0.0, 0.0)
    assert minimize_newton(problem, none, np.array([0.1])).theta == pytest.approx(
        minimize_newton(problem, none, np.array([0.9])).theta, rel=1e-9
    )

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.optimize import lsq_linear
from sklearn.isotonic import isotonic_regression

from support.examples import examples
from tempocal.kernels import native
from tempocal.nonparametric import near_isotonic_path

law = examples(100)


def solve_dual(targets, weights, penalty):
    """Solve by bounded least squares in the dual: b_i = y_i - (u_i - u_{i-1}) / w_i."""
    n = len(targets)
    steps = np.eye(n, n - 1) - np.eye(n, n - 1, -1)
    root = np.sqrt(weights)
    dual = lsq_linear(
        steps / root[:, None], root * targets, bounds=(0.0, penalty), method="bvls", tol=1e-14
    )
    return targets - steps @ dual.x / weights


def assert_optimal(solution, targets, weights, penalty):
    """Check the Karush-Kuhn-Tucker conditions, which a convex problem's solution alone meets."""
    dual = np.cumsum(weights * (targets - solution))
    slack = 1e-10 * weights.sum()
    assert abs(dual[-1]) < slack
    dual, change = dual[:-1], np.diff(solution)
    assert np.all((dual > -slack) & (dual < penalty + slack))
    assert np.all(np.abs(dual[change < -1e-9] - penalty) < slack)
    assert np.all(np.abs(dual[change > 1e-9]) < slack)


PROBLEMS = st.integers(2, 7).flatmap(
    lambda n: st.tuples(
        st.lists(st.sampled_from([0.0, 0.2, 0.5, 0.6, 1.0]), min_size=n, max_size=n),
        st.lists(st.sampled_from([0.3, 1.0, 2.0, 5.0]), min_size=n, max_size=n),
    )
)


@law
@given(PROBLEMS, st.floats(0.01, 3.0))
def test_small_problems_agree_with_a_quadratic_solver(problem, penalty):
    targets, weights = map(np.array, problem)

    found = near_isotonic_path(targets, weights).at(penalty)

    assert found == pytest.approx(solve_dual(targets, weights, penalty), abs=1e-7)


@law
@given(PROBLEMS)
def test_small_problems_are_optimal_at_every_breakpoint_and_between(problem):
    targets, weights = map(np.array, problem)
    path = near_isotonic_path(targets, weights)
    ends = np.append(path.breakpoints, path.breakpoints[-1] + 1.0)

    for penalty in np.concatenate([ends, (ends[:-1] + ends[1:]) / 2]):
        assert_optimal(path.at(penalty), targets, weights, penalty)


@pytest.mark.parametrize("kind", ["labels", "numbers"])
@pytest.mark.parametrize("weighted", [False, True])
def test_long_problems_are_optimal_all_along(kind, weighted):
    rng = np.random.default_rng(3)
    n = 2000
    targets = (rng.random(n) < np.linspace(0.2, 0.7, n)).astype(float)
    targets = targets if kind == "labels" else rng.normal(size=n).cumsum()
    weights = rng.gamma(1.0, size=n) if weighted else np.ones(n)
    path = near_isotonic_path(targets, weights)

    for penalty in path.breakpoints[-1] * np.linspace(0.0, 1.0, 40) ** 4:
        assert_optimal(path.at(penalty), targets, weights, penalty)


def test_it_begins_at_the_targets_and_ends_at_isotonic_regression():
    rng = np.random.default_rng(4)
    targets, weights = rng.random(500), rng.random(500) + 0.1
    path = near_isotonic_path(targets, weights)
    isotonic = isotonic_regression(targets, sample_weight=weights)

    assert path.at(0.0) == pytest.approx(targets, rel=1e-14)
    assert path.at(path.breakpoints[-1]) == pytest.approx(isotonic, abs=1e-12)
    assert path.at(1e9) == pytest.approx(isotonic, abs=1e-12)
    assert np.diff(path.at(0.99 * path.breakpoints[-1])).min() < 0


def test_models_are_ever_fewer_blocks_that_tile_the_values():
    rng = np.random.default_rng(5)
    path = near_isotonic_path(rng.random(200), np.ones(200))
    models = [path.blocks(k) for k in range(len(path.breakpoints))]

    assert np.all(np.diff([len(blocks) for blocks in models]) < 0)
    for blocks in models:
        assert_array_equal(path.start[blocks], np.append(0, path.stop[blocks][:-1]))
        assert path.stop[blocks][-1] == 200


def test_joins_at_the_same_penalty_are_one_breakpoint():
    path = near_isotonic_path(np.tile([1.0, 0.0], 50), np.full(100, 0.1))

    assert path.breakpoints == pytest.approx([0.0, 0.05])
    assert path.at(0.05) == pytest.approx(np.full(100, 0.5))


def test_breakpoints_increase_even_where_rounding_disorders_the_joins():
    rng = np.random.default_rng(6)
    for _ in range(100):
        targets, weights = rng.integers(0, 2, 200) * 1.0, 10 ** rng.uniform(-9.0, 9.0, 200)
        path = near_isotonic_path(targets, weights)
        isotonic = isotonic_regression(targets, sample_weight=weights)

        assert np.all(np.diff(path.breakpoints) > 0)
        assert path.at(path.breakpoints[-1]) == pytest.approx(isotonic, abs=1e-9)


def test_equal_neighbors_are_one_block_from_the_outset():
    path = near_isotonic_path(np.array([0.0, 0.0, 1.0, 1.0, 1.0]), np.ones(5))

    assert_array_equal(path.breakpoints, [0.0])
    assert_array_equal(path.stop[path.blocks(0)], [2, 5])


def test_one_value_is_a_path_of_one_model():
    path = near_isotonic_path(np.array([0.3]), np.array([2.0]))

    assert_array_equal(path.breakpoints, [0.0])
    assert_array_equal(path.at(5.0), [0.3])


@pytest.mark.skipif(
    native is None and not os.environ.get("TEMPOCAL_CI"), reason="the loops are not compiled"
)
@pytest.mark.parametrize("seed", range(20))
def test_the_compiled_chain_is_the_same_to_the_bit(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 3000))
    # Labels have many meetings at once, as ties of a heap.
    targets = (rng.random(n) < 0.5).astype(float) if seed % 2 else rng.normal(size=n)
    weights = np.ones(n) if seed % 3 else rng.exponential(size=n)
    found = near_isotonic_path(targets, weights)
    monkeypatch.setattr("tempocal.nonparametric.solution_path.native", None)
    wanted = near_isotonic_path(targets, weights)
    for name, column in vars(wanted).items():
        np.testing.assert_array_equal(getattr(found, name), column, err_msg=name, strict=True)


def test_meetings_that_overflow_never_come(monkeypatch):
    targets = 1.7e8 * np.where(np.arange(34) % 2, -1.0, 1.0)
    found = near_isotonic_path(targets, np.full(34, 1e300))
    assert np.isfinite(found.breakpoints).all()
    monkeypatch.setattr("tempocal.nonparametric.solution_path.native", None)
    wanted = near_isotonic_path(targets, np.full(34, 1e300))
    assert_array_equal(found.mean, wanted.mean)

"""Fits reach the optimum of their objective, or say that there is none."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from scipy.special import expit

from support.problems import line, problem_of, softmax, with_surrogate
from tempocal.rows import BinaryRows, PerClassRows, SharedRows, in_memory
from tempocal.solve import Problem, fit
from tempocal.solve.lbfgs import minimize_lbfgs

NO_PENALTY = (0.0, 0.0)


def scipy_optimum(problem: Problem, strength: tuple) -> float:
    """Lowest mean objective that a general optimizer finds, from several starts."""
    weight = problem.rows.total_weight

    def objective(theta):
        point = problem.evaluate(theta, strength, hessian=False)
        return point.value / weight, point.gradient / weight

    bounds = [(low, None) for low in problem.lower]
    starts = [problem.identity, np.zeros_like(problem.identity), 0.3 * problem.identity]
    return min(
        minimize(
            objective,
            np.maximum(start, problem.lower),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"ftol": 1e-16, "gtol": 1e-12, "maxiter": 10_000},
        ).fun
        for start in starts
    )


def objective_at(problem: Problem, strength: tuple, theta: np.ndarray) -> float:
    value = problem.evaluate(theta, strength, hessian=False).value
    return value / problem.rows.total_weight


@pytest.mark.parametrize("strength", [NO_PENALTY, (5.0, 0.5), (0.0, 100.0)])
@pytest.mark.parametrize(
    "problem",
    [line(), line(n=40, seed=3), line(scale=1e-3), line(scale=1e4), softmax(True), softmax(False)],
    ids=["line", "40 rows", "tiny logits", "huge logits", "diagonal", "full"],
)
def test_newton_is_as_good_as_a_general_optimizer(problem, strength):
    solution = fit(problem, strength)
    assert solution.converged
    assert not solution.unbounded
    reached = objective_at(problem, strength, solution.theta)
    assert reached <= scipy_optimum(problem, strength) + 1e-9


@pytest.mark.parametrize("diagonal", [True, False])
def test_lbfgs_reaches_what_newton_reaches(diagonal):
    problem, strength = softmax(diagonal), (2.0, 2.0)
    newton = fit(problem, strength)
    lbfgs = minimize_lbfgs(problem, strength, problem.identity)
    assert lbfgs.converged
    assert objective_at(problem, strength, lbfgs.theta) == pytest.approx(
        objective_at(problem, strength, newton.theta), abs=1e-9
    )


def test_the_loss_of_a_solution_is_without_the_penalty():
    problem, strength = line(), (3.0, 4.0)
    solution = fit(problem, strength)
    alone = problem.rows.sums(solution.theta[None])
    assert solution.loss == pytest.approx(alone.loss[0], rel=1e-12)
    np.testing.assert_allclose(solution.hessian, alone.hessian, rtol=1e-3)


def shared(n=40_000, seed=0) -> Problem:
    rng = np.random.default_rng(seed)
    z = 3 * rng.normal(size=(4, n))
    return problem_of(SharedRows(z, (0.6 * z + rng.gumbel(size=z.shape)).argmax(axis=0)), [1.0])


def of_two_kinds(every: int, n=40_000) -> Problem:
    """One row in ``every`` is on the right side, far out; the others are reversed."""
    rng = np.random.default_rng(1)
    u = rng.normal(size=n)
    t = (rng.random(n) < 1 / (1 + np.exp(0.5 * u))).astype(float)
    u[::every], t[::every] = np.abs(u[::every]) + 1.0, 1.0
    return problem_of(BinaryRows(np.stack([3 * u, np.ones(n)]), t), [1.0, 0.0])


@pytest.mark.parametrize("strength", [NO_PENALTY, (5.0, 0.5)])
@pytest.mark.parametrize("size", [20, 500, 5000])
@pytest.mark.parametrize(
    "problem",
    [line(n=40_000), shared(), softmax(diagonal=True, n=40_000), of_two_kinds(8), of_two_kinds(80)],
    ids=["line", "shared", "vector", "misled", "misled by few"],
)
def test_a_sample_of_any_size_leads_to_the_optimum_of_all_rows(
    monkeypatch, problem, size, strength
):
    """Even if the sample is not representative, or too small."""
    monkeypatch.setattr(in_memory, "SAMPLE_ROWS", size)
    monkeypatch.setattr(in_memory, "SAMPLE_PER_COEFFICIENT", 1)
    exact = replace(problem, rows=problem.rows.all_rows)
    surrogate = with_surrogate(exact.rows)
    from_sample = fit(replace(problem, rows=surrogate), strength)
    from_identity = fit(exact, strength)
    assert surrogate is not exact.rows
    ends = [objective_at(exact, strength, one.theta) for one in (from_sample, from_identity)]
    assert abs(ends[0] - ends[1]) <= 1e-13
    slope = exact.evaluate(from_sample.theta, strength).gradient
    assert np.abs(slope).max() <= 1e-9 * problem.rows.total_weight


@pytest.mark.parametrize(
    "problem",
    [line(n=200_000), shared(n=200_000), softmax(diagonal=True, n=200_000)],
    ids=["line", "shared", "vector"],
)
def test_with_a_sample_three_passes_over_all_rows_are_enough(monkeypatch, problem):
    all_rows, passes = problem.rows.all_rows, []

    def sums(theta, *, hessian=True):
        passes.append(theta)
        return type(all_rows).sums(all_rows, theta, hessian=hessian)

    monkeypatch.setattr(all_rows, "sums", sums)
    assert fit(problem, NO_PENALTY).converged
    assert len(passes) <= 3


@pytest.mark.parametrize("seed", range(5))
def test_bounds_hold_and_the_rest_is_optimal(seed):
    """Three features of which some would like a negative coefficient."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(3, 300))
    t = (rng.random(300) < 1 / (1 + np.exp(x[0] - x[1] + 0.2 * x[2]))).astype(float)
    problem = problem_of(BinaryRows(x, t), np.ones(3), lower=[0.0, 0.0, 0.0])
    solution = fit(problem, NO_PENALTY)
    assert (solution.theta >= 0).all()
    assert (solution.theta == 0).any()
    reached = objective_at(problem, NO_PENALTY, solution.theta)
    assert reached <= scipy_optimum(problem, NO_PENALTY) + 1e-9


def test_separable_rows_have_no_finite_optimum():
    z = np.array([-3.0, -2.0, -1.0, 0.5, 1.0, 2.0])
    rows = BinaryRows(z[None], (z > 0).astype(float))
    assert fit(problem_of(rows, [1.0]), NO_PENALTY).unbounded
    assert not fit(problem_of(rows, [1.0]), (0.01, 0.0)).unbounded


@pytest.mark.parametrize("n", [300, 20_000])
@pytest.mark.parametrize("seed", range(5))
def test_separable_rows_of_any_number_have_none(n, seed):
    z = 3.0 * np.random.default_rng(seed).normal(size=n)
    assert fit(problem_of(BinaryRows(z[None], z > 0), [1.0]), NO_PENALTY).unbounded


@pytest.mark.parametrize("n", [500, 5000, 50_000, 200_000])
@pytest.mark.parametrize("size", [1e3, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("strength", [NO_PENALTY, (1.0, 1.0)])
def test_one_huge_logit_on_the_right_side_changes_nothing(n, size, strength):
    rng = np.random.default_rng(1)
    z = 2.0 * rng.normal(size=n)
    t = rng.random(n) < 1.0 / (1.0 + np.exp(-z / 2.0))
    row = int(np.flatnonzero(~t)[5])
    others = BinaryRows(np.delete(z, row)[None], np.delete(t, row))
    wanted = fit(problem_of(others, [1.0]), strength).theta
    z[row] = -size
    # A sum that holds this logit has no more digits than it.
    rounding = max(1e-7, min(1e-14 * size, 1e-3))
    found = fit(problem_of(BinaryRows(z[None], t), [1.0]), strength)
    assert found.converged
    assert not found.unbounded
    np.testing.assert_allclose(found.theta, wanted, rtol=rounding)
    keys = np.zeros(n, dtype=np.intp)
    apart = fit(problem_of(BinaryRows(z[None], t, keys=keys), [1.0]), strength)
    np.testing.assert_allclose(apart.theta, wanted, rtol=rounding)


def test_quasi_separable_rows_have_no_finite_optimum():
    """Both classes at zero, and beyond it only one on each side."""
    z = np.array([-2.0, -1.0, 0.0, 0.0, 1.0, 2.0])
    t = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    assert fit(
        problem_of(BinaryRows(np.stack([z, np.ones(6)]), t), [1.0, 0.0]), NO_PENALTY
    ).unbounded


def test_separable_rows_of_several_classes_have_no_finite_optimum():
    z = np.random.default_rng(0).normal(size=(3, 60))
    for diagonal in (True, False):
        identity = np.tile([1.0, 0.0], 3) if diagonal else np.eye(3, 4).ravel()
        rows = PerClassRows(z, z.argmax(axis=0), 3, diagonal=diagonal)
        assert fit(problem_of(rows, identity), NO_PENALTY).unbounded
        assert minimize_lbfgs(problem_of(rows, identity), NO_PENALTY, identity).unbounded


def test_nearly_separable_rows_still_have_one():
    """One row in ten thousand on the wrong side makes the optimum finite, if large."""
    z = np.linspace(-4, 4, 10_000)
    t = (z > 0).astype(float)
    t[2000] = 1.0
    solution = fit(problem_of(BinaryRows(z[None], t), [1.0]), NO_PENALTY)
    assert solution.converged
    assert not solution.unbounded


def test_uninformative_logits_leave_the_identity():
    rows = BinaryRows(np.zeros((1, 10)), np.arange(10) % 2.0)
    assert fit(problem_of(rows, [1.0]), NO_PENALTY).theta == 1.0
    rows = SharedRows(np.ones((3, 10)), np.arange(10) % 3)
    assert fit(problem_of(rows, [1.0]), NO_PENALTY).theta == 1.0


def test_an_optimum_at_zero_is_not_taken_for_none():
    """Every logit comes with both labels, so that it is uninformative."""
    z = np.random.default_rng(0).normal(size=50)
    rows = BinaryRows(np.stack([np.tile(z, 2), np.ones(100)]), np.repeat([0.0, 1.0], 50))
    solution = fit(problem_of(rows, [1.0, 0.0]), NO_PENALTY)
    assert solution.converged
    assert not solution.unbounded
    np.testing.assert_allclose(solution.theta, 0.0, atol=1e-6)
    z3 = np.random.default_rng(0).normal(size=(3, 50))
    rows = PerClassRows(np.tile(z3, 3), np.repeat([0, 1, 2], 50), 3, diagonal=False)
    problem = problem_of(rows, np.eye(3, 4).ravel())
    assert not fit(problem, NO_PENALTY).unbounded
    assert not minimize_lbfgs(problem, NO_PENALTY, problem.identity).unbounded


@pytest.mark.parametrize("n", [100, 5000, 40_000, 200_000])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("scale", [0.3, 2.0, 10.0])
def test_separated_rows_next_to_uninformative_ones_have_no_finite_optimum(n, share, scale):
    """A logit of 0 has the same loss at any slope, so that the total loss never vanishes."""
    rng = np.random.default_rng(0)
    x = scale * rng.choice([-1.0, 1.0], n) * (rng.random(n) > share)
    labels = np.where(x == 0.0, rng.integers(0, 2, n), x > 0).astype(np.int64)
    assert fit(problem_of(BinaryRows(x[None], labels), [1.0]), NO_PENALTY).unbounded
    keys = np.arange(n) % 5
    labels[keys == 2] = rng.integers(0, 2, (keys == 2).sum())
    rows = BinaryRows(x[None], labels, keys=keys, n_keys=5)
    found = fit(each_alone(rows), NO_PENALTY)
    assert found.where_unbounded is not None
    np.testing.assert_array_equal(found.where_unbounded, np.arange(5) != 2)


def each_alone(rows: BinaryRows) -> Problem:
    together = problem_of(rows, [1.0])
    return replace(
        together,
        basis=np.arange(rows.n_keys),
        identity=np.ones(rows.n_keys),
        lower=np.full(rows.n_keys, -np.inf),
        baseline_penalty=np.zeros(rows.n_keys),
        penalties=tuple(
            replace(one, matrix=np.repeat(one.matrix, rows.n_keys)) for one in together.penalties
        ),
    )


@pytest.mark.parametrize("n", [1000, 20_000, 100_000])
def test_rows_with_long_tails_have_one(n):
    """One misclassified row far out is enough, however small the loss of all others."""
    rng = np.random.default_rng(0)
    x = np.sinh(3.0 * rng.normal(size=n))
    labels = (rng.logistic(size=n) < 0.3 * x).astype(np.int64)
    keys = np.arange(n) % 10
    found = fit(each_alone(BinaryRows(x[None], labels, keys=keys, n_keys=10)), NO_PENALTY)
    assert not found.unbounded
    assert found.converged


def test_rows_of_weight_zero_do_not_make_an_optimum_finite():
    x = np.array([[-2.0, -1.0, 1.0, 2.0, 3.0]])
    labels, weights = np.array([0.0, 0.0, 1.0, 1.0, 0.0]), np.array([1.0, 1.0, 1.0, 1.0, 0.0])
    rows = BinaryRows(x, labels, weights=weights)
    np.testing.assert_array_equal(rows.has_finite_optimum(np.array([[5.0]])), False)
    np.testing.assert_array_equal(rows.has_finite_optimum(np.array([[-5.0]])), True)
    np.testing.assert_array_equal(rows.has_finite_optimum(np.zeros((1, 1))), True)
    np.testing.assert_array_equal(BinaryRows(x, labels).has_finite_optimum(np.array([[5.0]])), True)


@pytest.mark.parametrize("size", [30.0, 100.0, 400.0, 800.0, 1e4, 1e8])
@pytest.mark.parametrize("wrong", [1, 3, 20])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n", [2000, 40_000])
def test_saturated_logits_of_which_few_are_wrong(size, wrong, n_classes, n):
    """At the identity no curvature is left, whether or not the loss is worse than log 2."""
    y = np.arange(n) % n_classes
    z = size * np.eye(n_classes)[:, y]
    z[:, :wrong] = np.roll(z[:, :wrong], 1, axis=0)
    rows = BinaryRows(2.0 * (z[1:] - 0.5 * size), y) if n_classes == 2 else SharedRows(z, y)
    found = fit(problem_of(rows, [1.0], lower=1e-20), NO_PENALTY)
    # Each row is right, or wrong, by the same.
    best = np.log((n_classes - 1) * (n - wrong) / wrong) / size
    assert found.converged
    assert found.theta[0] == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("size", [400.0, 800.0])
@pytest.mark.parametrize("n_steps", [1, 3])
def test_saturated_lines(size, n_steps):
    """Also with several coefficients, and where every step has its own."""
    y = np.arange(6000) % 2
    z = size * (2.0 * y - 1.0)
    z[:12] *= -1.0
    keys = None if n_steps == 1 else (np.arange(6000) // 2) % n_steps
    rows = BinaryRows(np.stack([z, np.ones(6000)]), y, keys=keys, n_keys=n_steps)
    problem = problem_of(rows, [1.0, 0.0])
    separate = replace(
        problem,
        basis=np.arange(n_steps),
        identity=np.tile(problem.identity, n_steps),
        lower=np.tile(problem.lower, n_steps),
        baseline_penalty=np.zeros(2 * n_steps),
        penalties=tuple(
            replace(one, matrix=np.tile(one.matrix, n_steps)) for one in problem.penalties
        ),
    )
    for found in (fit(problem, NO_PENALTY), fit(separate, NO_PENALTY)):
        assert found.converged
        best = np.log(5988 / 12) / size
        np.testing.assert_allclose(found.theta[::2], best, rtol=1e-6)
        np.testing.assert_allclose(found.theta[1::2], 0.0, atol=1e-6)


@pytest.mark.parametrize("n", [1000, 5000, 20_000])
@pytest.mark.parametrize("seed", range(8))
def test_few_wrong_rows_next_to_zero_leave_a_steep_but_finite_slope(n, seed):
    """The last steps are long compared with the start, and predict little decrease."""
    rng = np.random.default_rng(seed)
    z = 3.0 * rng.normal(size=n)
    keys, y = np.arange(n) % 2, (z > 0).astype(np.int64)
    for key in (0, 1):
        own = np.flatnonzero(keys == key)
        nearest = own[np.argsort(np.abs(z[own]))[: 1 + seed % 3]]
        y[nearest] = 1 - y[nearest]

    def best(rows):
        right = np.where(y > 0, z, -z)[rows]
        slope = brentq(lambda theta: (right * expit(-theta * right)).sum(), 1.0, 1e7, rtol=1e-13)
        return pytest.approx(slope, rel=1e-5)

    found = fit(problem_of(BinaryRows(z[None], y), [1.0], lower=1e-6), NO_PENALTY)
    assert (found.unbounded, found.converged) == (False, True)
    assert found.theta[0] == best(slice(None))
    problem = problem_of(BinaryRows(z[None], y, keys=keys, n_keys=2), [1.0], lower=1e-6)
    penalties = tuple(replace(one, matrix=np.tile(one.matrix, 2)) for one in problem.penalties)
    apart = replace(
        problem,
        basis=np.arange(2),
        identity=np.ones(2),
        lower=np.full(2, 1e-6),
        baseline_penalty=np.zeros(2),
        penalties=penalties,
    )
    each = fit(apart, NO_PENALTY)
    assert (each.unbounded, each.converged) == (False, True)
    assert each.theta.tolist() == [best(keys == 0), best(keys == 1)]

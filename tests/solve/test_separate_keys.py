"""Keys that share no coefficients are fitted as if each were alone."""

import numpy as np
import pytest

from tempocal.rows import BinaryRows
from tempocal.solve import Penalty, Problem, fit

MODELS = {
    "temperature": (np.array([1.0]), np.array([1e-6])),
    "platt": (np.array([1.0, 0.0]), np.array([-np.inf, -np.inf])),
    "beta": (np.array([1.0, 1.0, 0.0]), np.array([0.0, 0.0, -np.inf])),
}
every_model = pytest.mark.parametrize("model", MODELS)


def features_of(z, model):
    if model == "temperature":
        return z[None]
    if model == "platt":
        return np.stack([z, np.ones_like(z)])
    return np.stack([-np.logaddexp(0, -z), np.logaddexp(0, z), np.ones_like(z)])


def problem_of(z, y, keys, n_keys, *, model, weights=None):
    """Every key has coefficients of its own."""
    identity, lower = MODELS[model]
    is_bias = identity == 0
    rows = BinaryRows(features_of(z, model), y, weights=weights, keys=keys, n_keys=n_keys)
    return Problem(
        rows=rows,
        basis=np.arange(n_keys),
        identity=np.tile(identity, n_keys),
        penalties=(
            Penalty("slopes", np.tile(1.0 - is_bias, n_keys)),
            Penalty("biases", np.tile(1.0 * is_bias, n_keys)),
        ),
        lower=np.tile(lower, n_keys),
        baseline_penalty=np.zeros(n_keys * len(identity)),
        moment=np.ones((1, 1)),
    )


def alone(z, y, keys, key, *, model, strengths, weights=None):
    """Fit the rows of one key."""
    own = keys == key
    weights = None if weights is None else weights[own]
    problem = problem_of(
        z[own], y[own], np.zeros(own.sum(), dtype=np.intp), 1, model=model, weights=weights
    )
    return fit(problem, strengths)


def simulate(n=1500, n_keys=12, seed=0):
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, n_keys, size=n)
    z = 2 * rng.normal(size=n)
    slope = np.linspace(-0.3, 1.5, n_keys)[keys]
    return z, (rng.random(n) < 1 / (1 + np.exp(-slope * z - 0.3))).astype(float), keys


@every_model
@pytest.mark.parametrize("strengths", [(0.0, 0.0), (1.0, 1.0), (5.0, 0.1)], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_a_fit_for_each_key(model, strengths, weighted):
    z, y, keys = simulate()
    weights = np.random.default_rng(1).random(len(y)) + 0.5 if weighted else None
    problem = problem_of(z, y, keys, 12, model=model, weights=weights)
    together = fit(problem, strengths)
    fits = [
        alone(z, y, keys, key, model=model, strengths=strengths, weights=weights)
        for key in range(12)
    ]
    expected = np.stack([one.theta for one in fits])
    np.testing.assert_allclose(together.theta.reshape(12, -1), expected, rtol=1e-4, atol=2e-5)
    found, best = (
        problem.evaluate(theta, strengths, hessian=False).value
        for theta in (together.theta, expected.ravel())
    )
    assert found == pytest.approx(best, abs=1e-10 * len(y))
    # Loss and curvature are those next to the optimum, where the last step came from.
    assert together.loss == pytest.approx(sum(one.loss for one in fits), rel=1e-6)
    curvatures = np.concatenate([one.hessian for one in fits])
    np.testing.assert_allclose(together.hessian, curvatures, rtol=1e-2, atol=0.1)
    assert together.converged
    assert not together.unbounded
    assert not together.where_unbounded.any()
    assert together.passes <= max(one.passes for one in fits) + 3


@pytest.mark.parametrize("model", ["temperature", "beta"])
def test_bounds_hold_with_a_positive_gradient(model):
    """At a bound the gradient is not negative; elsewhere it is zero."""
    z, y, keys = simulate()
    problem = problem_of(-z, y, keys, 12, model=model)
    solution = fit(problem, (0.0, 0.0))
    at_bound = solution.theta <= problem.lower
    assert at_bound.any()
    assert (solution.theta >= problem.lower).all()
    gradient = problem.evaluate(solution.theta, (0.0, 0.0)).gradient
    assert (gradient[at_bound] >= 0).all()
    np.testing.assert_allclose(gradient[~at_bound], 0.0, atol=1e-4)


@every_model
def test_the_start_does_not_matter(model):
    z, y, keys = simulate()
    problem = problem_of(z, y, keys, 12, model=model)
    far = 3.0 * np.ones_like(problem.identity)
    a, b = fit(problem, (1.0, 1.0)), fit(problem, (1.0, 1.0), far)
    np.testing.assert_allclose(a.theta, b.theta, atol=1e-5)


@pytest.mark.parametrize("start", [[1, 1, 0], [0, 0, 0], [0, 41, -28], [41, 0, 28], [0, 5, -3]])
def test_the_start_does_not_matter_where_slopes_are_nearly_alike(start):
    """For logits near zero, a and b of beta calibration are collinear; one is at its bound."""
    z, y, keys = simulate(n_keys=4)
    own = keys == 1
    problem = problem_of(0.01 * z[own], y[own], None, 1, model="beta")
    solution = fit(problem, (0.0, 0.0), np.array(start, dtype=float))
    value = problem.evaluate(solution.theta, (0.0, 0.0), hessian=False).value
    assert value == pytest.approx(246.431642, abs=1e-5)


def hard():
    """Keys: 0 separable, 1 of one class, 2 plain, 3 empty, 4 a single row."""
    rng = np.random.default_rng(0)
    keys = np.repeat([0, 1, 2, 4], [30, 30, 200, 1])
    z = 2 * rng.normal(size=len(keys))
    y = (rng.random(len(keys)) < 1 / (1 + np.exp(-0.7 * z))).astype(float)
    y[keys == 0] = z[keys == 0] > 0
    y[keys == 1] = 1.0
    return z, y, keys


class TestHardKeys:
    @every_model
    def test_say_which_of_them_are_unbounded(self, model):
        z, y, keys = hard()
        solution = fit(problem_of(z, y, keys, 5, model=model), (0.0, 0.0))
        assert solution.unbounded
        expected = [True, True, False, False, True]
        if model == "temperature":
            # A scale alone diverges on a single class only if its logits have one sign.
            expected[1] = False
            expected[4] = bool((z[keys == 4] > 0) == (y[keys == 4] > 0))
        assert solution.where_unbounded.tolist() == expected
        assert np.isfinite(solution.theta).all()

    @every_model
    def test_do_not_disturb_the_others(self, model):
        z, y, keys = hard()
        table = fit(problem_of(z, y, keys, 5, model=model), (0.0, 0.0)).theta.reshape(5, -1)
        expected = alone(z, y, keys, 2, model=model, strengths=(0.0, 0.0)).theta
        np.testing.assert_allclose(table[2], expected, rtol=1e-6, atol=1e-8)

    @every_model
    @pytest.mark.parametrize("strength", [1e-3, 1.0, 100.0])
    def test_are_finite_with_a_penalty(self, model, strength):
        z, y, keys = hard()
        strengths = (strength, strength)
        solution = fit(problem_of(z, y, keys, 5, model=model), strengths)
        assert solution.converged
        assert not solution.unbounded
        table = solution.theta.reshape(5, -1)
        for key in (0, 1, 2, 4):
            expected = alone(z, y, keys, key, model=model, strengths=strengths).theta
            np.testing.assert_allclose(table[key], expected, rtol=1e-4, atol=1e-6)

    @every_model
    def test_without_rows_are_the_identity_under_a_penalty(self, model):
        z, y, keys = hard()
        problem = problem_of(z, y, keys, 5, model=model)
        penalized = fit(problem, (1.0, 1.0)).theta.reshape(5, -1)[3]
        np.testing.assert_allclose(penalized, MODELS[model][0], atol=1e-12)
        assert np.isfinite(fit(problem, (0.0, 0.0)).theta).all()

    @every_model
    def test_of_uninformative_logits(self, model):
        keys = np.repeat([0, 1], 20)
        z, y = np.zeros(40), np.tile([0.0, 1.0], 20)
        solution = fit(problem_of(z, y, keys, 2, model=model), (1.0, 1.0))
        assert solution.converged
        table = solution.theta.reshape(2, -1)
        if model != "beta":
            np.testing.assert_allclose(table, np.tile(MODELS[model][0], (2, 1)), atol=1e-9)

    @every_model
    @pytest.mark.parametrize("scale", [1e-6, 1e6])
    def test_of_logits_of_another_unit(self, model, scale):
        if model == "beta":
            scale = max(scale, 1e-2) if scale < 1 else 1e2
        z, y, keys = simulate(n_keys=4)
        table = fit(problem_of(scale * z, y, keys, 4, model=model), (0.0, 0.0))
        for key, found in enumerate(table.theta.reshape(4, -1)):
            own = alone(scale * z, y, keys, key, model=model, strengths=(0.0, 0.0))
            value = problem_of(
                scale * z[keys == key], y[keys == key], None, 1, model=model
            ).evaluate(found, (0.0, 0.0), hessian=False)
            assert value.value <= own.loss + 1e-7 * (keys == key).sum()

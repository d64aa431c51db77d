"""Strengths from the data: the evidence, the design effect of groups, folds against refits."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad

from support.problems import line, problem_of, softmax
from tempocal.inputs import Groups
from tempocal.rows import BinaryRows, PerClassRows
from tempocal.solve import N_FOLDS, design_effect, fit, fit_by_evidence, fit_by_folds, fold_codes
from tempocal.solve.folds import fold_coefficients


def temperature(n, true=0.6, seed=0):
    rng = np.random.default_rng(seed)
    z = 2 * rng.normal(size=n)
    t = (rng.random(n) < 1 / (1 + np.exp(-true * z))).astype(float)
    return problem_of(BinaryRows(z[None], t), [1.0])


def log_evidence(problem, strength):
    """Log of the integral of likelihood times prior, plus the half-Cauchy prior on its width."""
    rows, width = problem.rows, strength**-0.5
    best = fit(problem, (strength, 0.0)).theta[0]
    top = -rows.sums(np.array([[best]])).loss[0] - 0.5 * strength * (best - 1) ** 2

    def integrand(theta):
        loss = rows.sums(np.array([[theta]]), hessian=False).loss[0]
        return np.exp(-loss - 0.5 * strength * (theta - 1) ** 2 - top)

    area = quad(integrand, best - 3, best + 3, points=[best], epsabs=0, epsrel=1e-8)[0]
    return top + np.log(area) + 0.5 * np.log(strength) - np.log(1 + width**2)


def test_the_strength_chosen_has_the_most_evidence():
    """The Laplace approximation is compared with the integral itself."""
    problem = temperature(400)
    chosen = fit_by_evidence(problem, None).strengths[0]
    grid = chosen * np.exp(np.linspace(-1.5, 1.5, 13))
    best = grid[np.argmax([log_evidence(problem, s) for s in grid])]
    assert np.log(chosen / best) == pytest.approx(0, abs=0.3)


def test_the_fit_is_exact_at_the_strength_it_reports():
    problem = line()
    result = fit_by_evidence(problem, None)
    np.testing.assert_allclose(
        fit(problem, result.strengths).theta, result.solution.theta, rtol=1e-8, atol=1e-10
    )


def test_calibrated_logits_are_mostly_left_alone():
    """Where the truth is the identity, shrinkage takes away most of the harm of fitting."""
    harm = []
    for seed in range(60):
        problem = temperature(60, true=1.0, seed=seed)
        plain = fit(problem, (0.0, 0.0)).theta[0]
        shrunk = fit_by_evidence(problem, None).solution.theta[0]
        harm.append([(plain - 1) ** 2, (shrunk - 1) ** 2])
    plain_harm, shrunk_harm = np.mean(harm, axis=0)
    assert shrunk_harm < 0.5 * plain_harm


def test_with_many_rows_the_strength_does_not_matter():
    problem = temperature(50_000)
    plain = fit(problem, (0.0, 0.0)).theta[0]
    assert fit_by_evidence(problem, None).solution.theta[0] == pytest.approx(plain, rel=1e-3)


def test_repeating_every_row_in_its_group_changes_nothing():
    """Ten copies of a row are one row: the design effect is ten and the shrinkage tenfold."""
    problem = temperature(150)
    alone = fit_by_evidence(problem, Groups(np.arange(150), 150))
    rng = np.random.default_rng(0)
    z = 2 * rng.normal(size=150)
    t = (rng.random(150) < 1 / (1 + np.exp(-0.6 * z))).astype(float)
    copies = problem_of(BinaryRows(np.repeat(z, 10)[None], np.repeat(t, 10)), [1.0])
    groups = Groups(np.repeat(np.arange(150), 10), 150)
    copied = fit_by_evidence(copies, groups)
    assert copied.design_effect == pytest.approx(10 * alone.design_effect, rel=0.2)
    assert copied.solution.theta[0] == pytest.approx(alone.solution.theta[0], abs=0.01)


def test_independent_groups_have_a_design_effect_near_one():
    problem = temperature(20_000)
    solution = fit(problem, (0.0, 0.0))
    groups = Groups(np.arange(20_000) // 4, 5_000)
    assert design_effect(problem, solution, groups, (0.0, 0.0)).mean == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("count", [2, 5])
def test_a_few_groups_are_not_taken_for_many_rows(count):
    """A hundred copies of each of a few rows: their effective number stays near that few."""
    numbers = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        z = np.repeat(2 * rng.normal(size=count), 100)
        t = np.repeat((rng.random(count) < 0.5).astype(float), 100)
        problem = problem_of(BinaryRows(z[None], t), [1.0])
        solution = fit(problem, (1.0, 0.0))
        groups = Groups(np.repeat(np.arange(count), 100), count)
        numbers.append(100 * count / design_effect(problem, solution, groups, (0.0, 0.0)).mean)
    assert np.quantile(numbers, 0.9) < 4 * count


def keyed_softmax(n=600):
    rng = np.random.default_rng(0)
    z = 2 * rng.normal(size=(3, n))
    y = (0.6 * z + rng.gumbel(size=z.shape)).argmax(axis=0)
    rows = PerClassRows(z, y, 3, diagonal=False, keys=fold_codes(n, None), n_keys=N_FOLDS)
    return problem_of(rows, np.eye(3, 4).ravel())


@pytest.mark.parametrize("value", [0.1, 10.0, 1000.0])
def test_fold_fits_agree_with_full_refits(value):
    """A Newton step from the common optimum predicts the held-out rows as well as a refit does."""
    problem, strength = keyed_softmax(n=3000), (value, value)
    stepped = fold_coefficients(problem, fit(problem, strength), strength)
    refitted = np.array(
        [fit(replace(problem, held_out_fold=fold), strength).theta for fold in range(N_FOLDS)]
    )
    weight = problem.rows.total_weight
    difference = problem.rows.sums(stepped).loss.sum() - problem.rows.sums(refitted).loss.sum()
    assert abs(difference) / weight < 2e-4


def test_folds_choose_what_predicts_held_out_rows():
    problem = keyed_softmax()
    chosen = fit_by_folds(problem).strengths

    def held_out(value):
        strength = (value, value)
        fits = [
            fit(replace(problem, held_out_fold=fold), strength).theta for fold in range(N_FOLDS)
        ]
        return problem.rows.sums(np.array(fits)).loss.sum() / problem.rows.total_weight

    best = min(held_out(10.0**power) for power in range(6))
    assert held_out(chosen[0]) <= best + 1e-3


def test_one_held_out_fold_is_enough_for_large_models():
    result = fit_by_folds(replace(keyed_softmax(), max_newton=3))
    assert result.solution.converged
    assert result.solution.hessian is None
    # The rows' structure is diagonal, so strong regularization wins.
    assert result.strengths[0] >= 10


def test_groups_are_not_split_between_folds():
    groups = Groups(np.repeat(np.arange(20), 3), 20)
    folds = fold_codes(60, groups)
    assert all(len(set(folds[groups.codes == g])) == 1 for g in range(20))
    assert set(folds) == set(range(N_FOLDS))


def test_held_out_rows_do_not_count():
    problem = keyed_softmax()
    all_rows = softmax(diagonal=False)
    theta = problem.identity * 0.7
    no_penalty = (0.0, 0.0)
    parts = [
        replace(problem, held_out_fold=f).evaluate(theta, no_penalty).value for f in range(N_FOLDS)
    ]
    total = all_rows.evaluate(theta, no_penalty).value
    assert sum(parts) == pytest.approx((N_FOLDS - 1) * total, rel=1e-12)


def fits_with_rounds(problem, monkeypatch):
    fits = []
    for rounds in (30, 31):
        monkeypatch.setattr("tempocal.solve.evidence.MAX_ROUNDS", rounds)
        fits.append(fit_by_evidence(problem, None).solution.theta)
    return fits


@pytest.mark.parametrize("seed", range(12))
def test_where_a_bound_comes_and_goes_the_answer_does_not_hang_on_the_last_round(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    z = 0.1 * rng.normal(size=200)
    t = (rng.random(200) < 1 / (1 + np.exp(3 * z))).astype(float)
    problem = problem_of(BinaryRows(z[None], t), [1.0], lower=[1e-6])
    a, b = fits_with_rounds(problem, monkeypatch)
    np.testing.assert_allclose(a, b, rtol=1e-3)


@pytest.mark.parametrize("seed", range(12))
def test_the_same_with_two_bounds(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    z = 6 * rng.normal(size=40)
    t = (rng.random(40) < 0.5).astype(float)
    features = np.stack([-np.logaddexp(0, -z), np.logaddexp(0, z), np.ones(40)])
    problem = problem_of(BinaryRows(features, t), [1.0, 1.0, 0.0], lower=[0.0, 0.0, -np.inf])
    a, b = fits_with_rounds(problem, monkeypatch)
    np.testing.assert_allclose(a, b, atol=1e-2)

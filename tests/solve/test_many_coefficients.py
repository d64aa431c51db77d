"""Many coefficients: gradients lead close to the optimum, and one Hessian of all rows is summed."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from support.problems import problem_of, softmax
from tempocal.rows import PerClassRows
from tempocal.rows.in_memory import SAMPLE_ROWS
from tempocal.rows.surrogate import COSTLY_HESSIAN
from tempocal.solve import fit
from tempocal.solve.newton import minimize_newton

STEP = 5
N = STEP * SAMPLE_ROWS
NO_PENALTY = (0.0, 0.0)


def on_all_rows(problem, strengths):
    """Minimize without a surrogate."""
    return minimize_newton(
        replace(problem, rows=problem.rows.all_rows), strengths, problem.identity
    )


@pytest.mark.parametrize("strengths", [NO_PENALTY, (100.0, 1.0)])
def test_a_fit_from_a_sample_has_the_optimum_of_all_rows(strengths):
    problem = softmax(diagonal=False, n=N, n_classes=6)
    assert problem.n_coefficients >= COSTLY_HESSIAN
    found, wanted = fit(problem, strengths), on_all_rows(problem, strengths)
    assert found.converged
    assert found.loss == pytest.approx(wanted.loss, rel=1e-13)
    at_optimum = problem.evaluate(found.theta, strengths)
    assert np.abs(at_optimum.gradient).max() < 1e-8 * N
    # Without a penalty the likelihood does not change if all classes shift alike.
    centered = [
        (one - one.mean(axis=0)) if strengths == NO_PENALTY else one
        for one in (theta.reshape(6, 7) for theta in (found.theta, wanted.theta))
    ]
    np.testing.assert_allclose(*centered, atol=1e-8)
    np.testing.assert_allclose(
        found.hessian, wanted.hessian, rtol=1e-5, atol=1e-6 * wanted.hessian.max()
    )


def test_it_is_the_optimum_of_scikit_learn():
    problem = softmax(diagonal=False, n=N, n_classes=6)
    x, y = problem.rows.all_rows._features.T, problem.rows.all_rows._targets
    other = LogisticRegression(C=np.inf, tol=1e-9, max_iter=1000).fit(x, y)
    theta = np.concatenate([other.coef_, other.intercept_[:, None]], axis=1)
    found = fit(problem, NO_PENALTY)
    assert found.loss <= problem.evaluate(theta.ravel(), NO_PENALTY).value * (1 + 1e-14)
    table = found.theta.reshape(6, 7)
    np.testing.assert_allclose(table - table.mean(axis=0), theta - theta.mean(axis=0), atol=1e-5)


def test_few_gradients_and_one_hessian_are_enough(monkeypatch):
    problem = softmax(diagonal=False, n=N, n_classes=6)
    all_rows, asked = problem.rows.all_rows, []

    def sums(theta, *, hessian=True):
        asked.append(hessian)
        return PerClassRows.sums(all_rows, theta, hessian=hessian)

    monkeypatch.setattr(all_rows, "sums", sums)
    assert fit(problem, NO_PENALTY).converged
    assert asked[-1]
    assert asked.count(True) == 1
    assert asked.count(False) <= 6


def test_separable_rows_still_have_no_finite_optimum():
    z = np.random.default_rng(0).normal(size=(6, N))
    rows = PerClassRows(z, z.argmax(axis=0), 6, diagonal=False)
    assert fit(problem_of(rows, np.eye(6, 7).ravel()), NO_PENALTY).unbounded


def test_a_class_that_the_sample_has_not_is_fitted():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(6, N))
    y = (z[:5] + rng.gumbel(size=(5, N))).argmax(axis=0)
    y[1::4005] = 5
    problem = problem_of(PerClassRows(z, y, 6, diagonal=False), np.eye(6, 7).ravel())
    sample = problem.rows.all_rows.sample()
    found, wanted = fit(problem, NO_PENALTY), on_all_rows(problem, NO_PENALTY)
    assert not (sample._targets == 5).any()
    assert found.converged
    assert not found.unbounded
    assert found.loss == pytest.approx(wanted.loss, rel=1e-12)


@pytest.mark.parametrize("noise", [1e-5, 1e-3, 0.05])
@pytest.mark.parametrize("are_alike", [False, True])
def test_a_sample_whose_classes_are_separated_does_not_mislead(noise, are_alike):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(6, N))
    if are_alike:
        x[5] = x[4] + 1e-5 * rng.normal(size=N)
    labels = x.argmax(axis=0)
    # The sample has every fifth row, none of which is wrong.
    wrong = (rng.random(N) < noise) & (np.arange(N) % 5 > 0)
    wrong[1] = True
    labels[wrong] = (labels[wrong] + 1) % 6
    rows = PerClassRows(x, labels, 6, diagonal=False)
    problem = problem_of(rows, np.eye(6, 7).ravel())
    small = replace(problem, rows=problem.rows.all_rows.sample())
    alone = minimize_newton(small, NO_PENALTY, small.identity)
    # Where two features are all but alike, rounding may hold it up, but only far away.
    assert alone.unbounded or (are_alike and np.abs(alone.theta).max() > 1e5)
    found, wanted = fit(problem, NO_PENALTY), on_all_rows(problem, NO_PENALTY)
    assert found.converged
    assert found.loss == pytest.approx(wanted.loss, rel=1e-9)

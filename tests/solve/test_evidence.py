"""Strengths from the data along a curve, against scipy on the evidence with exact refits."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import minimize

from support.evidence_problems import CURVES, STEPS, TRUTHS, evidence_at, problem_of
from tempocal.inputs import Groups
from tempocal.rows import BinaryRows
from tempocal.solve import fit, fit_by_evidence
from tempocal.solve.evidence import _log_volume_at_bounds, min_strengths_of

every_problem = pytest.mark.parametrize(
    ("curve", "truth", "platt"),
    [
        *((c, t, False) for c in CURVES for t in TRUTHS),
        *((c, t, True) for c in CURVES for t in ("rising", "true already")),
    ],
)


def best_by_scipy(problem, start):
    """Maximize the evidence over the logarithms of the strengths in use, from several starts."""
    used = [k for k, one in enumerate(problem.penalties) if one.is_used]
    min_logs = np.log(min_strengths_of(problem))[used]

    def down(logs):
        strengths = [1.0] * len(problem.penalties)
        for k, value in zip(used, np.clip(logs, min_logs, 16.0), strict=True):
            strengths[k] = float(np.exp(value))
        return -evidence_at(problem, tuple(strengths))

    starts = [np.log(np.asarray(start)[used]), min_logs + 1.0, np.full(len(used), 5.0)]
    options = {"maxfev": 80, "xatol": 0.02, "fatol": 1e-3}
    found = [
        minimize(down, np.clip(one, min_logs, 16.0), method="Nelder-Mead", options=options)
        for one in starts
    ]
    return -min(one.fun for one in found)


@every_problem
def test_the_evidence_is_as_high_as_scipy_can_make_it(curve, truth, platt):
    """The fixed point approximates the loss by a quadratic, which costs a little."""
    problem = problem_of(curve, truth, platt=platt)
    chosen = fit_by_evidence(problem, None)
    found = evidence_at(problem, chosen.strengths)
    assert found >= best_by_scipy(problem, chosen.strengths) - 0.02
    assert all(np.isfinite(s) and s > 0 for s in chosen.strengths)


@every_problem
def test_no_strength_at_a_bound_has_more_evidence(curve, truth, platt):
    """There are several maxima: where biases are held at zero, their smoothness is irrelevant."""
    problem = problem_of(curve, truth, platt=platt)
    chosen = fit_by_evidence(problem, None)
    found = evidence_at(problem, chosen.strengths)
    for k, smallest in enumerate(min_strengths_of(problem)):
        for bound in (smallest, 1e6):
            others = [bound if j == k else s for j, s in enumerate(chosen.strengths)]
            assert found >= evidence_at(problem, tuple(others)) - 0.02


@every_problem
def test_the_fit_is_the_one_at_the_strengths_it_reports(curve, truth, platt):
    problem = problem_of(curve, truth, platt=platt)
    chosen = fit_by_evidence(problem, None)
    again = fit(problem, chosen.strengths)
    np.testing.assert_allclose(chosen.solution.theta, again.theta, atol=1e-5)
    assert chosen.solution.converged
    assert chosen.solution.passes < 150


@pytest.mark.parametrize("curve", CURVES)
def test_a_flat_truth_is_smooth_and_a_wild_one_rough(curve):
    smooth, rough = (
        fit_by_evidence(problem_of(curve, truth, platt=False, n=3000), None).strengths[2]
        for truth in ("flat", "wild")
    )
    assert smooth > 10 * rough


@pytest.mark.parametrize("curve", CURVES)
def test_given_strengths_stay_as_given(curve):
    problem = problem_of(curve, "rising", platt=True)
    given = (2.0, 3.0, 0.5, 7.0)
    assert fit_by_evidence(problem, None, given).strengths == given
    for k in range(4):
        fixed_strengths = tuple(given[j] if j == k else None for j in range(4))
        chosen = fit_by_evidence(problem, None, fixed_strengths)
        assert chosen.strengths[k] == given[k]
        # The others maximize the evidence given it.
        for j in range(4):
            for factor in (0.3, 3.0) if j != k else ():
                other = [s * factor if i == j else s for i, s in enumerate(chosen.strengths)]
                if other[j] >= min_strengths_of(problem)[j]:
                    found = evidence_at(problem, chosen.strengths)
                    assert found >= evidence_at(problem, tuple(other)) - 0.05


@pytest.mark.parametrize("curve", CURVES)
def test_a_strength_of_zero_stays_zero(curve):
    problem = problem_of(curve, "rising", platt=False)
    chosen = fit_by_evidence(problem, None, (0.0, 0.0, None, None))
    assert chosen.strengths[:2] == (0.0, 0.0)
    assert chosen.strengths[2] > 0
    assert not chosen.solution.unbounded


@pytest.mark.parametrize("curve", CURVES)
def test_copies_within_a_group_change_little(curve):
    """Ten copies of each row are one row: the design effect divides the likelihood by ten."""
    alone = fit_by_evidence(problem_of(curve, "rising", platt=False), Groups(np.arange(600), 600))
    copies = fit_by_evidence(
        problem_of(curve, "rising", platt=False, repeat=10),
        Groups(np.repeat(np.arange(600), 10), 600),
    )
    assert copies.design_effect == pytest.approx(10 * alone.design_effect, rel=0.1)
    np.testing.assert_allclose(copies.solution.theta, alone.solution.theta, atol=0.05)


@pytest.mark.parametrize("curve", CURVES)
def test_repetition_is_weight(curve):
    counts = np.random.default_rng(0).integers(1, 4, size=600)
    plain = problem_of(curve, "rising", platt=False)
    rng = np.random.default_rng(0)
    t, z = rng.integers(0, STEPS, size=600), 2 * rng.normal(size=600)
    y = (rng.random(600) < 1 / (1 + np.exp(-TRUTHS["rising"](t) * z))).astype(float)
    weighted = replace(
        plain, rows=BinaryRows(z[None], y, weights=counts.astype(float), keys=t, n_keys=STEPS)
    )
    tr, zr, yr = (np.repeat(one, counts) for one in (t, z, y))
    repeated = replace(plain, rows=BinaryRows(zr[None], yr, keys=tr, n_keys=STEPS))
    a, b = (fit_by_evidence(problem, None).solution.theta for problem in (weighted, repeated))
    np.testing.assert_allclose(a, b, atol=1e-5)


@given(log_gradient=st.floats(-20.0, 8.0), log_curvature=st.floats(-8.0, 8.0))
def test_coefficients_at_a_bound_are_integrated(log_gradient, log_curvature):
    g, h = np.exp(log_gradient), np.exp(log_curvature)
    # In units in which the integrand has fallen to nothing after 40.
    unit = 1.0 / max(g, np.sqrt(h))
    integral, _ = quad(lambda x: np.exp(-g * unit * x - h * (unit * x) ** 2 / 2), 0.0, 40.0)
    wanted = np.log(unit * integral / np.sqrt(2 * np.pi))
    found = _log_volume_at_bounds(np.array([g]), np.array([h]))
    assert found == pytest.approx(wanted, abs=1e-7)

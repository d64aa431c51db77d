"""Rounds of strengths and fits: extrapolated to their fixed point, and ended at rounding errors."""

import numpy as np
import pytest

from support.problems import problem_of
from tempocal.rows import BinaryRows
from tempocal.solve import fit_by_evidence
from tempocal.solve.evidence import Extrapolation
from tempocal.solve.laplace import LaplaceApproximation


@pytest.mark.parametrize("seed", range(8))
def test_linear_rounds_end_after_few(seed):
    """Rounds alone would take more than 70: one removes 15 % of the slowest error."""
    rng = np.random.default_rng(seed)
    vectors = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    slow = vectors @ np.diag([0.85, -0.6, 0.3]) @ vectors.T
    end = rng.normal(size=3)
    extrapolation, logs = Extrapolation(), end + 0.2 * rng.normal(size=3)
    for _ in range(8):
        updated = end + slow @ (logs - end)
        following = extrapolation.next_strengths(tuple(np.exp(logs)), tuple(np.exp(updated)))
        logs = np.log(following)
    np.testing.assert_allclose(logs, end, atol=1e-6)


def test_strengths_that_are_fixed_are_not_extrapolated():
    extrapolation = Extrapolation()
    for change in (0.1, 0.05, 0.025):
        found = extrapolation.next_strengths((0.0, 3.0, 1.0), (0.0, 3.0, float(np.exp(change))))
        assert found[0] == 0.0
        assert found[1] == pytest.approx(3.0, rel=1e-12)


@pytest.mark.parametrize("noise", [1e-7, 1e-6, 1e-5])
def test_rounding_errors_of_the_strengths_end_the_rounds(noise, monkeypatch):
    rng = np.random.default_rng(0)
    z = 2 * rng.normal(size=400)
    t = (rng.random(400) < 1 / (1 + np.exp(-0.6 * z))).astype(float)
    problem = problem_of(BinaryRows(np.stack([z, np.ones(400)]), t), [1.0, 0.0])
    expected = fit_by_evidence(problem, None)
    exact, rounds = LaplaceApproximation.best_strengths, []

    def noisy(approximation, *bounds):
        rounds.append(approximation)
        return tuple(s * np.exp(noise * rng.normal()) for s in exact(approximation, *bounds))

    monkeypatch.setattr(LaplaceApproximation, "best_strengths", noisy)
    found = fit_by_evidence(problem, None)
    assert len(rounds) < 15
    np.testing.assert_allclose(np.log(found.strengths), np.log(expected.strengths), atol=20 * noise)

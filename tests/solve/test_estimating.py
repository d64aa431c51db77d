"""Information that is left where targets move with the coefficients."""

import numpy as np
import pytest

import tempocal as tc
from tempocal.rows import SequenceRows
from tempocal.solve.estimating import average_shares, scaled_by
from tempocal.temporal import fit_along_time as module
from tempocal.temporal.linearization import Linearization


@pytest.fixture(scope="module")
def linearized():
    """Slopes and biases along time that learn from the very next forecast."""
    found = []

    class Recorded(module.CurveFit):
        def __init__(self, *args, **settings):
            super().__init__(*args, **settings)
            found.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CurveFit", Recorded)
        m = tc.datasets.simulate_match(40, seed=2)
        tc.TemporalCalibrator(tc.PlattScaling(shrinkage=1.0), tc.PerStep(), td_horizon=1e-3).fit(
            m.logits, m.label, time=m.time, sequence=m.sequence
        )
    return Linearization(found[-1])


def test_forecasts_say_nothing_about_a_bias_that_is_the_same_at_all_times(linearized):
    """What a forecast and the next have in common cancels: the first forecasts are left."""
    biases = np.tile([0.0, 1.0], linearized.jacobian.shape[0] // 2)
    rows = linearized.problem.rows
    assert isinstance(rows, SequenceRows)
    p = rows.sequences.rows.forecasts(
        linearized.problem.at_keys(linearized.fitted.result.solution.theta)
    )[0]
    first = np.append(True, rows.sequences.is_last[:-1])
    expected = (p * (1.0 - p))[first].sum()
    assert biases @ linearized.jacobian @ biases == pytest.approx(expected, rel=1e-9)


def test_shares_are_those_of_each_coefficient():
    rng = np.random.default_rng(0)
    inverse, jacobian, hessian = (one @ one.swapaxes(1, 2) for one in rng.normal(size=(3, 2, 6, 6)))
    shares = average_shares(inverse, jacobian, hessian, 3)
    for p in range(3):
        own = np.arange(6) % 3 == p
        inner = np.ix_(range(2), own, own)
        expected = np.sum(inverse[inner] * jacobian[inner]) / np.sum(
            inverse[inner] * hessian[inner]
        )
        assert shares[p] == pytest.approx(expected)
    scaled = scaled_by(shares, hessian)
    every = np.tile(shares, 2)
    np.testing.assert_allclose(scaled, hessian * np.sqrt(np.outer(every, every)))


def test_equal_shares_scale_the_hessian():
    hessian = np.eye(4)[None] + 0.5
    np.testing.assert_allclose(scaled_by(np.array([0.3, 0.3]), hessian), 0.3 * hessian)

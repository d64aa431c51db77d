"""Vector scaling: a common slope and deviations from it, each with a strength of its own."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

import tempocal as tc
from tempocal.calibrators.fit_data import check_rows
from tempocal.inputs import check_time
from tempocal.solve import Posterior
from tempocal.temporal.fit_along_time import fit_curves

PARTS = (slice(0, 120), slice(120, 240))


def simulate(n_rows, n_classes, slope, seed):
    """Logits that are ``1 / slope`` times the true ones, which come last."""
    rng = np.random.default_rng(seed)
    true = 1.5 * rng.normal(size=(n_rows, n_classes))
    y = (true + rng.gumbel(size=true.shape)).argmax(axis=1)
    return true / slope, y, true


def excess(cal, slope, n_classes):
    """Mean divergence of predictions from the truth."""
    z, _, true = simulate(3000, n_classes, slope, seed=99)
    log_p = log_softmax(true, axis=1)
    return float((softmax(true, axis=1) * (log_p - cal.predict_log_proba(z))).sum(axis=1).mean())


def objective(z, y, key, strengths, levels):
    """Summed loss and penalties, written out; coefficients are (keys, classes, 2)."""
    deviations, biases, common = strengths

    def value(theta):
        table = theta.reshape(levels, z.shape[1], 2)
        eta = table[key, :, 0] * z + table[key, :, 1]
        loss = -log_softmax(eta, axis=1)[np.arange(len(y)), y].sum()
        mean = table[:, :, 0].mean(axis=1)
        spread = ((table[:, :, 0] - mean[:, None]) ** 2).sum()
        level = z.shape[1] * ((mean - 1.0) ** 2).sum()
        return loss + 0.5 * (
            deviations * spread + common * level + biases * (table[..., 1] ** 2).sum()
        )

    return value


def strengths_of(cal):
    details = cal.summary_.details
    names = ("deviations_of_slopes", "biases", "common_slope")
    return [details[f"shrinkage_of_{name}"] for name in names]


@pytest.mark.parametrize("seed", [0, 1])
def test_optimum_is_that_of_the_objective_written_out(seed):
    z, y, _ = simulate(300, 4, 0.5, seed)
    cal = tc.VectorScaling().fit(z, y)
    value = objective(z, y, np.zeros(len(y), dtype=int), strengths_of(cal), 1)
    start = np.stack([np.ones(4), np.zeros(4)], axis=1).ravel()
    found = minimize(value, start, tol=1e-14).x.reshape(4, 2)
    np.testing.assert_allclose(cal.weights_, found[:, 0], atol=2e-5)
    np.testing.assert_allclose(cal.bias_, found[:, 1] - found[:, 1].mean(), atol=2e-5)


def test_optimum_of_separate_steps_is_that_of_the_objective_written_out():
    z, y, _ = simulate(400, 3, 0.5, 0)
    step = np.arange(400) % 2
    cal = tc.TemporalCalibrator(tc.VectorScaling(), tc.PerStep()).fit(z, y, time=step)
    value = objective(z, y, step, strengths_of(cal), 2)
    start = np.tile([1.0, 0.0], 6)
    found = minimize(value, start, tol=1e-14).x.reshape(2, 3, 2)
    expected = softmax(found[step, :, 0] * z + found[step, :, 1], axis=1)
    np.testing.assert_allclose(cal.predict_proba(z, time=step), expected, atol=2e-5)


@pytest.mark.parametrize("curve", [tc.PerStep(), tc.RandomWalk(), tc.Spline(), tc.Constant()])
def test_equal_strengths_are_one_strength_for_all_slopes(curve):
    """Where the two strengths are equal the penalty is that of shrinkage as a number."""
    z, y, _ = simulate(300, 3, 0.5, 0)
    step = np.arange(300) % 4
    model = tc.VectorScaling()
    cal = tc.TemporalCalibrator(model, curve).fit(z, y, time=step)
    data = check_rows(
        z,
        y,
        sample_weight=None,
        groups=None,
        inputs="logits",
        classes=None,
        times=check_time(step, 300),
    ).data
    split = fit_curves(model, curve, None, data).models[0].problem
    joint = fit_curves(tc.VectorScaling(shrinkage=2.0), curve, None, data).models[0].problem
    smooth = (1.0,) * (len(joint.penalties) - 2)
    theta = np.random.default_rng(0).normal(size=joint.n_coefficients)
    assert split.penalty_value((0.0, 3.0, 2.0, 2.0, *smooth), theta) == pytest.approx(
        joint.penalty_value((2.0, 3.0, *smooth), theta), rel=1e-12
    )
    assert cal.summary_.details["converged"]


@pytest.mark.parametrize("slope", [0.5, 2.0])
@pytest.mark.parametrize("n_rows", [200, 1000])
def test_eleven_classes_that_are_off_alike_are_nearly_as_easy_as_one_temperature(n_rows, slope):
    harms = []
    for seed in range(3):
        z, y, _ = simulate(n_rows, 11, slope, seed)
        vector, temperature = (
            excess(kind(classes=range(11)).fit(z, y), slope, 11)
            for kind in (tc.VectorScaling, tc.TemperatureScaling)
        )
        harms.append(vector - temperature)
    assert np.mean(harms) < 0.004


def test_classes_that_differ_keep_their_own_slopes():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(4000, 3))
    y = (z * [2.0, 1.0, 0.5] + rng.gumbel(size=z.shape)).argmax(axis=1)
    np.testing.assert_allclose(tc.VectorScaling().fit(z, y).weights_, [2.0, 1.0, 0.5], atol=0.15)


def test_posteriors_of_one_strength_for_all_slopes_are_updated():
    """As saved before slopes had a common value."""
    old = Posterior(
        np.zeros(2),
        np.zeros(2),
        np.eye(2)[None],
        strengths=(2.0, 3.0, 5.0),
        fixed_strengths=(None, None, 5.0),
        min_strengths=(1.0, 0.5, 0.1),
    )
    assert old.for_penalties(3) is old
    new = old.for_penalties(5)
    assert new.strengths == (2.0, 3.0, 2.0, 2.0, 5.0)
    assert new.fixed_strengths == (None, None, None, None, 5.0)
    assert new.min_strengths == (1.0, 0.5, 1.0, 1.0, 0.1)


@pytest.mark.parametrize("curve", [None, tc.Spline(), tc.PerStep()])
def test_fits_of_one_strength_for_all_slopes_learn_more_rows(curve):
    z, y, _ = simulate(240, 3, 0.5, 0)
    time = np.arange(240) % 4
    model = tc.VectorScaling()
    cal = model if curve is None else tc.TemporalCalibrator(model, curve)
    first, second = ({} if curve is None else {"time": time[part]} for part in PARTS)
    cal.partial_fit(z[:120], y[:120], **first)
    state = cal._online_state
    olds = tuple(
        replace(
            one,
            strengths=(*one.strengths[:2], *one.strengths[4:]),
            fixed_strengths=(*one.fixed_strengths[:2], *one.fixed_strengths[4:]),
            min_strengths=(*one.min_strengths[:2], *one.min_strengths[4:]),
        )
        for one in state.posteriors
    )
    cal._online_state = replace(state, posteriors=olds)
    cal.partial_fit(z[120:], y[120:], **second)
    assert "shrinkage_of_common_slope" in cal.summary_.details
    assert np.isfinite(cal.predict_proba(z, **({} if curve is None else {"time": time}))).all()

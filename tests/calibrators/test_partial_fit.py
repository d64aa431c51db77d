"""Learning from rows that come in parts."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import log_expit
from sklearn.base import clone

import tempocal as tc
from support.calibrators import simulate
from tempocal.errors import InputError


@pytest.mark.parametrize(
    "cal",
    [
        tc.TemperatureScaling(shrinkage=1.0),
        tc.PlattScaling(shrinkage=1.0),
        tc.PlattScaling(shrinkage=1.0, smooth_targets=True),
        tc.BetaCalibration(shrinkage=1.0),
        tc.VectorScaling(shrinkage=1.0),
        tc.MatrixScaling(shrinkage=1.0),
        tc.DirichletCalibration(shrinkage=1.0),
    ],
    ids=repr,
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_hundred_batches_are_as_good_as_a_fit(cal, n_classes):
    z, y = simulate(n_classes, 4000, seed=1)
    updated = clone(cal).partial_fit(z[:400], y[:400], classes=np.arange(n_classes))
    for rows in np.array_split(np.arange(400, 4000), 99):
        updated.partial_fit(z[rows], y[rows])
    fitted = clone(cal).fit(z, y)
    nll = [tc.metrics.nll(y, one.predict_proba(z)) for one in (updated, fitted)]
    assert abs(nll[0] - nll[1]) < 1e-4
    assert updated.summary().n_rows == 4000
    assert updated.summary().details["batches"] == 100


def test_an_update_is_the_optimum_of_the_new_rows_and_the_quadratic_of_the_old():
    """By an optimizer that knows nothing of ours."""
    z, y = simulate(2, 500, seed=2)
    z = z if z.ndim == 1 else z[:, 1] - z[:, 0]
    cal = tc.PlattScaling(shrinkage=0).partial_fit(z[:400], y[:400])
    first = np.array([cal.slope_[0], cal.bias_[0]])
    features = np.stack([z, np.ones(500)], axis=1)
    p = 1.0 / (1.0 + np.exp(-features[:400] @ first))
    curvature = (features[:400] * (p * (1.0 - p))[:, None]).T @ features[:400]

    def objective(theta):
        odds = features[400:] @ theta
        rows = -log_expit(np.where(y[400:] == 1, odds, -odds)).sum()
        return rows + 0.5 * (theta - first) @ curvature @ (theta - first)

    wanted = minimize(objective, first, method="BFGS", options={"gtol": 1e-9}).x
    cal.partial_fit(z[400:], y[400:])
    np.testing.assert_allclose([cal.slope_[0], cal.bias_[0]], wanted, atol=1e-6)


def test_smoothed_targets_know_all_rows():
    """Smoothed by each batch of four rows alone, targets would be far from the labels."""
    z, y = simulate(2, 2000, seed=3)
    cal = tc.PlattScaling(smooth_targets=True, shrinkage=1.0)
    updated = clone(cal).partial_fit(z[:200], y[:200])
    for rows in np.array_split(np.arange(200, 2000), 450):
        updated.partial_fit(z[rows], y[rows])
    np.testing.assert_allclose(updated.slope_, clone(cal).fit(z, y).slope_, rtol=0.02)


def test_weights_are_repetitions():
    z, y = simulate(2, 300, seed=4)
    one, other = (tc.TemperatureScaling(shrinkage=1.0).partial_fit(z, y) for _ in range(2))
    one.partial_fit(z[:50], y[:50], sample_weight=np.full(50, 2.0))
    other.partial_fit(np.concatenate([z[:50]] * 2), np.concatenate([y[:50]] * 2))
    assert one.temperature_ == pytest.approx(other.temperature_, rel=1e-10)


def test_labels_of_a_later_class():
    cal = tc.PlattScaling().partial_fit([0.1, -1.0, 2.0], ["no", "no", "no"], classes=["no", "yes"])
    cal.partial_fit([1.0, 2.0], ["yes", "no"])
    assert cal.classes_.tolist() == ["no", "yes"]
    with pytest.raises(InputError, match="maybe"):
        cal.partial_fit([1.0], ["maybe"])
    assert cal.summary().n_rows == 5


def test_classes_twice_must_agree():
    cal = tc.PlattScaling(classes=["no", "yes"])
    with pytest.raises(InputError, match="was made with"):
        cal.partial_fit([0.1, 1.0], ["no", "yes"], classes=["yes", "no"])


def test_it_goes_on_from_a_file(tmp_path):
    z, y = simulate(3, 600, seed=5)
    cal = tc.VectorScaling().partial_fit(z[:300], y[:300])
    cal.save(tmp_path / "model.json")
    other = tc.load(tmp_path / "model.json")
    for one in (cal, other):
        one.partial_fit(z[300:], y[300:])
    np.testing.assert_array_equal(cal.decision_function(z), other.decision_function(z))


def test_too_many_coefficients_to_remember():
    z, y = simulate(20, 2000, seed=6)
    cal = tc.MatrixScaling(shrinkage=10.0).fit(z, y)
    with pytest.raises(InputError, match="too many coefficients"):
        cal.partial_fit(z, y)


def test_it_goes_on_from_a_table():
    z, y = simulate(2, 400, seed=7)
    rows = pd.DataFrame({"z": z, "y": y})
    cal = tc.TemperatureScaling(shrinkage=1.0).partial_fit(5.0 * z, y)
    cal.fit_table(rows, logits="z", label="y")
    other = tc.TemperatureScaling(shrinkage=1.0).fit(z, y)
    for one in (cal, other):
        one.partial_fit(z[:20], y[:20])
    # A fit keeps the Hessian of its last evaluation, a relative step of 1e-6 from the solution.
    assert cal.temperature_ == pytest.approx(other.temperature_, rel=1e-7)

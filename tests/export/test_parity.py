"""Every export gives the probabilities that arrays get, and NaN where those are refused."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tempocal as tc
from export.runs import EXPORTS, assert_equal, run
from formula.random_models import random_model, random_rows
from support.calibrators import ALL, PARAMETRIC, at_fixed_shrinkage, simulate
from support.examples import examples
from support.lanes import by_turns
from support.matches import rows
from support.public_curves import with_every_curve
from tempocal.errors import InputError
from tempocal.maps import Curves, Scale, StepBasis
from tempocal.predictor import Predictor

CURVES = with_every_curve(
    [
        tc.Constant(),
        tc.PerStep(),
        tc.PerStep(unseen="interpolate"),
        tc.PerStep(bins=3),
        tc.ExponentialDecay(),
        tc.Spline(),
        tc.Spline(clock="time"),
        tc.RandomWalk(),
        tc.Surface(tc.Spline(intervals=3), tc.PerStep()),
        tc.Surface(tc.PerStep(unseen="interpolate"), tc.Spline(intervals=3)),
    ]
)
BINNED = [kind for kind in ALL if kind not in (*PARAMETRIC, tc.Identity)]
SEEDS = st.integers(0, 2**32 - 1)

pytestmark = pytest.mark.filterwarnings("ignore::tempocal.errors.TempocalWarning")


@pytest.mark.parametrize("export", EXPORTS)
@examples(15)
@given(seed=SEEDS)
def test_any_model(export, seed):
    model = random_model(seed)
    assert_equal(export, model, *random_rows(model, seed + 1))


@cache
def fitted(kind, n_classes, inputs):
    z, y = simulate(n_classes, 300)
    other, _ = simulate(n_classes, 300, seed=1)
    if inputs == "proba":
        z, other = (tc.Identity().fit(z, y).predict_proba(each) for each in (z, other))
    return kind(inputs=inputs).fit(z, y)._predictor(), other


@cache
def fitted_along(kind, curve, n_classes):
    z, y, time, groups = rows(n_classes, curve.n_clocks)
    cal = tc.TemporalCalibrator(at_fixed_shrinkage(kind), curve)
    return cal.fit(z, y, time=time, groups=groups)._predictor(), z + 0.01, time


def with_extremes(z):
    """Beside ordinary logits, large and infinite ones."""
    z = np.array(z)
    z[:8] *= np.array([40, 40, 300, 300, 1e5, 1e5, 1e12, 1e12]).reshape(-1, *[1] * (z.ndim - 1))
    ends = np.array([np.inf, -np.inf, 0.0])
    if z.ndim == 1:
        z[8:11] = ends
    else:
        z[8:11, 0] = ends
    return z


# Rows are others than those of the fit, which lie on the knots: there the last digit of the
# log-odds, in which engines differ, tells which side counts. Close to a knot curves can be steep.
def slack(kind):
    return {"relative": 1e-11} if "sotonic" in kind.__name__ else {}


@pytest.mark.parametrize(
    ("export", "kind", "n_classes", "inputs"),
    by_turns(EXPORTS, ALL, [2, 3], ["logits", "proba"], every=3),
)
def test_every_calibrator(export, kind, n_classes, inputs):
    model, z = fitted(kind, n_classes, inputs)
    z = with_extremes(z) if inputs == "logits" else z
    assert_equal(export, model, z, **slack(kind))


@pytest.mark.parametrize(
    ("curve", "export", "kind"), by_turns(CURVES, EXPORTS, PARAMETRIC, every=5), ids=str
)
def test_every_curve(export, kind, curve):
    model, z, time = fitted_along(kind, curve, 2)
    assert_equal(export, model, with_extremes(z), 1.7 * time - 3.1)


@pytest.mark.parametrize(
    ("export", "kind", "curve"),
    by_turns(EXPORTS, PARAMETRIC, [tc.PerStep(), tc.Spline()], every=3),
    ids=str,
)
def test_every_calibrator_of_three_classes_along_time(export, kind, curve):
    model, z, time = fitted_along(kind, curve, 3)
    assert_equal(export, model, with_extremes(z), 1.7 * time - 3.1)


@pytest.mark.parametrize(
    ("curve", "n_classes"), [(tc.PerStep(), 2), (tc.PerStep(bins=3), 3)], ids=str
)
@pytest.mark.parametrize("kind", BINNED)
@pytest.mark.parametrize("export", EXPORTS)
def test_every_binned_calibrator_along_time(export, kind, curve, n_classes):
    model, z, time = fitted_along(kind, curve, n_classes)
    assert_equal(export, model, with_extremes(z), 1.7 * time - 3.1, **slack(kind))


@pytest.mark.parametrize("export", ["onnx64", "torch64"])
def test_small_and_large_probabilities_keep_their_digits(export):
    model = Predictor("", np.arange(2), "logits", 1, Scale(0.5))
    z = np.linspace(-70.0, 70.0, 1001)
    found = run(export, model, z)
    with np.errstate(over="ignore"):
        truth = np.stack([1 / (1 + np.exp(0.5 * z)), 1 / (1 + np.exp(-0.5 * z))], axis=1)
    assert truth.min() < 1e-15
    np.testing.assert_allclose(found, truth, rtol=2e-15)


@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.parametrize("seed", [63, 20, 2])
@pytest.mark.parametrize("export", ["onnx64", "torch32"])
def test_any_number_of_rows(export, seed, n):
    model = random_model(seed)
    z, time = random_rows(model, seed + 1)
    found = run(export, model, z[:n], None if time is None else time[:n])
    assert found.shape == (n, len(model.classes))
    if n:
        whole = run(export, model, z, time)
        np.testing.assert_allclose(found, whole[:n], rtol=1e-14 if "64" in export else 1e-6)


@pytest.mark.parametrize(
    ("inputs", "columns", "row"),
    [
        ("logits", 1, [np.nan]),
        ("logits", 1, [1e16]),
        ("logits", 1, [-1e30]),
        ("logits", 3, [0.0, np.nan, 0.0]),
        ("logits", 3, [np.inf, np.inf, 0.0]),
        ("logits", 3, [-np.inf, -np.inf, -np.inf]),
        ("proba", 1, [np.nan]),
        ("proba", 1, [-0.1]),
        ("proba", 1, [1.000001]),
        ("proba", 3, [0.5, 0.5, 0.5]),
    ],
)
@pytest.mark.parametrize("export", EXPORTS)
def test_scores_that_are_refused_have_no_probability(export, inputs, columns, row):
    model = Predictor("", np.arange(max(columns, 2)), inputs, columns, Scale(0.7))
    with pytest.raises(InputError):
        model.predict_proba([row])
    fine = [1.0, *[0.0] * (columns - 1)]
    found = run(export, model, [row, fine])
    assert np.isnan(found[0]).all()
    assert np.isfinite(found[1]).all()


@pytest.mark.parametrize("time", [np.nan, np.inf, -np.inf, -1e308, 1.5])
@pytest.mark.parametrize("export", EXPORTS)
def test_times_that_are_refused_have_no_probability(export, time):
    steps = StepBasis(np.array([1.0, 2.0, 4.0]), "error")
    curves = Curves("scale", (steps,), (np.array([[1.0], [2.0], [3.0]]),))
    model = Predictor("", np.arange(2), "logits", 1, curves, ("number",))
    with pytest.raises(InputError):
        model.predict_proba([0.5], [time])
    found = run(export, model, [0.5, 0.5], [time, 4.0])
    assert np.isnan(found[0]).all()
    np.testing.assert_allclose(
        found[1], model.predict_proba([0.5], [4.0])[0][-found.shape[1] :], 1e-6
    )

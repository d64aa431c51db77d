"""A formula is what the model is: the same probabilities, and none where it refuses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tempocal as tc
from formula.random_models import (
    assert_same,
    columns_of,
    names,
    random_model,
    random_rows,
    rounding_of_odds,
)
from support.calibrators import ALL, PARAMETRIC, simulate
from support.examples import examples
from support.matches import rows
from support.public_curves import with_every_curve
from tempocal.errors import InputError
from tempocal.formula import evaluate_all, in_stages
from tempocal.formula.interpret import choose
from tempocal.formula.numpy_engine import NumpyEngine
from tempocal.maps import Curves, Scale, StepBasis
from tempocal.predictor import Predictor
from tempocal.predictor.formula import formula_of

SEEDS = st.integers(0, 2**32 - 1)


def work_out(model, z, time=None):
    found = evaluate_all(formula_of(model, *names(model)), columns_of(z, time))
    return np.stack(found, axis=1)


@examples(300)
@given(SEEDS)
def test_a_formula_gives_the_probabilities_of_any_model(seed):
    model = random_model(seed)
    z, time = random_rows(model, seed + 1)
    room = rounding_of_odds(model, z, time)
    assert_same(work_out(model, z, time), model.predict_proba(z, time), z, room=room)


@examples(100)
@given(SEEDS)
def test_stages_change_nothing(seed):
    model = random_model(seed)
    z, time = random_rows(model, seed + 1)
    columns = columns_of(z, time)
    formula = formula_of(model, *names(model))
    staged = in_stages(formula, "s")
    made = dict(columns)
    for stage in staged.stages:
        made |= dict(zip(stage, evaluate_all(list(stage.values()), made), strict=True))
    for one, other in zip(
        evaluate_all(staged.outputs, made), evaluate_all(formula, columns), strict=True
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("inputs", ["logits", "proba"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ALL)
def test_every_calibrator_has_a_formula(kind, n_classes, inputs):
    z, y = simulate(n_classes, 300)
    if inputs == "proba":
        z = tc.Identity().fit(z, y).predict_proba(z)
    cal = kind(inputs=inputs).fit(z, y)
    found, wanted = work_out(cal._predictor(), z), cal.predict_proba(z)
    # Between two knots that are close an isotonic curve is steep, and odds have a last digit.
    np.testing.assert_allclose(found, wanted, rtol=1e-11 if "sotonic" in kind.__name__ else 1e-12)


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
    ]
)


@pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")
@pytest.mark.parametrize("curve", CURVES, ids=str)
@pytest.mark.parametrize("kind", PARAMETRIC)
def test_every_curve_has_a_formula(kind, curve):
    z, y, time, groups = rows(2, curve.n_clocks)
    cal = tc.TemporalCalibrator(kind(shrinkage=1.0), curve).fit(z, y, time=time, groups=groups)
    asked = 1.7 * time - 3.1
    wanted = cal.predict_proba(z, asked)
    np.testing.assert_allclose(work_out(cal._predictor(), z, asked), wanted, rtol=1e-12)


def test_halves_find_what_a_search_finds():
    knots = [-1.0, 0.0, 0.5, 2.0, 7.0]
    asked = np.array([-2.0, -1.0, -0.5, 0.0, 0.5, 0.7, 2.0, 7.0, 8.0])
    for side in ("left", "right"):
        found = choose(NumpyEngine({}), asked, knots, [float(k) for k in range(6)], side)
        np.testing.assert_array_equal(found, np.searchsorted(knots, asked, side=side))


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        (1, [np.nan]),
        (1, [1e16]),
        (1, [-1e300]),
        (3, [0.0, np.nan, 0.0]),
        (3, [np.inf, np.inf, 0.0]),
        (3, [-np.inf, -np.inf, -np.inf]),
        (3, [0.0, 0.0, 2.0**54]),
    ],
)
def test_logits_that_are_refused_have_no_probability(columns, row):
    model = Predictor("", np.arange(max(columns, 2)), "logits", columns, Scale(0.7))
    with pytest.raises(InputError):
        model.predict_proba([row])
    assert np.isnan(work_out(model, np.array([row]))).all()


@pytest.mark.parametrize(
    ("columns", "row"),
    [(1, [np.nan]), (1, [-0.1]), (1, [1.0000001]), (3, [0.5, 0.5, 0.5]), (3, [1.5, -0.5, 0.0])],
)
def test_probabilities_that_are_refused_have_none(columns, row):
    model = Predictor("", np.arange(max(columns, 2)), "proba", columns, Scale(0.7))
    with pytest.raises(InputError):
        model.predict_proba([row])
    assert np.isnan(work_out(model, np.array([row]))).all()


@pytest.mark.parametrize("time", [np.nan, np.inf, -1e308, 1.5])
def test_times_that_are_refused_have_no_probability(time):
    steps = StepBasis(np.array([1.0, 2.0, 4.0]), "error")
    curves = Curves("scale", (steps,), (np.ones((3, 1)),))
    model = Predictor("", np.arange(2), "logits", 1, curves, ("number",))
    with pytest.raises(InputError):
        model.predict_proba([0.5], [time])
    found = work_out(model, np.array([0.5, 0.5]), np.array([time, 4.0]))
    assert np.isnan(found[0]).all()
    assert np.isfinite(found[1]).all()


def test_a_wrong_number_of_columns_is_refused():
    model = Predictor("", np.arange(2), "logits", 1, Scale(0.7))
    with pytest.raises(InputError, match="takes 1 column of logits, but 2 are named"):
        formula_of(model, ["a", "b"])
    with pytest.raises(InputError, match="takes 0 columns of time, but 1 is named"):
        formula_of(model, ["a"], ["t"])

"""The scorer gives the numbers of the calibrator, row by row."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tempocal as tc
from formula.random_models import assert_same, random_model, random_rows, rounding_of_odds
from support.calibrators import ALL, PARAMETRIC
from support.documents import document_of, text_of
from support.examples import examples
from support.matches import rows
from support.public_curves import with_every_curve
from tempocal import scorer
from tempocal.predictor import Predictor
from tempocal.predictor.document import ModelDocument

pytestmark = pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")

CURVES = with_every_curve(
    [
        None,
        tc.Constant(),
        tc.PerStep(),
        tc.PerStep(unseen="interpolate"),
        tc.PerStep(bins=3),
        tc.ExponentialDecay(),
        tc.Spline(intervals=2, smoothness=1.0),
        tc.Spline(intervals=5, smoothness=1.0, clock="time"),
        tc.RandomWalk(smoothness=1.0),
        tc.Surface(tc.Spline(intervals=3, smoothness=1.0), tc.PerStep()),
        tc.Surface(tc.ExponentialDecay(), tc.Spline(intervals=1, smoothness=1.0)),
    ]
)
BARE = [None, CURVES[2], CURVES[4]]
CASES = [
    pytest.param(kind, curve, id=f"{kind.__name__}-{curve}")
    for kind in ALL
    for curve in (CURVES if kind in PARAMETRIC else BARE)
]
SHAPES = {"one column": (2, 1), "two columns": (2, 2), "three classes": (3, 3)}
EXTREME = [0.0, -0.0, 1e-300, 40.0, -40.0, 1e3, -1e3, 1e6, 2.0**53, -(2.0**53), np.inf, -np.inf]
CERTAIN = [0.0, 1.0, 1e-300, 5e-324, 1e-17, 0.5, 1.0 - 2.0**-53]
TIMES = [-8e307, -1e6, -0.5, 0.0, 0.5, 1.5, 2.0, 2.25, 3.0, 6.5, 7.0, 1e3, 1e9, 8e307]


def asked_rows(columns, inputs):
    """Return ordinary predictions of a fit and extreme ones."""
    z = rows(max(columns, 2))[0][:40]
    if columns == 1:
        z = np.concatenate([z, EXTREME])
        share = 1 / (1 + np.exp(-np.clip(z, -700, 700)))
        return np.concatenate([share, CERTAIN]) if inputs == "proba" else z
    z = z if columns == 3 else np.column_stack([-z / 3, z])
    extreme = np.zeros((len(EXTREME), columns))
    extreme[:, 0] = EXTREME
    masked = np.roll(np.column_stack([[np.inf], np.full((1, columns - 1), -np.inf)]), 1)
    z = np.concatenate([z, extreme, extreme[:, ::-1] + 0.3, masked])
    if inputs == "logits":
        return z
    z = np.clip(z, -1e4, 1e4)
    shares = np.exp(z - z.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


@cache
def fitted(kind, curve, shape, inputs):
    n_classes, columns = SHAPES[shape]
    clocks = 1 if curve is None else curve.n_clocks
    z, y, time, groups = rows(n_classes, clocks)
    z = np.column_stack([-z / 3, z]) if shape == "two columns" else z
    if inputs == "proba":
        z = tc.Identity().fit(z, y).predict_proba(z)
        z = z[:, 1] if columns == 1 else z
    inner = kind(inputs=inputs, **({"shrinkage": 1.0} if kind in PARAMETRIC else {}))
    if curve is None:
        return inner.fit(z, y, groups=groups)
    return tc.TemporalCalibrator(inner, curve).fit(z, y, time=time, groups=groups)


def asked_times(clocks, n):
    rng = np.random.default_rng(0)
    return rng.choice(TIMES, (n, clocks))[:, 0 if clocks == 1 else slice(None)] if clocks else None


def one_by_one(function, z, time):
    """Return what a scorer makes of each row."""
    times = [None] * len(z) if time is None else time.tolist()
    return np.array([function(*pair) for pair in zip(z.tolist(), times, strict=True)])


@pytest.mark.parametrize("inputs", ["logits", "proba"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("kind", "curve"), CASES)
def test_every_model_scores_as_it_predicts(kind, curve, shape, inputs, tmp_path):
    cal = fitted(kind, curve, shape, inputs)
    cal.save(tmp_path / "model.json")
    one = scorer.load(tmp_path / "model.json")
    z = asked_rows(SHAPES[shape][1], inputs)
    time = asked_times(len(one.time_kinds), len(z))
    given_time = {} if time is None else {"time": time}
    with np.errstate(over="ignore"):  # rate times the latest time
        wanted = cal.predict_proba(z, **given_time)
        odds = cal.decision_function(z, **given_time)
    found = one_by_one(one, z, time)
    columns = wanted[:, 1] if z.ndim == 1 else wanted
    np.testing.assert_allclose(found, columns, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(one_by_one(one.log_odds, z, time), odds, rtol=1e-12, atol=2e-12)
    np.testing.assert_array_equal(one_by_one(one.score, z, time), found)
    assert one.classes == tuple(cal.classes_.tolist())
    assert one.columns == SHAPES[shape][1]
    assert one.inputs == inputs
    assert one.name == cal.summary().calibrator


@examples(300)
@given(st.integers(0, 2**32 - 1))
def test_any_model_scores_as_it_predicts(seed):
    content = document_of(random_model(seed))
    model = Predictor.from_document(ModelDocument.from_dict(content))
    one = scorer.loads(text_of(content))
    z, time = random_rows(model, seed + 1)
    z = z[:, 0] if model.columns == 1 else z
    wanted = model.predict_proba(z, time)
    found = one_by_one(one, z, time).reshape(len(z), -1)
    room = rounding_of_odds(model, z, time)
    if model.columns == 1:
        wanted, room = wanted[:, 1:], room[:, 1:]
    assert_same(found, wanted, z, room=room)


LOGITS = st.floats(-(2.0**53), 2.0**53) | st.sampled_from([np.inf, -np.inf]) | st.floats(-40, 40)


@pytest.mark.parametrize(
    ("kind", "curve"),
    [
        (tc.TemperatureScaling, tc.ExponentialDecay()),
        (tc.PlattScaling, CURVES[6]),
        (tc.BetaCalibration, tc.PerStep()),
        (tc.IsotonicCalibration, tc.PerStep()),
        (tc.HistogramBinning, CURVES[4]),
    ],
    ids=str,
)
@examples(100)
@given(logit=LOGITS, time=st.floats(-8e307, 8e307) | st.floats(-1, 9))
def test_any_logit_at_any_time(kind, curve, logit, time):
    cal = fitted(kind, curve, "one column", "logits")
    one = scorer.loads(text_of(document_of(cal._predictor())))
    with np.errstate(over="ignore"):
        wanted = cal.predict_proba([logit], time=[time])[:, 1:]
    room = rounding_of_odds(cal._predictor(), [logit], [time])[:, 1:]
    assert_same(np.array([[one(logit, time)]]), wanted, np.array([logit]), room=room)

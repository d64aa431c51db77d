"""Forged files with a right checksum: refused in words, or they predict probabilities.

Every number of a document of each kind of model is replaced by hostile values, one at a time, and
every entry removed, shortened, lengthened, doubled and turned around. Of these a sample is tried,
the same each time; ``TEMPOCAL_FORGED=all`` tries all of them, for hours.
"""

import os
import warnings
from contextlib import suppress

import numpy as np
import pytest

import tempocal as tc
from support.documents import text_of
from support.forging import models, sample
from support.lanes import by_turns, usually
from tempocal import scorer
from tempocal.errors import InputError, ModelFileError
from tempocal.modelfile import read_document
from tempocal.predictor import read_model

EACH = [10**9] if os.environ.get("TEMPOCAL_FORGED") == "all" else [8, 24]
SHARDS = 10
EXTREME = [0.0, -1.3, 2.5, 1e-300, -40.0, 800.0, 2.0**53, -(2.0**53)]
TIMES = [0.0, 1.0, 2.5, 1e6, 8e307, -8e307]


@pytest.fixture(scope="module")
def made():
    return list(models().items())


def asked(columns, inputs):
    """Return ordinary and extreme predictions."""
    if inputs == "proba":
        share = np.array([0.0, 1.0, 0.5, 1e-12, 0.3])
        rest = [(1.0 - share) / max(columns - 1, 1)] * (columns - 1)
        return share if columns == 1 else np.stack([share, *rest], axis=1)
    if columns == 1:
        return np.array(EXTREME)
    return np.random.default_rng(1).choice(EXTREME, size=(10, columns))


def assert_probabilities(proba, what):
    proba = np.asarray(proba)
    assert ((proba >= 0.0) & (proba <= 1.0)).all(), what
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-9, err_msg=what)


def require_unseen(error, what):
    """A time that is no step of the fit is the only thing that a model may refuse here."""
    if "had not seen" not in str(error):
        raise AssertionError(what) from error


def answers(model, columns, inputs, kinds, what):
    """Return the probabilities at each time; None where there is no such step."""
    rows = asked(columns, inputs)
    found = []
    for time in TIMES if kinds else (None,):
        when = {} if time is None else {"time": np.full((len(rows), len(kinds)), time).squeeze()}
        try:
            found.append(model.predict_proba(rows, **when))
        except InputError as error:
            require_unseen(error, what)
            found.append(None)
            continue
        assert_probabilities(found[-1], what)
    return found


def scored(one, what):
    rows = asked(one.columns, one.inputs)
    found = []
    for time in TIMES if one.time_kinds else (None,):
        when = (time, time) if len(one.time_kinds) == 2 else time
        try:
            shares = [one(row.tolist(), when) for row in rows]
        except ValueError as error:
            require_unseen(error, what)
            found.append(None)
            continue
        found.append([[1 - share, share] for share in shares] if one.columns == 1 else shares)
        assert_probabilities(found[-1], what)
    return found


def is_moderate(part):
    """Tell whether numbers are such that the order of additions does not matter."""
    parts = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    large = isinstance(part, int | float) and abs(part) > 1e6
    return not large and all(map(is_moderate, parts))


@pytest.mark.parametrize("each", usually(EACH, lambda each: each != 24))
@pytest.mark.parametrize("shard", range(SHARDS))
def test_what_loads_predicts_probabilities(tmp_path, made, shard, each):
    path = tmp_path / "model.json"
    loaded = 0
    for name, model in made[shard::SHARDS]:
        model.save(path)
        content = read_document(path)
        assert path.read_bytes() in (text_of(content), text_of(content, schema=2))
        for alteration in sample(content, each, seed=len(name)):
            altered, what = alteration.of(content), f"{name}: {alteration}"
            path.write_bytes(text_of(altered))
            with warnings.catch_warnings():
                # NumPy warns of a product that is not finite.
                warnings.simplefilter("error")
                loaded += check(path, altered, what)
    assert loaded > 0


def check(path, altered, what):
    """Read a file in all ways; return whether it could be."""
    cal = given = one = None
    with suppress(ModelFileError):
        cal = tc.load(path)
    try:
        given = read_model(path)
    except ModelFileError:
        assert cal is None, what
    try:
        one = scorer.load(path)
    except scorer.ModelError:
        assert given is None, what
    kinds = () if given is None else given.time_kinds
    if given is None or not set(kinds) <= {"number"} or given.columns > 10:
        return 0
    found = answers(given, given.columns, given.inputs, kinds, what)
    if cal is not None and getattr(cal, "time_column", None) is None:
        for left, right in zip(
            found, answers(cal, given.columns, given.inputs, kinds, what), strict=True
        ):
            np.testing.assert_array_equal(left, right, err_msg=what)
        assert str(cal.summary()), what
        if kinds == ("number",) and getattr(cal, "bands_", ()):
            assert_bands(cal, what)
    for left, right in zip(found, scored(one, what), strict=True):
        if left is not None and is_moderate(altered.get("map", [])):
            np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-12, err_msg=what)
    return 1


def assert_bands(cal, what):
    try:
        bands = cal.interval_at([0.0, 3.0, 1e6])
    except InputError as error:
        require_unseen(error, what)
        return
    for band in bands.values():
        assert np.isfinite(band.lower).all(), what
        assert np.isfinite(band.upper).all(), what


def test_steep_models_that_a_fit_can_make_load(tmp_path):
    """Logits of 1e-100 give slopes of 1e100, with variances of 1e200: far within the bounds."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=400)
    y = (rng.random(400) < 1 / (1 + np.exp(-z))).astype(int)
    when = {"time": np.arange(400) % 5, "groups": np.arange(400) // 5}
    for curve in (tc.Constant(), tc.PerStep(), tc.Spline(intervals=2), tc.ExponentialDecay()):
        cal = tc.TemporalCalibrator(tc.PlattScaling(), curve).fit(1e-99 * z, y, **when)
        cal.save(tmp_path / "model.json")
        again = tc.load(tmp_path / "model.json")
        wanted = cal.predict_proba(1e-99 * z, time=when["time"])
        np.testing.assert_array_equal(again.predict_proba(1e-99 * z, time=when["time"]), wanted)
        one = scorer.load(tmp_path / "model.json")
        assert one(1e-99 * z[0], 0) == pytest.approx(wanted[0, 1], rel=1e-9)


@pytest.mark.parametrize(
    ("cal", "scale"),
    by_turns(
        [
            tc.TemperatureScaling(),
            tc.PlattScaling(),
            tc.VectorScaling(),
            tc.MatrixScaling(shrinkage=1.0),
            tc.BetaCalibration(),
            tc.DirichletCalibration(shrinkage=1.0),
            tc.IsotonicCalibration(),
            tc.HistogramBinning(),
        ],
        [1e-80, 1e-30, 1e10, 1e14],
        every=3,
    ),
    ids=repr,
)
def test_models_of_any_scale_load(tmp_path, cal, scale):
    rng = np.random.default_rng(0)
    z = scale * rng.normal(size=(200, 3))
    y = (z / scale + rng.normal(size=(200, 3))).argmax(axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cal.fit(z, y).save(tmp_path / "model.json")
    loaded = tc.load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict_proba(z), cal.predict_proba(z))
    scorer.load(tmp_path / "model.json")

"""A model read without scikit-learn predicts as the calibrator does, and is as careful."""

import copy
import json
import subprocess
import sys

import numpy as np
import pytest

import tempocal as tc
from support.calibrators import ALL, at_fixed_shrinkage, simulate
from support.matches import fitted, rows, table
from tempocal.errors import (
    DamagedModelFileError,
    InputError,
    ModelFileError,
    NewerModelFileError,
    NotAModelFileError,
)
from tempocal.modelfile import read_document, write_document
from tempocal.predictor import Predictor, read_model
from tempocal.predictor.document import ModelDocument

pytestmark = pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")

CURVES = [
    tc.Constant(),
    tc.PerStep(),
    tc.PerStep(bins=3),
    tc.ExponentialDecay(),
    tc.Spline(intervals=2, smoothness=1.0),
    tc.RandomWalk(smoothness=1.0),
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.json"


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ALL)
def test_a_calibrator_of_all_times_predicts_the_same_to_the_bit(kind, n_classes, path):
    z, y = simulate(n_classes, 300)
    at_fixed_shrinkage(kind).fit(z, y).save(path)
    model = read_model(path)
    np.testing.assert_array_equal(model.predict_proba(z), tc.load(path).predict_proba(z))
    assert model.time_kinds == ()
    assert model.columns == (1 if n_classes == 2 else 3)
    assert model.name == kind.__name__


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("curve", CURVES, ids=str)
@pytest.mark.parametrize("kind", [tc.TemperatureScaling, tc.PlattScaling, tc.BetaCalibration])
def test_a_calibrator_along_time_predicts_the_same_to_the_bit(kind, curve, n_classes, path):
    fitted(kind(shrinkage=1.0), curve, n_classes).save(path)
    z, _, time, _ = rows(n_classes)
    model = read_model(path)
    expected = tc.load(path).predict_proba(z, time=time)
    np.testing.assert_array_equal(model.predict_proba(z, time), expected)
    assert model.time_kinds == ("number",)
    assert kind.__name__ in model.name


def test_two_clocks_predict_the_same_to_the_bit(path):
    curve = tc.Surface(tc.ExponentialDecay(), tc.Spline(intervals=1, smoothness=1.0))
    fitted(tc.TemperatureScaling(shrinkage=1.0), curve).save(path)
    z, _, time, _ = rows(clocks=2)
    expected = tc.load(path).predict_proba(z, time=time)
    np.testing.assert_array_equal(read_model(path).predict_proba(z, time), expected)


def test_the_time_of_a_time_column_is_passed_apart(path):
    frame, y = table(3)
    tc.TemporalCalibrator(tc.PlattScaling(), tc.PerStep(), time_column="round").fit(frame, y).save(
        path
    )
    model = read_model(path)
    assert model.columns == 3
    apart = model.predict_proba(frame.drop(columns="round").to_numpy(), frame["round"])
    np.testing.assert_array_equal(apart, tc.load(path).predict_proba(frame))


def test_what_auto_chose_is_read(path):
    z, y, time, groups = rows()
    proba = 1 / (1 + np.exp(-z))
    auto = tc.AutoTemporalCalibrator(
        [tc.TemperatureScaling(), (tc.TemperatureScaling(), tc.ExponentialDecay())],
        inputs="proba",
    )
    auto.fit(proba, y, time=time, groups=groups).save(path)
    model = read_model(path)
    assert model.inputs == "proba"
    np.testing.assert_array_equal(
        model.predict_proba(proba, time), tc.load(path).predict_proba(proba, time=time)
    )


def test_labels_keep_their_type(path):
    z, y = simulate(2, 50)
    tc.TemperatureScaling(classes=["won", "lost"]).fit(z, np.array(["won", "lost"])[y]).save(path)
    assert read_model(path).classes.tolist() == ["won", "lost"]


def test_datetimes_must_be_datetimes(path):
    z, y, time, _ = rows()
    when = np.datetime64("2026-05-01") + time.astype("m8[D]")
    tc.TemporalCalibrator().fit(z, y, time=when).save(path)
    model = read_model(path)
    expected = tc.load(path).predict_proba(z, time=when)
    np.testing.assert_array_equal(model.predict_proba(z, when), expected)
    with pytest.raises(InputError, match="datetime in the fit and is number now"):
        model.predict_proba(z, time)


def test_wrong_arguments_are_refused(path):
    z, y, time, _ = rows()
    tc.TemperatureScaling().fit(z, y).save(path)
    with pytest.raises(InputError, match="does not change along time"):
        read_model(path).predict_proba(z, time)
    with pytest.raises(InputError, match="must have 1 column as in the fit, but they have 2"):
        read_model(path).predict_proba(np.stack([z, z], axis=1))
    tc.TemporalCalibrator().fit(z, y, time=time).save(path)
    with pytest.raises(InputError, match="time is missing"):
        read_model(path).predict_proba(z)
    with pytest.raises(InputError, match="within 8e"):
        read_model(path).predict_proba(z, np.full(len(z), 1e308))


def test_predicting_does_not_import_scikit_learn(path):
    z, y, time, _ = rows()
    tc.TemporalCalibrator().fit(z, y, time=time).save(path)
    code = (
        "import sys; from tempocal.predictor import Predictor, read_model;"
        f"read_model({str(path)!r}).predict_proba([0.5], [1.0]);"
        "assert not {'sklearn', 'scipy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a,b\n1,2\n", NotAModelFileError),
        ('{\n  "format": "tempocal-model",\n', DamagedModelFileError),
        ('{\n  "format": "tempocal-model",\n  "schema": 999,\n', NewerModelFileError),
    ],
)
def test_a_file_that_is_no_model_is_refused_as_by_load(text, error, path):
    path.write_text(text)
    for read in (read_model, tc.load):
        with pytest.raises(error):
            read(path)


def test_a_flipped_digit_is_refused(path):
    tc.TemperatureScaling().fit(*simulate(2, 50)).save(path)
    path.write_text(path.read_text().replace("0.", "1.", 1))
    with pytest.raises(DamagedModelFileError):
        read_model(path)


def places(content, path=()):
    """Every place in a document that predictions depend on."""
    unread = path[:1] in (("written_by",), ("bands",), ("comparison",)) or "summary" in path[:-1]
    if path and not unread:
        yield path
    if isinstance(content, dict | list) and not unread:
        for key in content if isinstance(content, dict) else range(len(content)):
            yield from places(content[key], (*path, key))


def damaged(content, path, value):
    copied = copy.deepcopy(content)
    inner = copied
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return copied


@pytest.mark.parametrize("wrong", [None, 5, "x", [], {}, ["x"], {"kind": "x"}, True], ids=str)
@pytest.mark.parametrize("along_time", [True, False])
def test_what_load_refuses_never_crashes(wrong, along_time, path):
    """A forged file may predict nonsense, but it is read whole or refused in words."""
    z, y, time, _ = rows(3)
    if along_time:
        fitted(tc.PlattScaling(shrinkage=1.0), tc.PerStep(), 3).save(path)
    else:
        tc.PlattScaling().fit(z, y).save(path)
    content = json.loads(json.dumps(read_document(path)))
    refused = 0
    for place in places(content):
        try:
            model = Predictor.from_document(ModelDocument.from_dict(damaged(content, place, wrong)))
        except ModelFileError:
            refused += 1
            continue
        assert model.predict_proba(z, time if along_time else None).shape == (len(z), 3)
    assert refused > 10


def test_the_error_names_the_file(path):
    tc.TemperatureScaling().fit(*simulate(2, 50)).save(path)
    write_document(path, {**read_document(path), "columns": 7})
    with pytest.raises(DamagedModelFileError, match=r"model\.json: .*do not go together"):
        read_model(path)

"""A saved calibrator is the same one, to the bit, or it is refused."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import tempocal as tc
from support.calibrators import ALL, simulate
from tempocal.modelfile import read_document, write_document

every_kind = pytest.mark.parametrize("kind", ALL)


@every_kind
@pytest.mark.parametrize("n_classes", [2, 3])
def test_predictions_are_equal_to_the_bit(kind, n_classes, tmp_path):
    z, y = simulate(n_classes, 200)
    cal = kind().fit(z, y)
    cal.save(tmp_path / "model.json")
    loaded = tc.load(tmp_path / "model.json")
    new = 100 * simulate(n_classes, 500, seed=1)[0]
    assert type(loaded) is kind
    for method in ("predict_proba", "predict_log_proba", "decision_function", "predict"):
        np.testing.assert_array_equal(getattr(loaded, method)(new), getattr(cal, method)(new))
    assert str(loaded.summary()) == str(cal.summary())
    assert loaded.get_params() == cal.get_params()
    assert loaded.n_features_in_ == cal.n_features_in_


def test_another_process_predicts_the_same(tmp_path):
    z, y = simulate(2, 200)
    cal = tc.PlattScaling().fit(z, y)
    cal.save(tmp_path / "model.json")
    code = (
        "import sys, tempocal as tc; print(tc.load(sys.argv[1]).predict_proba([0.3])[0, 1].hex())"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "model.json")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert float.fromhex(run.stdout) == cal.predict_proba([0.3])[0, 1]


@pytest.mark.parametrize(
    "classes",
    [[3, 7], [-1, 1], ["no", "yes"], [False, True], [0.0, 1.0], np.array([0, 200], np.uint8),
     np.array(["a", "bb"], dtype=object), [2**62, 2**62 + 1]],
    ids=str,
)  # fmt: skip
def test_labels_come_back_as_they_were(classes, tmp_path):
    z, y = simulate(2, 50)
    labels = np.asarray(classes)[y]
    cal = tc.TemperatureScaling().fit(z, labels)
    cal.save(tmp_path / "model.json")
    loaded = tc.load(tmp_path / "model.json")
    assert loaded.classes_.dtype == cal.classes_.dtype
    np.testing.assert_array_equal(loaded.predict(z), cal.predict(z))


def test_constructor_arguments_come_back(tmp_path):
    z, y = simulate(2, 50)
    cal = tc.PlattScaling(shrinkage=(np.float64(2.0), 3), classes=["b", "a"])
    cal.fit(z, np.array(["b", "a"])[y]).save(tmp_path / "model.json")
    loaded = tc.load(tmp_path / "model.json")
    assert loaded.shrinkage == (2.0, 3)
    assert list(loaded.classes) == ["b", "a"]
    assert list(loaded.classes_) == ["b", "a"]
    assert loaded.fit(z, np.array(["b", "a"])[y]).slope_ == cal.slope_


def test_column_names_come_back(tmp_path):
    z, y = simulate(3, 50)
    frame = pd.DataFrame(z, columns=["home", "draw", "away"])
    tc.VectorScaling().fit(frame, y).save(tmp_path / "model.json")
    loaded = tc.load(tmp_path / "model.json")
    loaded.predict_proba(frame)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict_proba(frame[["away", "draw", "home"]])


def test_labels_that_json_cannot_hold_are_refused(tmp_path):
    z, y = simulate(2, 50)
    labels = np.array([b"x", b"y"])[y]
    with pytest.raises(tc.errors.InputError, match="cannot be saved"):
        tc.TemperatureScaling().fit(z, labels).save(tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


@every_kind
def test_what_is_not_fitted_is_not_saved(kind, tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        kind().save(tmp_path / "model.json")


def damage(content, path, value):
    """Set the entry at a path of keys, or drop it if the value is None."""
    *outer, last = path
    for key in outer:
        content = content[key]
    if value is None:
        del content[last]
    else:
        content[last] = value


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["calibrator"], "os.system"),
        (["calibrator"], "Summary"),
        (["calibrator"], ["TemperatureScaling"]),
        (["calibrator"], "PlattScaling"),
        (["parameters"], []),
        (["parameters", "shrinkage"], None),
        (["parameters", "surprise"], 1),
        (["classes", "dtype"], "M8[D]"),
        (["classes", "dtype"], "|O,evil"),
        (["classes", "values"], ["a", "b"]),
        (["classes", "values"], [0, 1, 2]),
        (["classes", "values"], "01"),
        (["classes", "surprise"], 1),
        (["classes"], 5),
        (["parameters", "classes"], {"dtype": "<i8", "values": [0, 2]}),
        (["columns"], 7),
        (["columns"], "1"),
        (["map", "kind"], "eval"),
        (["map", "inverse_temperature"], "1.0"),
        (["map", "inverse_temperature"], None),
        (["map"], {"kind": "OneVsRest", "maps": []}),
        (["map"], {"kind": "OneVsRest", "maps": [{"kind": "Line", "slope": 1.0, "bias": 0.0}]}),
        (["map"], {"kind": "Affine", "weights": [1.0], "bias": [0.0, 0.0], "of_log_proba": True}),
        (["summary"], None),
        (["summary", "n_rows"], None),
        (["summary", "n_rows"], "many"),
        (["summary", "nll_after"], "low"),
        (["summary", "details"], []),
        (["column_names"], "ab"),
        (["column_names"], [1, 2]),
    ],
    ids=str,
)
def test_a_file_that_makes_no_sense_is_refused(path, value, tmp_path):
    """Even if its checksum is right."""
    file = tmp_path / "model.json"
    tc.TemperatureScaling().fit(*simulate(2, 50)).save(file)
    content = json.loads(json.dumps(read_document(file)))
    damage(content, path, value)
    write_document(file, content)
    with pytest.raises(tc.errors.DamagedModelFileError):
        tc.load(file)


def test_a_flipped_number_is_refused(tmp_path):
    file = tmp_path / "model.json"
    tc.TemperatureScaling().fit(*simulate(2, 50)).save(file)
    text = file.read_text()
    number = text.split('"inverse_temperature": ')[1][:6]
    file.write_text(text.replace(number, number[:-1] + str((int(number[-1]) + 1) % 10)))
    with pytest.raises(tc.errors.DamagedModelFileError):
        tc.load(file)

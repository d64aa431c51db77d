"""Model files that version 0.1 wrote, one of every kind: they load, and predict what they did then.

`predictions.json` beside them has the probabilities of 0.1. They are the same to the bit on one
machine; between machines the exponential of NumPy may differ in its last bit.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import tempocal as tc
from tempocal import scorer

FOLDER = Path(__file__).parent / "files_of_0_1"
SAVED = json.loads((FOLDER / "predictions.json").read_text())
LAST_BITS = 1e-15


def inputs_of(entry):
    z = np.array(SAVED["logits"][str(entry["classes"])])
    if entry["inputs"] == "logits":
        return z
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) if z.ndim == 2 else 1.0 / (1.0 + np.exp(-z))


def times_of(entry):
    kind = entry["time"]
    if kind is None:
        return {}
    if kind in ("datetime", "timedelta"):
        seconds = np.array(SAVED["times"]["timedelta"]).astype("m8[s]")
        return {"time": seconds + (np.datetime64("2026-05-01") if kind == "datetime" else 0)}
    return {"time": np.array(SAVED["times"][kind], dtype=float)}


@pytest.mark.parametrize("name", SAVED["models"])
def test_predicts_what_it_did(name, tmp_path):
    entry = SAVED["models"][name]
    wanted = np.array([[float.fromhex(p) for p in row] for row in entry["proba"]])
    model = tc.load(FOLDER / f"{name}.json")
    found = model.predict_proba(inputs_of(entry), **times_of(entry))
    np.testing.assert_allclose(found, wanted, rtol=LAST_BITS, atol=LAST_BITS)
    model.save(tmp_path / "again.json")
    again = tc.load(tmp_path / "again.json").predict_proba(inputs_of(entry), **times_of(entry))
    assert (again == found).all()


@pytest.mark.parametrize("name", SAVED["models"])
def test_the_scorer_reads_it(name):
    entry = SAVED["models"][name]
    if entry["time"] is None and entry["inputs"] == "logits":
        row = inputs_of(entry)[0]
        found = scorer.load(FOLDER / f"{name}.json")(row.tolist())
        proba = [float.fromhex(p) for p in entry["proba"][0]]
        wanted = proba if entry["classes"] > 2 else proba[1]
        np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-15)
    else:
        assert scorer.load(FOLDER / f"{name}.json") is not None


def test_there_is_one_of_every_kind():
    kinds = {json.loads(path.read_text())["content"]["calibrator"] for path in FOLDER.glob("*-*")}
    names = {name for name in dir(tc) if isinstance(getattr(tc, name), type)}
    have_files = {name for name in names if hasattr(getattr(tc, name), "save")}
    since = {"QuadraticScaling"}
    assert have_files - {"CalibratedSequenceClassifier"} - since <= kinds

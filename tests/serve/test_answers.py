"""The numbers of the service are those of `predict_proba`."""

import hashlib
import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tempocal as tc
from formula.random_models import assert_same, random_model, random_rows, rounding_of_odds
from serve.asking import ask, model_of, refused, save, service_of
from support.examples import examples
from support.matches import rows
from tempocal.errors import DamagedModelFileError
from tempocal.maps import Scale
from tempocal.predictor import read_model
from tempocal.serve.answers import answer
from tempocal.serve.json_times import LARGEST_TIME
from tempocal.serve.served_model import read_served_model


def probabilities(service, content):
    answered = ask(service, content)
    assert answered.status_code == 200, answered.text
    return answered.json()["probabilities"]


@pytest.mark.parametrize(("n_classes", "columns"), [(2, 1), (2, 2), (3, 3)])
@pytest.mark.parametrize("inputs", ["logits", "proba"])
def test_rows_of_a_fitted_calibrator(n_classes, columns, inputs, tmp_path):
    z, y, time, groups = rows(n_classes)
    z = np.column_stack([-z / 3, z]) if columns == 2 else z
    if inputs == "proba":
        z = tc.Identity().fit(z, y).predict_proba(z)
        z = z[:, 1] if columns == 1 else z
    inner = tc.VectorScaling(inputs=inputs) if columns > 1 else tc.PlattScaling(inputs=inputs)
    cal = tc.TemporalCalibrator(inner, tc.Spline(smoothness=1.0))
    cal.fit(z, y, time=time, groups=groups).save(tmp_path / "model.json")
    wanted = cal.predict_proba(z, time=time)
    pairs = zip(z.tolist(), time.tolist(), strict=True)
    asked = [{inputs: scores, "time": when} for scores, when in pairs]
    served = read_served_model(tmp_path / "model.json")
    many = answer(served, json.dumps({"rows": asked}).encode(), max_rows=10**6)
    assert many.rows == len(z)
    found = json.loads(many.body)["probabilities"]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    one = json.loads(answer(served, json.dumps(asked[7]).encode(), max_rows=1).body)
    assert one["probabilities"] == found[7]


@examples(60)
@given(st.integers(0, 2**32 - 1))
def test_any_model_scores_as_it_predicts(tmp_path_factory, seed):
    model = random_model(seed)
    served = read_served_model(save(model, tmp_path_factory.mktemp("any") / "model.json"))
    z, time = random_rows(model, seed + 1)
    taken = np.isfinite(z).all(axis=1)
    if time is not None:
        taken &= np.abs(time).reshape(len(z), -1).max(axis=1) < LARGEST_TIME
    z, time = z[taken], None if time is None else time[taken]
    z = z[:, 0] if model.columns == 1 else z
    asked = [{model.inputs: scores} for scores in z.tolist()]
    if time is not None:
        asked = [row | {"time": when} for row, when in zip(asked, time.tolist(), strict=True)]
    body = answer(served, json.dumps({"rows": asked}).encode(), max_rows=1000).body
    found, room = np.array(json.loads(body)["probabilities"]), rounding_of_odds(model, z, time)
    assert_same(found, model.predict_proba(z, time), z, room=room)


def test_small_probabilities_keep_their_digits(along_time):
    model = model_of()
    for logit in (-60.0, 60.0, 700.0):
        found = probabilities(along_time, {"logits": logit, "time": 2})
        np.testing.assert_allclose([found], model.predict_proba([logit], [2.0]), rtol=1e-12)


def test_the_answer_says_which_classes_and_which_model(tmp_path):
    model = model_of(3, ("away", "draw", "home"))
    service = service_of(model, tmp_path / "model.json")
    found = ask(service, {"logits": [0.1, 0.2, 0.3], "time": 1}).json()
    assert list(found) == ["model", "classes", "probabilities"]
    assert found["classes"] == ["away", "draw", "home"]
    content = (tmp_path / "model.json").read_bytes().split(b'"content": ')[1][: -len("\n}\n")]
    assert found["model"] == hashlib.sha256(content).hexdigest()[:12]


def test_a_model_without_time_takes_none(tmp_path):
    model = model_of(kinds=())
    service = service_of(model, tmp_path / "model.json")
    np.testing.assert_allclose(
        [probabilities(service, {"logits": 1.5})], model.predict_proba([1.5]), rtol=1e-12
    )
    error = refused(service, 422, {"logits": 1.5, "time": 3})
    assert error["message"].startswith('"time" is not known here: there must be logits')


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ("1970-01-01T00:00:02.5", np.datetime64("1970-01-01T00:00:02.5")),
        ("1970-01-01T00:00:02.5Z", datetime(1970, 1, 1, 0, 0, 2, 500_000, tzinfo=UTC)),
        ("1970-01-01 02:00+02:00", datetime(1970, 1, 1)),
        ("1969-12-31t23:59:59z", datetime(1969, 12, 31, 23, 59, 59)),
    ],
)
def test_moments(sent, meant, tmp_path):
    model = model_of(kinds=("datetime",))
    service = service_of(model, tmp_path / "model.json")
    wanted = model.predict_proba([1.5], [meant])
    np.testing.assert_allclose(
        [probabilities(service, {"logits": 1.5, "time": sent})], wanted, rtol=1e-12
    )


@pytest.mark.parametrize("seconds", [0, 2.5, -1e6, 86_400])
def test_durations(seconds, tmp_path):
    model = model_of(kinds=("timedelta",))
    service = service_of(model, tmp_path / "model.json")
    wanted = model.predict_proba([1.5], [timedelta(seconds=seconds)])
    np.testing.assert_allclose(
        [probabilities(service, {"logits": 1.5, "time": seconds})], wanted, rtol=1e-12
    )


def test_two_clocks_each_of_its_kind(tmp_path):
    model = model_of(kinds=("timedelta", "number"))
    service = service_of(model, tmp_path / "model.json")
    wanted = model.predict_proba([1.5], ([timedelta(seconds=3)], [1.0]))
    found = probabilities(service, {"logits": 1.5, "time": [3, 1]})
    np.testing.assert_allclose([found], wanted, rtol=1e-12)
    for time in (3, [3], [3, 1, 2], "3", None):
        error = refused(service, 422, {"logits": 1.5, "time": time})
        assert error["where"] == "time"
    assert "number of seconds" in refused(service, 422, {"logits": 1, "time": ["3", 1]})["message"]


def test_large_requests_are_scored_in_a_thread_and_are_the_same(along_time):
    many = [{"logits": k / 100, "time": k % 7} for k in range(2000)]
    found = probabilities(along_time, {"rows": many})
    assert found[123] == probabilities(along_time, many[123])
    wanted = model_of().predict_proba([r["logits"] for r in many], [r["time"] for r in many])
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_a_model_that_could_give_no_number_is_refused(tmp_path):
    model = model_of(3, (0, 1, 2), kinds=(), slope=1e308)
    assert isinstance(model.map, Scale)
    with pytest.raises(DamagedModelFileError, match="coefficients"):
        service_of(model, tmp_path / "model.json")


def test_the_model_is_that_of_the_file(tmp_path):
    """So that the parity above is about files and not about the support of the tests."""
    model = model_of(kinds=("number", "number"))
    read = read_model(save(model, tmp_path / "model.json"))
    np.testing.assert_array_equal(
        read.predict_proba([0.3], [[1.0, 2.0]]), model.predict_proba([0.3], [[1.0, 2.0]])
    )

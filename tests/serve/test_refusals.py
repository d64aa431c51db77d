"""Every request that cannot be answered is told why, and nothing of it is kept."""

import asyncio
import json
import logging

import pytest

from serve.asking import ask, model_of, refused, service_of
from tempocal.serve import answers

GOOD = {"logits": 1.5, "time": 3}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "Expecting value"),
        (b"{", "Expecting property name"),
        (b'{"logits": 1.5, "time": 3', "Expecting ',' delimiter"),
        (b'{"logits": 1.5} {"logits": 2}', "Extra data at line 1, column 17"),
        (b"logits=1.5&time=3", "Expecting value"),
        (b"\xff\xfe{\x00}\x00", "not UTF-8"),
        (b'{"logits": "\xff"}', "not UTF-8"),
        (b"\xef\xbb\xbf{}", "Expecting value"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"logits":' * 20_000 + b"1" + b"}" * 20_000, "nested too deeply"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_is_not_json(along_time, body, said):
    error = refused(along_time, 400, body=body)
    assert error["code"] == "not_json"
    assert said in error["message"]


@pytest.mark.parametrize(
    ("body", "where", "said"),
    [
        ("[]", None, "the body must be an object, but it is []"),
        ("null", None, "it is null"),
        ("1.5", None, "it is 1.5"),
        ("NaN", None, "it is NaN"),
        ("{}", "logits", "logits is missing: there must be logits and time"),
        ('{"logits": 1.5}', "time", "time is missing"),
        ('{"time": 3}', "logits", "logits is missing"),
        ('{"proba": 0.5, "time": 3}', None, '"proba" is not known here: there must be logits'),
        ('{"logits": 1.5, "time": 3, "id": 7}', None, '"id" is not known here'),
        ('{"logits": 1.5, "time": 3, "logits": 1.5}', "logits", "logits comes twice"),
        ('{"logits": NaN, "time": 3}', "logits", "logits must be a number, but it is NaN"),
        ('{"logits": -Infinity, "time": 3}', "logits", "but it is -Infinity"),
        ('{"logits": 1e999, "time": 3}', "logits", "but it is 1e999"),
        ('{"logits": "1.5", "time": 3}', "logits", 'but it is "1.5"'),
        ('{"logits": true, "time": 3}', "logits", "but it is true"),
        ('{"logits": null, "time": 3}', "logits", "but it is null"),
        ('{"logits": {}, "time": 3}', "logits", "but it is {}"),
        ('{"logits": [1.5, 2], "time": 3}', "logits", "but it is [1.5, 2]"),
        ('{"logits": 1e300, "time": 3}', "logits", "within 2**53 of zero"),
        ('{"logits": 1.5, "time": null}', "time", "time is missing"),
        ('{"logits": 1.5, "time": "3"}', "time", 'time must be a number, but it is "3"'),
        ('{"logits": 1.5, "time": [3]}', "time", "but it is [3]"),
        ('{"logits": 1.5, "time": false}', "time", "but it is false"),
        ('{"logits": 1.5, "time": NaN}', "time", "but it is NaN"),
        ('{"logits": 1.5, "time": 1e300}', "time", "within 2**53 of zero, but it is 1e+300"),
        ('{"logits": 1.5, "time": 9007199254740993}', "time", "within 2**53 of zero"),
        ('{"rows": []}', "rows", "rows is empty"),
        ('{"rows": {}}', "rows", "rows must be a list of objects, but it is {}"),
        ('{"rows": null}', "rows", "but it is null"),
        ('{"rows": [[1.5, 3]]}', "rows[0]", "a row must be an object, but it is [1.5, 3]"),
        ('{"rows": [{"rows": []}]}', "rows[0]", '"rows" is not known here'),
        ('{"rows": [{"logits": 1}], "time": 3}', None, "rows must come alone and once"),
        ('{"rows": [], "rows": []}', None, "rows must come alone and once"),
    ],
)
def test_what_a_model_cannot_take(along_time, body, where, said):
    error = refused(along_time, 422, body=body)
    assert error["code"] == "invalid"
    assert error["where"] == where
    assert said in error["message"]


NESTED = {
    "body": "%s",
    "logits": '{"logits": %s, "time": 3}',
    "time": '{"logits": 1.5, "time": %s}',
    "rows": '{"rows": {"x": %s}}',
    "row": '{"rows": [%s]}',
    "in a row": '{"rows": [{"logits": 1.5, "time": %s}]}',
    "column": '{"logits": [1, 2, %s], "time": 3}',
    "clock": '{"logits": 1.5, "time": [%s, 3]}',
}


@pytest.mark.parametrize("shape", NESTED)
@pytest.mark.parametrize(("left", "right"), ["[]", ('{"x":', "}")], ids=["lists", "objects"])
def test_what_can_be_read_but_not_shown(along_time, tmp_path, shape, left, right):
    """Near the depth at which reading ends, where writing has ended before."""
    service = along_time
    if shape == "column":
        service = service_of(model_of(3, (0, 1, 2)), tmp_path / "model.json")
    if shape == "clock":
        service = service_of(model_of(kinds=("number", "number")), tmp_path / "model.json")

    def status(depth):
        value = left * depth + '"x"' + right * depth
        return ask(service, body=NESTED[shape] % value).status_code

    shallow, deep = 2, 200_000
    while deep - shallow > 1:
        middle = (shallow + deep) // 2
        shallow, deep = (middle, deep) if status(middle) == 422 else (shallow, middle)
    found = [status(depth) for depth in range(deep - 10, deep + 30)]
    assert set(found) == {400, 422}
    assert found == sorted(found, reverse=True)


@pytest.mark.parametrize("digits", [17, 39, 40, 41, 309, 5000, 200_000])
def test_large_integers(along_time, digits):
    number = "9" * digits
    for field, body in (
        ("logits", f'{{"logits": {number}, "time": 3}}'),
        ("time", f'{{"logits": 1, "time": -{number}}}'),
    ):
        assert refused(along_time, 422, body=body)["where"] == field


def test_the_row_is_named(along_time):
    rows = [GOOD] * 5
    rows[3] = {"logits": 1.5, "time": "noon"}
    assert refused(along_time, 422, {"rows": rows})["where"] == "rows[3].time"
    rows[3] = {"logits": 1.5}
    assert refused(along_time, 422, {"rows": rows})["where"] == "rows[3].time"
    body = json.dumps({"rows": [GOOD] * 2000})[:-2] + ', {"logits": NaN, "time": 1}]}'
    assert refused(along_time, 422, body=body)["where"] == "rows[2000].logits"


def test_rows_of_three_classes(tmp_path):
    service = service_of(model_of(3, (0, 1, 2)), tmp_path / "model.json")
    for logits, said in (
        (1.5, "must be a sequence of 3, but it is 1.5"),
        ([1.5, 2], "must have 3 columns as in the fit, but has 2"),
        ([1, 2, 3, 4], "but has 4"),
        ([1, 2, "3"], "must be numbers, but it contains '3'"),
        ([1, 2, [3]], "but it contains [3]"),
        ({"0": 1, "1": 2, "2": 3}, "must be a sequence of 3"),
        ("123", "must be a sequence of 3"),
    ):
        error = refused(service, 422, {"logits": logits, "time": 1})
        assert error["where"] == "logits"
        assert said in error["message"]


def test_probabilities_that_are_none(tmp_path):
    service = service_of(model_of(2, inputs="proba"), tmp_path / "model.json")
    assert refused(service, 422, {"proba": [0.5, 0.6], "time": 1})["where"] == "proba"
    assert "[0, 1]" in refused(service, 422, {"proba": [-0.5, 1.5], "time": 1})["message"]
    assert "proba and time" in refused(service, 422, {"logits": [0, 1], "time": 1})["message"]


@pytest.mark.parametrize(
    ("kind", "time", "said"),
    [
        ("datetime", 1.7e9, "time must be a date and time such as"),
        ("datetime", "yesterday", 'but it is "yesterday"'),
        ("datetime", "2024-05-01", "date and time"),
        ("datetime", "2024-13-01T00:00:00Z", "which is no moment: month must be in 1..12"),
        ("datetime", "0000-01-01T00:00:00Z", "which is no moment"),
        ("datetime", "2024-05-01T00:00:00Z" + "0" * 10_000, "date and time"),
        ("datetime", None, "time is missing"),
        ("timedelta", "PT3S", "time must be a number of seconds"),
        ("timedelta", True, "number of seconds"),
        ("timedelta", 1e300, "within 8.6e+13 seconds, but it is 1e+300"),
        ("timedelta", None, "time is missing"),
    ],
)
def test_times_of_another_kind(tmp_path, kind, time, said):
    service = service_of(model_of(kinds=(kind,)), tmp_path / "model.json")
    error = refused(service, 422, {"logits": 1.5, "time": time})
    assert error["where"] == "time"
    assert said in error["message"]


@pytest.mark.parametrize("field", ["logits", "time", "x"])
def test_input_is_shown_in_part_and_logged_not_at_all(along_time, caplog, capfd, field):
    caplog.set_level(logging.DEBUG)
    secret = "s3cret" * 10_000
    error = refused(along_time, 422, GOOD | {field: secret})
    assert error["message"].count("s3cret") == (0 if field == "x" else 9)
    assert refused(along_time, 422, {secret: secret})["code"] == "invalid"
    assert refused(along_time, 400, body='{"logits": ' + secret)["code"] == "not_json"
    assert "s3cret" not in caplog.text
    assert "s3cret" not in "".join(capfd.readouterr())


def test_what_nobody_expected_is_answered_and_logged_without_its_words(
    along_time, caplog, monkeypatch
):
    def fail(*_):
        raise ZeroDivisionError("s3cret")

    monkeypatch.setattr(answers, "parse", fail)
    error = refused(along_time, 500, GOOD)
    assert error["code"] == "internal"
    assert "a request failed: ZeroDivisionError" in caplog.text
    assert "s3cret" not in caplog.text
    monkeypatch.undo()
    assert ask(along_time, GOOD).status_code == 200


def test_paths_and_methods(along_time):
    assert refused(along_time, 404, path="/v2/score")["code"] == "not_found"
    assert refused(along_time, 405, path="/v1/score")["code"] == "method_not_allowed"
    answer = ask(along_time, path="/v1/score", method="DELETE")
    assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize(("method", "path"), [("POST", "/v1/score/"), ("GET", "/readyz/")])
def test_a_path_with_a_slash_at_its_end_is_another(along_time, method, path):
    headers = {"host": "elsewhere.invalid", "content-type": "application/json"}
    error = refused(along_time, 404, path=path, method=method, headers=headers)
    assert error["code"] == "not_found"


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_without_a_body(along_time, path):
    answer, wanted = (ask(along_time, path=path, method=method) for method in ("HEAD", "GET"))
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers == wanted.headers


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"content-type": "text/plain"},
        {"content-type": "application/x-www-form-urlencoded"},
        {"content-type": "application/json", "content-encoding": "gzip"},
    ],
)
def test_other_kinds_of_content(along_time, headers):
    assert refused(along_time, 415, GOOD, headers=headers)["code"] == "not_application_json"


def test_json_may_say_its_charset(along_time):
    headers = {"content-type": "Application/JSON; charset=utf-8", "content-encoding": "identity"}
    assert ask(along_time, GOOD, headers=headers).status_code == 200


def test_a_client_that_goes_away_half_way(along_time):
    """As a server says it: the connection is gone before the body is whole."""
    messages = [
        {"type": "http.request", "body": b'{"logits"', "more_body": True},
        {"type": "http.disconnect"},
    ]
    scope = {"type": "http", "method": "POST", "path": "/v1/score", "query_string": b""}
    scope["headers"] = [(b"content-type", b"application/json")]
    before = along_time.metrics.requests["/v1/score", 400]

    async def receive():
        return messages.pop(0)

    async def send(message):
        pass

    asyncio.run(along_time.asgi(scope, receive, send))
    assert along_time.metrics.requests["/v1/score", 400] == before + 1
    assert along_time.metrics.in_flight == 0

"""How much at most, how long at most, and who may ask."""

import asyncio
import json
import threading

import httpx
import pytest

from serve.asking import JSON, ask, model_of, refused, service_of
from serve.sockets import PATIENCE
from tempocal.errors import InputError
from tempocal.serve import app, token

GOOD = {"logits": 1.5, "time": 3}


def padded(size):
    body = json.dumps(GOOD)
    return (body + " " * (size - len(body))).encode()


async def in_pieces(body, size=10, pause=0.0):
    for start in range(0, len(body), size):
        yield body[start : start + size]
        await asyncio.sleep(pause)


@pytest.mark.parametrize("pieces", [False, True], ids=["length", "chunked"])
def test_bodies_up_to_a_limit(tmp_path, pieces):
    service = service_of(model_of(), tmp_path / "model.json", max_body=100)

    def body(size):
        return in_pieces(padded(size)) if pieces else padded(size)

    assert ask(service, body=body(100)).status_code == 200
    error = refused(service, 413, body=body(101))
    assert error["code"] == "body_too_large"
    assert "100 bytes" in error["message"]


def test_a_length_that_is_far_too_large_is_refused_before_the_body_is_read(tmp_path):
    service = service_of(model_of(), tmp_path / "model.json", max_body=100)

    async def never():
        yield b"{"
        raise AssertionError("the body was read")

    headers = JSON | {"content-length": "401"}
    assert refused(service, 413, body=never(), headers=headers)["code"] == "body_too_large"


def test_a_body_without_end_is_not_read_for_ever(tmp_path):
    service = service_of(model_of(), tmp_path / "model.json", max_body=100)
    read = []

    async def endless():
        while True:
            read.append(b" " * 50)
            yield read[-1]

    assert refused(service, 413, body=endless())["code"] == "body_too_large"
    assert len(read) <= 10


def test_rows_up_to_a_limit(tmp_path):
    service = service_of(model_of(), tmp_path / "model.json", max_rows=3)
    assert ask(service, {"rows": [GOOD] * 3}).status_code == 200
    error = refused(service, 422, {"rows": [GOOD] * 4})
    assert (error["code"], error["where"]) == ("too_many_rows", "rows")
    assert "has 4 rows, but a request may have 3" in error["message"]


def test_a_body_that_comes_too_slowly(tmp_path):
    service = service_of(model_of(), tmp_path / "model.json", timeout=0.05)
    answer = ask(service, body=in_pieces(padded(100), pause=0.02))
    assert answer.status_code == 408
    assert answer.headers["connection"] == "close"
    assert (service.metrics.receiving, service.metrics.in_flight) == (0, 0)


def while_held(service, bodies, are_there, release):
    """Ask once more, and for health, while requests with these bodies are under way."""

    async def go():
        transport = httpx.ASGITransport(service.asgi)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            waiting = [
                asyncio.create_task(client.post("/v1/score", content=body, headers=JSON))
                for body in bodies
            ]
            while not are_there():
                await asyncio.sleep(0.001)
            one_more = await client.post("/v1/score", json=GOOD)
            assert (await client.get("/healthz")).status_code == 200
            release()
            waited = await asyncio.gather(*waiting)
        assert {one.status_code for one in waited} == {200}
        return one_more

    answer = asyncio.run(asyncio.wait_for(go(), PATIENCE))
    assert ask(service, GOOD).status_code == 200
    return answer


def is_busy(answer, said):
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    error = answer.json()["error"]
    return error["code"] == "busy" and said in error["message"]


@pytest.mark.parametrize(("count", "refused"), [(7, False), (8, True)])
def test_bodies_that_come_in_up_to_a_larger_limit(tmp_path, count, refused):
    service = service_of(model_of(), tmp_path / "model.json", max_concurrent=2)
    held = asyncio.Event()

    async def slow():
        body = json.dumps(GOOD).encode()
        yield body[:5]
        await held.wait()
        yield body[5:]

    bodies = [slow() for _ in range(count)]
    answer = while_held(service, bodies, lambda: service.metrics.receiving == count, held.set)
    if refused:
        assert is_busy(answer, "8 requests are coming in")
    else:
        assert answer.status_code == 200


def test_requests_that_are_scored_up_to_a_limit(tmp_path, monkeypatch):
    service = service_of(model_of(), tmp_path / "model.json", max_concurrent=2)
    held, answer = threading.Event(), app.answer

    def slow(model, body, max_rows):
        if len(body) > app.INLINE_BYTES:
            held.wait(20)
        return answer(model, body, max_rows)

    monkeypatch.setattr(app, "answer", slow)
    bodies = [padded(app.INLINE_BYTES + 1)] * 2
    there = while_held(service, bodies, lambda: service.metrics.in_flight == 2, held.set)
    assert is_busy(there, "2 requests are under way")


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("Bearer s3cret!", 200),
        ("bearer  s3cret!", 200),
        ("Bearer s3cret", 401),
        ("Bearer s3cret!!", 401),
        ("Bearer", 401),
        ("Basic s3cret!", 401),
        ("s3cret!", 401),
        ("", 401),
        ("Bearer \xe9\xe9", 401),
    ],
)
def test_a_token(tmp_path, header, status):
    service = service_of(model_of(), tmp_path / "model.json", token="s3cret!")
    headers = [*JSON.items(), (b"authorization", header.encode("latin-1"))]
    for request in ({"content": GOOD}, {"path": "/metrics"}, {"path": "/openapi.json"}):
        answer = ask(service, headers=headers, **request)
        assert answer.status_code == status
        if status == 401:
            assert answer.headers["www-authenticate"] == "Bearer"
            assert "s3cret" not in answer.text


def test_health_needs_no_token(tmp_path):
    service = service_of(model_of(), tmp_path / "model.json", token="s3cret")
    assert ask(service, path="/healthz").json() == {"status": "alive"}
    ready = ask(service, path="/readyz")
    assert ready.json() == {"status": "ready", "model": service.reloader.model.id}


def test_the_token_is_asked_for_before_the_body_is_read(tmp_path):
    service = service_of(model_of(), tmp_path / "model.json", token="s3cret", max_body=10)
    assert refused(service, 401, body=b" " * 1000)["code"] == "unauthorized"


def test_where_a_token_comes_from(tmp_path, monkeypatch):
    monkeypatch.delenv(token.VARIABLE, raising=False)
    assert token.find_token(None) is None
    monkeypatch.setenv(token.VARIABLE, "from-the-environment")
    assert token.find_token(None) == "from-the-environment"
    file = tmp_path / "token"
    file.write_text("from-the-file\n")
    assert token.find_token(str(file)) == "from-the-file"


@pytest.mark.parametrize("found", ["", "\n", "two words", "caf\xe9"])
def test_tokens_that_are_none(tmp_path, monkeypatch, found):
    file = tmp_path / "token"
    file.write_text(found, encoding="utf-8")
    with pytest.raises(InputError, match=r"the token in .*token must be letters"):
        token.find_token(str(file))
    monkeypatch.setenv(token.VARIABLE, found)
    with pytest.raises(InputError, match="the token in TEMPOCAL_TOKEN must be"):
        token.find_token(None)


def test_a_service_that_stops_is_not_ready_and_asks_to_close(tmp_path):
    service = service_of(model_of(), tmp_path / "model.json")
    assert "connection" not in ask(service, GOOD).headers
    service.asgi.stopping = True
    assert refused(service, 503, path="/readyz")["code"] == "stopping"
    assert ask(service, path="/readyz", method="HEAD").status_code == 503
    answer = ask(service, GOOD)
    assert (answer.status_code, answer.headers["connection"]) == (200, "close")
    assert ask(service, path="/healthz").status_code == 200

"""What clients do to a connection: slow, broken, endless, deaf."""

import json
import socket
import time

import httpx
import pytest

from benchmarks.load.cases import request_of
from benchmarks.load.service import running
from serve.asking import model_of, save
from serve.sockets import (
    GOOD,
    METRICS,
    OLD,
    PATIENCE,
    REQUEST,
    answered,
    received,
    send,
    until,
    wanted_of,
)


@pytest.fixture(scope="module")
def quick(model):
    """A service that waits half a second for a request to come in."""
    with running(model, "--timeout", "0.5") as service:
        yield service


@pytest.fixture(scope="module")
def patient(model):
    """A service that waits for clients on a machine that is busy."""
    with running(model, "--timeout", str(PATIENCE)) as service:
        yield service


def error_of(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"\r\nconnection: close" in head.lower()
    return int(head.split()[1]), json.loads(body)["error"]


def test_it_answers_at_the_address_that_it_prints(patient):
    answer = httpx.post(f"{patient.url}/v1/score", json=GOOD, timeout=PATIENCE)
    assert answer.json()["probabilities"] == pytest.approx(wanted_of(OLD), rel=1e-12)
    assert "server" not in answer.headers
    assert patient.url.startswith("http://127.0.0.1:")


def test_small_answers_are_not_held_back(patient):
    """Head and body are two writes: with Nagle's algorithm the second would wait for 40 ms.

    Every time, that is: one that took less shows that nothing holds them back, however busy the
    machine is with the others.
    """

    def seconds(connection):
        start = time.perf_counter()
        connection.sendall(REQUEST)
        assert answered(connection) == (200, False)
        return time.perf_counter() - start

    with socket.create_connection(("127.0.0.1", patient.port), timeout=PATIENCE) as connection:
        for _ in range(40):  # the system is quick with the first ones in any case
            seconds(connection)
        until(lambda: seconds(connection) < 0.03)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"POST /v1/sc",
        b"POST /v1/score HTTP/1.1\r\nhost: here\r\n",
        REQUEST[:-5],
        b"POST /v1/score HTTP/1.1\r\nhost: here\r\ncontent-type: application/json\r\n"
        b"transfer-encoding: chunked\r\n\r\n5\r\n{",
    ],
    ids=["nothing", "half a line", "half a head", "half a body", "half a chunk"],
)
def test_half_a_request_is_given_up(quick, data):
    start = time.perf_counter()
    status, error = error_of(send(quick.port, data))
    assert time.perf_counter() - start > 0.4
    assert (status, error["code"]) == (408, "timeout")


def test_half_a_second_request_is_given_up_too(model):
    """Whether it comes with the first one or later."""
    # Whole requests come in at once, however busy the machine: a few seconds are enough for them.
    with running(model, "--timeout", "3") as service:
        address = ("127.0.0.1", service.port)
        with (
            socket.create_connection(address, timeout=PATIENCE) as at_once,
            socket.create_connection(address, timeout=PATIENCE) as later,
        ):
            at_once.sendall(REQUEST + b"POST /v1")
            later.sendall(REQUEST)
            assert answered(later) == (200, False)
            later.sendall(b"POST /v1")
            found = [received(at_once), received(later)]
    assert [one.startswith(b"HTTP/1.1 200") for one in found] == [True, False]
    assert [one.count(b"HTTP/1.1 408") for one in found] == [1, 1]


def send_until_cut(connection, piece):
    """Send a piece again and again, until the other side does not take it."""

    def is_cut():
        try:
            connection.sendall(piece)
        except OSError:
            return True
        return False

    until(is_cut)


def test_a_head_in_single_bytes_is_given_up(quick):
    with socket.create_connection(("127.0.0.1", quick.port), timeout=PATIENCE) as connection:
        send_until_cut(connection, b"x")


@pytest.mark.parametrize("data", [b"GARBAGE\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\r\n\r\n"])
def test_what_is_not_http(patient, data):
    status, error = error_of(send(patient.port, data))
    assert (status, error["code"]) == (400, "not_http")


def test_a_body_without_end_is_refused_and_left(model):
    head = request_of(b"").replace(b"content-length: 0", b"transfer-encoding: chunked")
    piece = b"1000\r\n" + b" " * 4096 + b"\r\n"
    with running(model, "--max-body", "10000", "--timeout", "1") as service:
        with socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE) as connection:
            connection.sendall(head + 11 * piece)
            assert answered(connection) == (413, False)
            send_until_cut(connection, piece)
        assert httpx.get(f"{service.url}/healthz").status_code == 200


def test_a_client_that_closes_is_told_that_its_body_is_too_large(patient):
    """A connection that is closed while bytes come in is reset, and the answer is lost."""
    large = request_of(b" " * (2**20 + 1), "connection: close")
    for _ in range(5):
        status, error = error_of(send(patient.port, large))
        assert (status, error["code"]) == (413, "body_too_large")


def test_a_refused_body_leaves_the_connection_to_the_next_request(patient):
    large = request_of(b" " * (2**20 + 1))
    with socket.create_connection(("127.0.0.1", patient.port), timeout=PATIENCE) as connection:
        connection.sendall(large)
        assert answered(connection) == (413, False)
        connection.sendall(REQUEST)
        assert answered(connection) == (200, False)


def test_an_answer_that_nobody_reads_is_given_up(tmp_path):
    """It is larger than what the system takes from the service by itself."""
    path = save(model_of(1000, tuple(range(1000)), kinds=()), tmp_path / "model.json")
    body = json.dumps({"rows": [{"logits": [0, 1] * 500}] * 320}).encode()
    with running(path, "--timeout", "1") as service, socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        # When that connection is at its end, the service has opened all that stays, and closed it.
        assert send(service.port, METRICS).startswith(b"HTTP/1.1 200")
        before = service.open_files()
        connection.connect(("127.0.0.1", service.port))
        connection.sendall(request_of(body))
        until(lambda: service.open_files() > before)
        until(lambda: service.open_files() == before)

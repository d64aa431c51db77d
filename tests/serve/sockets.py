"""Services as processes, and bytes to and from them."""

import json
import socket
import time
from http.client import HTTPResponse

from benchmarks.load.cases import request_of
from serve.asking import model_of

GOOD = {"logits": 1.5, "time": 3}
METRICS = b"GET /metrics HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n"
REQUEST = request_of(json.dumps(GOOD).encode())
# Seconds after which something is taken to hang, on a machine that may be busy.
PATIENCE = 300
OLD, NEW = model_of(slope=0.5), model_of(slope=0.7)


def wanted_of(model):
    return model.predict_proba([1.5], [3.0])[0].tolist()


def send(port, data):
    """Send bytes and return what comes back until the other side closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        connection.sendall(data)
        return received(connection)


def received(connection):
    return b"".join(iter(lambda: connection.recv(65_536), b""))


def request_has_arrived(port):
    """Wait until the service has read the head of one request for scores, and waits for more."""
    until(lambda: b"\ntempocal_requests_receiving 1\n" in send(port, METRICS))


def answered(connection):
    """Return the status of an answer that is whole, and whether it asks to close."""
    answer = HTTPResponse(connection)
    answer.begin()
    answer.read()
    return answer.status, answer.getheader("connection") == "close"


def until(holds):
    """Wait until something holds."""
    late = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < late
        time.sleep(0.05)

"""Services as processes, and bytes to and from them."""

import json
import socket
import time
from http.client import HTTPResponse

from benchmarks.load.cases import request_of
from serve.asking import model_of

GOOD = {"logits": 1.5, "time": 3}
REQUEST = request_of(json.dumps(GOOD).encode())
OLD, NEW = model_of(slope=0.5), model_of(slope=0.7)


def wanted_of(model):
    return model.predict_proba([1.5], [3.0])[0].tolist()


def send(port, data):
    """Send bytes and return what comes back until the other side closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(data)
        return received(connection)


def received(connection):
    return b"".join(iter(lambda: connection.recv(65_536), b""))


def answered(connection):
    """Return the status of an answer that is whole, and whether it asks to close."""
    answer = HTTPResponse(connection)
    answer.begin()
    answer.read()
    return answer.status, answer.getheader("connection") == "close"


def until(holds):
    """Wait until something holds, ten seconds at most."""
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)

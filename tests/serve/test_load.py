"""The load of `make load`, where it must not pass."""

import asyncio
import socket

import pytest

from benchmarks.load.cases import Case
from benchmarks.load.hold import Draw, hold
from serve.sockets import REQUEST


class Gone:
    """A service of which nothing is left but the port."""

    def __init__(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            self.port = taken.getsockname()[1]

    def memory(self):
        return 50.0


def test_clients_that_cannot_ask_are_a_failure():
    case = Case("one row", REQUEST, lambda status, body: True)
    with pytest.raises(ExceptionGroup) as failed:
        asyncio.run(hold(Gone(), Draw([case], [case]), 10.0, 1.0))
    assert failed.group_contains(ConnectionRefusedError)

"""A client that costs little: one connection, one request at a time, bytes in and bytes out."""

import asyncio
import re
from dataclasses import dataclass
from typing import Any

_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)\r\n", re.IGNORECASE)
_CLOSE = re.compile(rb"\r\nconnection: close\r\n", re.IGNORECASE)


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    body: bytes
    closes: bool


class Connection(asyncio.Protocol):
    """A connection that is kept until the service asks to close it.

    Attributes
    ----------
    answered : int
        How many requests were.
    is_open : bool
        Whether it can be asked.
    """

    def __init__(self) -> None:
        self._buffer = b""
        self._waiting: asyncio.Future[Answer] | None = None
        self._transport: Any = None
        self.answered = 0
        self.is_open = False

    @classmethod
    async def open(cls, port: int) -> "Connection":
        """Connect."""
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(cls, "127.0.0.1", port)
        return connection

    async def ask(self, request: bytes) -> Answer:
        """Send a request and return its answer; a `ConnectionError` is that there is none."""
        self._waiting = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        answer = await self._waiting
        self.answered += 1
        if answer.closes:
            self.close()
        return answer

    def close(self) -> None:
        """Close it from here."""
        self.is_open = False
        self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what to write to."""
        self._transport, self.is_open = transport, True

    def data_received(self, data: bytes) -> None:
        """Give an answer to whom it is due, once it is whole."""
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n") + 4
        if end < 4 or self._waiting is None:
            return
        head = self._buffer[: end - 2]
        length = _LENGTH.search(head)
        assert length is not None, head
        whole = end + int(length[1])
        if len(self._buffer) >= whole:
            body, self._buffer = self._buffer[end:whole], self._buffer[whole:]
            if not self._waiting.done():
                closes = _CLOSE.search(head) is not None
                self._waiting.set_result(Answer(int(head[9:12]), body, closes))

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell who waits."""
        self.is_open = False
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(ConnectionResetError("closed without an answer"))

"""HTTP on one connection, which does not wait for ever."""

import asyncio
import select
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from tempocal.serve.body import too_slow
from tempocal.serve.framing import StrictConnection
from tempocal.serve.metrics import Metrics
from tempocal.serve.refusals import RefusedError

MOST_INCOMPLETE = 2**14
"""Bytes of a head that may come before its end."""

_REASONS = {400: "Bad Request", 408: "Request Timeout"}


def protocol_of(metrics: Metrics, seconds: float) -> type[H11Protocol]:
    """Return a protocol that counts there, and gives the head of a request so many seconds."""

    class Protocol(PatientProtocol):
        _metrics, _seconds = metrics, seconds

    return Protocol


class PatientProtocol(H11Protocol):
    """Uvicorn's protocol, which has patience with heads and answers without end, with less of it.

    A connection waits for a head when there was no request yet, or the last one is answered. Bytes
    that then come without completing a head, or that are the rest of a body that was refused, start
    a clock, and so does an answer that is not read.
    """

    _metrics: Metrics
    _seconds: float
    _clock: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.conn: StrictConnection = StrictConnection(h11.SERVER, MOST_INCOMPLETE)

    def connection_made(self, transport: Any) -> None:
        """Start the clock: a connection without a request is half a request."""
        super().connection_made(transport)
        self._metrics.connections += 1
        self._start_clock()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        super().connection_lost(exc)
        self._stop_clock()

    def data_received(self, data: bytes) -> None:
        """Start the clock at the first bytes of a head, and stop it at the last."""
        super().data_received(data)
        if not self.waits:
            self._stop_clock()
        elif self._clock is None:
            self._start_clock()

    def on_response_complete(self) -> None:
        """Start the clock if half of another request came with the one that is answered."""
        super().on_response_complete()
        if self.waits and self.conn.trailing_data[0]:
            self._start_clock()

    @property
    def waits(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def shutdown(self) -> None:
        """Close at once if no request is there, also none that has come but was not read yet."""
        if self.waits and self._has_unread():
            return
        super().shutdown()

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP, in our words."""
        self._answer_and_close(RefusedError(400, "not_http", self.conn.fault))

    def pause_writing(self) -> None:
        """Start a clock: the client does not read its answer."""
        super().pause_writing()
        self._unread = self.loop.call_later(self._seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop it: the client has read enough."""
        super().resume_writing()
        self._unread.cancel()

    def _has_unread(self) -> bool:
        if self.transport.is_closing():
            return False
        look = select.poll()
        look.register(self.transport.get_extra_info("socket").fileno(), select.POLLIN)
        return bool(look.poll(0))

    def _start_clock(self) -> None:
        self._clock = self.loop.call_later(self._seconds, self._give_up)

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self._answer_and_close(too_slow(self._seconds))

    def _answer_and_close(self, refusal: RefusedError) -> None:
        body = refusal.body()
        head = (
            f"HTTP/1.1 {refusal.status} {_REASONS[refusal.status]}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
            "connection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()
        self._metrics.answered("other", refusal.status)

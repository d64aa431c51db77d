"""Uvicorn's HTTP protocol with timeouts for slow clients."""

import asyncio
import select
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from tempocal.serve.body import too_slow
from tempocal.serve.framing import StrictConnection
from tempocal.serve.metrics import Metrics
from tempocal.serve.refusals import RefusedError

MAX_HEAD_BYTES = 2**14
"""Maximum size of an incomplete request head."""

_REASONS = {400: "Bad Request", 408: "Request Timeout"}


def protocol_of(metrics: Metrics, seconds: float) -> type[H11Protocol]:
    """Return a protocol class with these metrics and this timeout."""

    class Protocol(TimeoutProtocol):
        _metrics, _seconds = metrics, seconds

    return Protocol


class TimeoutProtocol(H11Protocol):
    """Uvicorn's protocol, which alone would wait for heads and for reading clients without limit.

    A connection is idle before its first request and after each response. Bytes that then arrive
    without completing a head, or that are the rest of a refused body, start a timer, and so does a
    response that the client does not read.
    """

    _metrics: Metrics
    _seconds: float
    _head_timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.conn: StrictConnection = StrictConnection(h11.SERVER, MAX_HEAD_BYTES)

    def connection_made(self, transport: Any) -> None:
        """Start the timer: the first head must arrive in time as well."""
        super().connection_made(transport)
        self._metrics.connections += 1
        self._start_head_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        super().connection_lost(exc)
        self._stop_head_timer()

    def data_received(self, data: bytes) -> None:
        """Start the timer at the first bytes of a head, and stop it at the last."""
        super().data_received(data)
        if not self.is_idle:
            self._stop_head_timer()
        elif self._head_timer is None:
            self._start_head_timer()

    def on_response_complete(self) -> None:
        """Start the timer if part of the next request has arrived already."""
        super().on_response_complete()
        if self.is_idle and self.conn.trailing_data[0]:
            self._start_head_timer()

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def shutdown(self) -> None:
        """Close at once if there is no request, not even one in the buffer of the socket."""
        if self.is_idle and self._has_unread():
            return
        super().shutdown()

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP with an error in JSON."""
        self._answer_and_close(RefusedError(400, "not_http", self.conn.fault))

    def pause_writing(self) -> None:
        """Start a timer: the client does not read its response."""
        super().pause_writing()
        self._write_timer = self.loop.call_later(self._seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop it: the client has read enough."""
        super().resume_writing()
        self._write_timer.cancel()

    def _has_unread(self) -> bool:
        if self.transport.is_closing():
            return False
        poll = select.poll()
        poll.register(self.transport.get_extra_info("socket").fileno(), select.POLLIN)
        return bool(poll.poll(0))

    def _start_head_timer(self) -> None:
        self._head_timer = self.loop.call_later(self._seconds, self._time_out)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _time_out(self) -> None:
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

"""ASGI middleware: counts and times every request, and logs unexpected errors."""

import logging
from collections.abc import Iterable, MutableMapping
from time import perf_counter
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tempocal.serve.metrics import Metrics

SCORE = "/v1/score"
_log = logging.getLogger("tempocal.serve")


class RequestMiddleware:
    """Count requests, log unexpected errors, and close connections when the service stops.

    Parameters
    ----------
    app : ASGI application
        The application to wrap.
    metrics : Metrics
        The counters.
    paths : iterable of str
        Paths with a counter of their own.

    Attributes
    ----------
    stopping : bool
        Whether responses have the header ``Connection: close``.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, paths: Iterable[str]) -> None:
        self._app, self._metrics, self._paths = app, metrics, frozenset(paths)
        self.stopping = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":  # such as startup and shutdown
            await self._app(scope, receive, send)
            return
        start, status = perf_counter(), 0

        async def send_and_record(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self._close_if_stopping(message)
            await send(message)

        try:
            await self._app(scope, receive, send_and_record)
        except Exception as error:
            # Not its message, which might contain input.
            _log.error("a request failed: %s", type(error).__name__)
        finally:
            path = scope.get("path")
            self._metrics.answered(path if path in self._paths else "other", status)
            if path == SCORE:
                self._metrics.observe_latency(perf_counter() - start)

    def _close_if_stopping(self, message: MutableMapping[str, Any]) -> None:
        if self.stopping:
            message["headers"] = [*message.get("headers", ()), (b"connection", b"close")]

"""What lies around the application: every request is counted, and what fails is said."""

import logging
from collections.abc import Iterable, MutableMapping
from time import perf_counter
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tempocal.serve.metrics import Metrics

SCORE = "/v1/score"
_log = logging.getLogger("tempocal.serve")


class Guard:
    """Counts requests, says what nobody expected, and asks to close when the service stops.

    Parameters
    ----------
    app : ASGI application
        To be guarded.
    metrics : Metrics
        Where to count.
    paths : iterable of str
        Those that are counted by their name.

    Attributes
    ----------
    stopping : bool
        Whether answers ask to close the connection.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, paths: Iterable[str]) -> None:
        self._app, self._metrics, self._paths = app, metrics, frozenset(paths)
        self.stopping = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":  # such as the start and the end, which need nothing here
            await self._app(scope, receive, send)
            return
        start, status = perf_counter(), 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self._ask_to_close(message)
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception as error:
            # Its words might hold input, and so they are not said.
            _log.error("a request failed: %s", type(error).__name__)
        finally:
            path = scope.get("path")
            self._metrics.answered(path if path in self._paths else "other", status)
            if path == SCORE:
                self._metrics.took(perf_counter() - start)

    def _ask_to_close(self, message: MutableMapping[str, Any]) -> None:
        if self.stopping:
            message["headers"] = [*message.get("headers", ()), (b"connection", b"close")]

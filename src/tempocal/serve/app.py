"""The routes of the service, and its limits on concurrent requests."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse
from starlette.exceptions import HTTPException

from tempocal.serve.answers import answer
from tempocal.serve.body import read_body, require_json
from tempocal.serve.metrics import Metrics
from tempocal.serve.middleware import SCORE, RequestMiddleware
from tempocal.serve.openapi import describe
from tempocal.serve.pages import HEADERS, docs_page, start_page
from tempocal.serve.refusals import RefusedError
from tempocal.serve.reload import ModelReloader
from tempocal.serve.service_settings import Settings
from tempocal.serve.token import authorize

INLINE_BYTES = 16_384
"""Longer bodies are scored in a thread, so as not to block the event loop."""

RECEIVING_FACTOR = 4
"""Bodies received at a time, as a multiple of ``max_concurrent``: a bound on memory."""

_GET_OR_HEAD = ["GET", "HEAD"]
_CODES = {404: "not_found", 405: "method_not_allowed"}


class Service:
    """State of a running service.

    Attributes
    ----------
    settings : Settings
    metrics : Metrics
    reloader : ModelReloader
    asgi : RequestMiddleware
        The ASGI application.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings, self.metrics = settings, Metrics()
        self.reloader = ModelReloader(settings.path, self.metrics)
        app = _routes(self)
        self.asgi = RequestMiddleware(app, self.metrics, [route.path for route in app.routes])  # type: ignore[attr-defined]

    @contextmanager
    def receiving(self) -> Iterator[None]:
        """Hold one of the slots for receiving a body, or refuse.

        Separate from the slots for scoring, so that slow clients do not occupy those.
        """
        limit = RECEIVING_FACTOR * self.settings.max_concurrent
        if self.metrics.receiving >= limit:
            raise _busy(f"{limit} requests are coming in")
        self.metrics.receiving += 1
        try:
            yield
        finally:
            self.metrics.receiving -= 1

    @contextmanager
    def scoring(self) -> Iterator[None]:
        """Hold one of the slots for scoring, or refuse."""
        if self.metrics.in_flight >= self.settings.max_concurrent:
            raise _busy(f"{self.settings.max_concurrent} requests are under way")
        self.metrics.in_flight += 1
        try:
            yield
        finally:
            self.metrics.in_flight -= 1


def _routes(service: Service) -> FastAPI:
    settings, metrics, reloader = service.settings, service.metrics, service.reloader
    # Not the documentation pages of FastAPI, which load scripts from elsewhere. No redirects for a
    # trailing slash: they would go to the host that the request names.
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.add_exception_handler(RefusedError, _refused)
    app.add_exception_handler(HTTPException, _refused_by_path)
    app.add_exception_handler(Exception, _failed)

    @app.post(SCORE)
    async def score(request: Request) -> Response:
        authorize(request, settings.token)
        require_json(request)
        with service.receiving():
            body = await read_body(request, settings.max_body, settings.timeout)
        with service.scoring():
            arguments = reloader.model, body, settings.max_rows
            if len(body) > INLINE_BYTES:
                answered = await asyncio.to_thread(answer, *arguments)
            else:
                answered = answer(*arguments)
        metrics.rows += answered.rows
        return Response(answered.body, media_type="application/json")

    @app.api_route("/healthz", methods=_GET_OR_HEAD)
    async def healthz() -> dict[str, str]:
        return {"status": "alive"}

    @app.api_route("/readyz", methods=_GET_OR_HEAD)
    async def readyz() -> dict[str, str]:
        if service.asgi.stopping:
            raise RefusedError(503, "stopping", "the service is stopping")
        return {"status": "ready", "model": reloader.model.id}

    @app.get("/metrics")
    async def counts(request: Request) -> Response:
        authorize(request, settings.token)
        return Response(metrics.text(reloader.model), media_type="text/plain; version=0.0.4")

    @app.get("/openapi.json")
    async def openapi(request: Request) -> dict[str, Any]:
        authorize(request, settings.token)
        return describe(reloader.model, settings)

    @app.get("/")
    async def start(request: Request) -> Response:
        authorize(request, settings.token)
        address = f"http://{settings.host}:{request.url.port or 80}"
        return HTMLResponse(start_page(reloader.model, settings, address), headers=HEADERS)

    @app.get("/docs")
    async def docs(request: Request) -> Response:
        authorize(request, settings.token)
        return HTMLResponse(docs_page(reloader.model, settings), headers=HEADERS)

    return app


def _busy(why: str) -> RefusedError:
    return RefusedError(503, "busy", f"{why}: try again", headers={"Retry-After": "1"})


async def _refused(request: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, RefusedError)
    return Response(refusal.body(), refusal.status, refusal.headers, "application/json")


async def _refused_by_path(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = _CODES.get(error.status_code, "refused")
    message = f"{error.detail}: the paths are in /openapi.json"
    return await _refused(
        request, RefusedError(error.status_code, code, message, headers=error.headers)
    )


async def _failed(request: Request, error: Exception) -> Response:
    message = "this should not have happened: the log of the service says what did"
    return await _refused(request, RefusedError(500, "internal", message))

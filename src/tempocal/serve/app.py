"""The paths of the service."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from tempocal.serve.answers import answer
from tempocal.serve.body import read_body, require_json
from tempocal.serve.metrics import Metrics
from tempocal.serve.middleware import SCORE, Guard
from tempocal.serve.openapi import describe
from tempocal.serve.refusals import RefusedError
from tempocal.serve.reload import Keeper
from tempocal.serve.service_settings import Settings
from tempocal.serve.token import authorize

INLINE_BYTES = 16_384
"""Longer bodies are scored in a thread, so that others need not wait for them."""

RECEIVED = 4
"""How many times as many bodies may come in at a time as are scored: a bound on memory."""

_GET_OR_HEAD = ["GET", "HEAD"]
_CODES = {404: "not_found", 405: "method_not_allowed"}


class Service:
    """All that a running service has.

    Attributes
    ----------
    settings : Settings
    metrics : Metrics
    keeper : Keeper
    asgi : Guard
        The application, to be run by a server.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings, self.metrics = settings, Metrics()
        self.keeper = Keeper(settings.path, self.metrics)
        app = _routes(self)
        self.asgi = Guard(app, self.metrics, [route.path for route in app.routes])  # type: ignore[attr-defined]

    @contextmanager
    def receiving(self) -> Iterator[None]:
        """Hold one of the places for bodies that come in, or refuse.

        They are more than those for scoring, which clients that are slow to send do not take.
        """
        most = RECEIVED * self.settings.max_concurrent
        if self.metrics.receiving >= most:
            raise _busy(f"{most} requests are coming in")
        self.metrics.receiving += 1
        try:
            yield
        finally:
            self.metrics.receiving -= 1

    @contextmanager
    def scoring(self) -> Iterator[None]:
        """Hold one of the places for requests that are scored, or refuse."""
        if self.metrics.in_flight >= self.settings.max_concurrent:
            raise _busy(f"{self.settings.max_concurrent} requests are under way")
        self.metrics.in_flight += 1
        try:
            yield
        finally:
            self.metrics.in_flight -= 1


def _routes(service: Service) -> FastAPI:
    settings, metrics, keeper = service.settings, service.metrics, service.keeper
    # The pages of FastAPI load scripts from elsewhere.
    # And its redirects for a slash at the end lead to where the request says that it was sent.
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
            asked = keeper.model, body, settings.max_rows
            if len(body) > INLINE_BYTES:
                answered = await asyncio.to_thread(answer, *asked)
            else:
                answered = answer(*asked)
        metrics.rows += answered.rows
        return Response(answered.body, media_type="application/json")

    @app.api_route("/healthz", methods=_GET_OR_HEAD)
    async def healthz() -> dict[str, str]:
        return {"status": "alive"}

    @app.api_route("/readyz", methods=_GET_OR_HEAD)
    async def readyz() -> dict[str, str]:
        if service.asgi.stopping:
            raise RefusedError(503, "stopping", "the service is stopping")
        return {"status": "ready", "model": keeper.model.id}

    @app.get("/metrics")
    async def counts(request: Request) -> Response:
        authorize(request, settings.token)
        return Response(metrics.text(keeper.model), media_type="text/plain; version=0.0.4")

    @app.get("/openapi.json")
    async def openapi(request: Request) -> dict[str, Any]:
        authorize(request, settings.token)
        return describe(keeper.model, settings)

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

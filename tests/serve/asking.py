"""A service in this process, without a socket, and models that need no fit."""

import asyncio
import json

import httpx
import numpy as np

from support.documents import document_of, text_of
from tempocal.maps import Curves, ExponentialBasis, ProductBasis, Scale, StepBasis
from tempocal.predictor import Predictor
from tempocal.serve.app import Service
from tempocal.serve.service_settings import Settings

JSON = {"content-type": "application/json"}


def model_of(columns=1, classes=(0, 1), inputs="logits", kinds=("number",), slope=0.5):
    """Return a model whose temperature changes along its clocks, if it has any."""
    if not kinds:
        return Predictor("temperature", np.array(classes), inputs, columns, Scale(slope))
    basis = ExponentialBasis(0.3, 0.0)
    if len(kinds) == 2:
        basis = ProductBasis(basis, StepBasis(np.array([0.0, 1.0, 2.0]), "nearest"))
    table = slope * (1.0 + np.arange(basis.n_functions, dtype=float))[:, None]
    fitted = Curves("scale", (basis,), (table,))
    return Predictor("temperature", np.array(classes), inputs, columns, fitted, kinds)


def save(model, path):
    path.write_bytes(text_of(_with_text_classes(document_of(model), model.classes)))
    return path


def _with_text_classes(document, classes):
    return document | {"classes": {"dtype": classes.dtype.str, "values": classes.tolist()}}


def service_of(model, path, **settings):
    return Service(Settings(str(save(model, path)), **settings))


def ask(service, content=None, *, path="/v1/score", method=None, headers=JSON, body=None):
    """Send one request; `content` becomes JSON, `body` is sent as it is."""
    if content is not None:
        body = json.dumps(content)
    method = method or ("GET" if body is None else "POST")

    async def send():
        transport = httpx.ASGITransport(service.asgi)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            return await client.request(method, path, content=body, headers=headers)

    return asyncio.run(send())


def refused(service, status, content=None, **request):
    """Send a request that is refused with a status, and return the error."""
    answer = ask(service, content, **request)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    error = answer.json()["error"]
    assert set(error) == {"code", "message", "where"}
    assert len(answer.text) < 500
    return error

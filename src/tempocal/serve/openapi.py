"""The OpenAPI 3.1 description of the service for the current model."""

from typing import Any

from tempocal.serve.json_times import LARGEST_TIME, LONGEST_DURATION
from tempocal.serve.served_model import ServedModel
from tempocal.serve.service_settings import Settings
from tempocal.version import __version__

_TEXT = {"type": "string"}
_TIMES: dict[str, dict[str, Any]] = {
    "number": {
        "type": "number",
        "exclusiveMinimum": -LARGEST_TIME,
        "exclusiveMaximum": LARGEST_TIME,
    },
    "datetime": {
        "type": "string",
        "format": "date-time",
        "description": "A moment; one without a zone is in UTC.",
    },
    "timedelta": {
        "type": "number",
        "minimum": -LONGEST_DURATION,
        "maximum": LONGEST_DURATION,
        "description": "Seconds.",
    },
}
_REFUSALS = {
    400: "The body is not JSON.",
    401: "The token is missing or another one.",
    408: "The request was not complete in time.",
    413: "The body is too large.",
    415: "The body does not say that it is plain JSON.",
    422: "A row is not as the model needs it, or there are too many rows.",
    500: "The model gives no number for a row.",
    503: "Too many requests are under way; try again after Retry-After seconds.",
}


def describe(model: ServedModel, settings: Settings) -> dict[str, Any]:
    """Return the OpenAPI document: the schemas of requests and responses."""
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "tempocal",
            "version": __version__,
            "description": f"Calibrated probabilities by model {model.id}, {model.scorer.name}.",
        },
        "paths": _paths(settings),
        "components": {"schemas": _schemas(model, settings)},
    }
    if settings.token is not None:
        bearer = {"type": "http", "scheme": "bearer"}
        document["components"]["securitySchemes"] = {"token": bearer}
    return document


def _paths(settings: Settings) -> dict[str, Any]:
    statuses = [status for status in _REFUSALS if status != 401 or settings.token is not None]
    scored = {"200": _answer("Probabilities.", "Scores")} | {
        str(status): _answer(_REFUSALS[status], "Error") for status in statuses
    }
    score = {
        "operationId": "score",
        "summary": "Calibrate one prediction, or many.",
        "requestBody": {"required": True, "content": _content("Request")},
        "responses": scored,
    }
    ready = {
        "200": _answer("There is a model.", "Ready"),
        "503": _answer("The service is stopping.", "Error"),
    }
    closed = {"401": _answer(_REFUSALS[401], "Error")} if settings.token is not None else {}
    text = {"200": {"description": "Counts.", "content": {"text/plain": {"schema": _TEXT}}}}
    document = {"200": {"description": "OpenAPI.", "content": _content_of({"type": "object"})}}
    html = {"text/html": {"schema": _TEXT}}
    page = {"200": {"description": "A page.", "content": html}}
    paths = {
        "/v1/score": {"post": score},
        "/healthz": {"get": _get("healthz", "It is alive.", {"200": _answer("Yes.", "Alive")})},
        "/readyz": {"get": _get("readyz", "It has a model and is not stopping.", ready)},
        "/metrics": {"get": _get("metrics", "Counts for Prometheus.", text | closed)},
        "/": {"get": _get("start", "An example request, to be read.", page | closed)},
        "/docs": {"get": _get("docs", "This description, to be read.", page | closed)},
        "/openapi.json": {"get": _get("openapi", "This description.", document | closed)},
    }
    if settings.token is not None:
        for path in ("/v1/score", "/metrics", "/", "/docs", "/openapi.json"):
            next(iter(paths[path].values()))["security"] = [{"token": []}]
    return paths


def _get(name: str, summary: str, responses: dict[str, Any]) -> dict[str, Any]:
    return {"operationId": name, "summary": summary, "responses": responses}


def _answer(meaning: str, schema: str) -> dict[str, Any]:
    return {"description": meaning, "content": _content(schema)}


def _content(schema: str) -> dict[str, Any]:
    return _content_of({"$ref": f"#/components/schemas/{schema}"})


def _content_of(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _schemas(model: ServedModel, settings: Settings) -> dict[str, Any]:
    row = {"$ref": "#/components/schemas/Row"}
    probabilities = _list_of(
        {"type": "number", "minimum": 0, "maximum": 1}, len(model.scorer.classes)
    )
    rows = {"type": "array", "items": row, "minItems": 1, "maxItems": settings.max_rows}
    error = {"code": _TEXT, "message": _TEXT, "where": {"type": ["string", "null"]}}
    return {
        "Row": _row(model),
        "Request": {"anyOf": [row, _object({"rows": rows})]},
        "Scores": _object(
            {
                "model": {**_TEXT, "description": "Which model answered; another after a reload."},
                "classes": {"const": list(model.scorer.classes)},
                "probabilities": {
                    "anyOf": [probabilities, {"type": "array", "items": probabilities}],
                    "description": "Of each class; for many rows, a list for each.",
                },
            }
        ),
        "Alive": _object({"status": {"const": "alive"}}),
        "Ready": _object({"status": {"const": "ready"}, "model": _TEXT}),
        "Error": _object({"error": _object(error)}),
    }


def _row(model: ServedModel) -> dict[str, Any]:
    scorer = model.scorer
    number = (
        {"type": "number", "minimum": -(2.0**53), "maximum": 2.0**53}
        if scorer.inputs == "logits"
        else {"type": "number", "minimum": 0, "maximum": 1}
    )
    fields = {scorer.inputs: number if scorer.columns == 1 else _list_of(number, scorer.columns)}
    if scorer.inputs == "proba" and scorer.columns > 1:
        fields["proba"]["description"] = "They sum to 1."
    clocks = [_TIMES[kind] for kind in scorer.time_kinds]
    if clocks:
        fields["time"] = clocks[0] if len(clocks) == 1 else _pair(clocks)
    return _object(fields)


def _object(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def _list_of(item: dict[str, Any], count: int) -> dict[str, Any]:
    return {"type": "array", "items": item, "minItems": count, "maxItems": count}


def _pair(clocks: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "array", "prefixItems": clocks, "items": False, "minItems": 2, "maxItems": 2}

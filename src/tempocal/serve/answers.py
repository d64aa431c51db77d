"""From the body of a scoring request to the body of its response.

One row is ``{"logits": 1.2, "time": 3}``, many are ``{"rows": [{...}, ...]}``.
"""

import json
from dataclasses import dataclass
from math import isfinite
from typing import Any

from tempocal.serve.json_body import DuplicateFields, nested_too_deeply, parse
from tempocal.serve.refusals import RefusedError, short_text
from tempocal.serve.served_model import ServedModel


@dataclass(frozen=True)
class Answer:
    """Probabilities as JSON, and the number of rows."""

    body: bytes
    rows: int


def answer(model: ServedModel, body: bytes, max_rows: int) -> Answer:
    """Score the rows of a request.

    Raises
    ------
    RefusedError
        If a row or a field is invalid; it names which.
    """
    try:
        return _answer(model, body, max_rows)
    except RecursionError as error:
        # A value that can just be parsed may be too deep for the error message.
        raise nested_too_deeply() from error


def _answer(model: ServedModel, body: bytes, max_rows: int) -> Answer:
    content = parse(body)
    if not isinstance(content, dict):
        raise _invalid(f"the body must be an object, but it is {short_text(content)}")
    if "rows" not in content:
        return Answer(_text(model, _list(_score(model, content, ""))), 1)
    rows = _rows_of(content, max_rows)
    scored: list[str] = []
    # In Python rather than in the JSON encoder, which would hold the GIL and block other requests.
    for row in rows:
        scored.append(_list(_score(model, row, f"rows[{len(scored)}]")))
    return Answer(_text(model, f"[{', '.join(scored)}]"), len(rows))


def _rows_of(content: dict[str, Any], max_rows: int) -> list[Any]:
    if len(content) > 1 or isinstance(content, DuplicateFields):
        raise _invalid(f"rows must come alone and once, but there are {short_text(list(content))}")
    rows = content["rows"]
    if not isinstance(rows, list):
        raise _invalid(f"rows must be a list of objects, but it is {short_text(rows)}", "rows")
    if not rows:
        raise _invalid("rows is empty: it must have at least one row", "rows")
    if len(rows) > max_rows:
        raise RefusedError(
            422,
            "too_many_rows",
            f"rows has {len(rows)} rows, but a request may have {max_rows}: send them in parts",
            "rows",
        )
    return rows


def _score(model: ServedModel, row: Any, where: str) -> list[float]:
    if not isinstance(row, dict):
        raise _invalid(f"a row must be an object, but it is {short_text(row)}", where)
    if row.keys() != model.fields or isinstance(row, DuplicateFields):
        _require_fields(row, model.fields, where)
    try:
        scored = model.probabilities(row[model.scorer.inputs], row.get("time"))
    except ValueError as error:
        # Errors of the scorer begin with the name of the field.
        field = str(error).partition(" ")[0]
        path = _within(where, field) if field in model.fields else where
        raise _invalid(str(error), path) from error
    if not all(map(isfinite, scored)):
        raise RefusedError(
            500, "no_probability", "the model gives no number for this row", where or None
        )
    return scored


def _require_fields(row: dict[str, Any], fields: frozenset[str], where: str) -> None:
    needed = f"{' and '.join(sorted(fields))}{'' if where else ' (or rows alone, for many)'}"
    for name in row:
        if name not in fields:
            raise _invalid(f"{short_text(name)} is not known here: there must be {needed}", where)
    for name in sorted(fields - row.keys()):
        raise _invalid(f"{name} is missing: there must be {needed}", _within(where, name))
    if isinstance(row, DuplicateFields):
        raise _invalid(f"{row.name} comes twice: it must come once", _within(where, row.name))


def _within(where: str, field: str) -> str:
    return f"{where}.{field}" if where else field


def _invalid(message: str, where: str = "") -> RefusedError:
    return RefusedError(422, "invalid", message, where or None)


def _list(numbers: list[float]) -> str:
    return f"[{', '.join(map(repr, numbers))}]"


def _text(model: ServedModel, probabilities: str) -> bytes:
    head = json.dumps({"model": model.id, "classes": model.scorer.classes})
    return f'{head[:-1]}, "probabilities": {probabilities}}}'.encode()

"""Parsing untrusted bytes as JSON."""

import json
from collections import Counter
from math import isfinite
from typing import Any

from tempocal.serve.refusals import RefusedError

# No model takes longer integers, and parsing them is quadratic in their length.
_MAX_DIGITS = 40


class InvalidNumber:
    """Placeholder for what is not a finite JSON number, such as ``NaN``.

    Not an error while parsing, so that the message can name its row.
    """

    def __init__(self, text: str) -> None:
        self._text = text if len(text) <= 20 else f"{text[:20]}..."

    def __repr__(self) -> str:
        return self._text


class DuplicateFields(dict[str, Any]):
    """An object with a duplicate field.

    Not an error while parsing, so that the message can name its row.
    """

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.name = Counter(name for name, _ in pairs).most_common(1)[0][0]


def parse(body: bytes) -> Any:
    """Parse a body as JSON.

    Examples
    --------
    >>> parse(b'{"logits": 1.5, "time": NaN}')
    {'logits': 1.5, 'time': NaN}
    >>> parse(b'{"logits"')
    Traceback (most recent call last):
    ...
    tempocal.serve.refusals.RefusedError: the body is not JSON: Expecting ':' delimiter at line 1...
    """
    try:
        return _decode(body.decode())
    except UnicodeDecodeError as error:
        raise _not_json("it is not UTF-8") from error
    except json.JSONDecodeError as error:
        where = f"at line {error.lineno}, column {error.colno}"
        raise _not_json(f"{error.msg} {where}") from error
    except RecursionError as error:
        raise nested_too_deeply() from error


def nested_too_deeply() -> RefusedError:
    """Return the refusal of a body with lists or objects nested too deeply."""
    return _not_json("lists or objects are nested too deeply")


def _not_json(why: str) -> RefusedError:
    return RefusedError(400, "not_json", f"the body is not JSON: {why}")


def _float(digits: str) -> Any:
    number = float(digits)
    return number if isfinite(number) else InvalidNumber(digits)


def _integer(digits: str) -> Any:
    return int(digits) if len(digits) <= _MAX_DIGITS else InvalidNumber(digits)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    return fields if len(fields) == len(pairs) else DuplicateFields(pairs)


_decode = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=_float, parse_int=_integer, parse_constant=InvalidNumber
).decode

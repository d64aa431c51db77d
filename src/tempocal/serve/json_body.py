"""From bytes that may be anything to plain JSON values."""

import json
from collections import Counter
from math import isfinite
from typing import Any

from tempocal.serve.refusals import RefusedError

# Longer integers are no number that a model takes, and reading them takes their length squared.
_DIGITS = 40


class NoNumber:
    """What stands where JSON has no number, such as ``NaN``, for the row to be named later."""

    def __init__(self, text: str) -> None:
        self._text = text if len(text) <= 20 else f"{text[:20]}..."

    def __repr__(self) -> str:
        return self._text


class Repeated(dict[str, Any]):
    """An object in which a field comes twice, for the row to be named later."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.name = Counter(name for name, _ in pairs).most_common(1)[0][0]


def parse(body: bytes) -> Any:
    """Return the JSON value that a body is.

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
    """Return the refusal of a body that has too many lists or objects within each other."""
    return _not_json("lists or objects are nested too deeply")


def _not_json(why: str) -> RefusedError:
    return RefusedError(400, "not_json", f"the body is not JSON: {why}")


def _float(digits: str) -> Any:
    number = float(digits)
    return number if isfinite(number) else NoNumber(digits)


def _integer(digits: str) -> Any:
    return int(digits) if len(digits) <= _DIGITS else NoNumber(digits)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    return fields if len(fields) == len(pairs) else Repeated(pairs)


_decode = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=_float, parse_int=_integer, parse_constant=NoNumber
).decode

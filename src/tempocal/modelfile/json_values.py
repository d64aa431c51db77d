"""What may be written: content that JSON gives back exactly as it was."""

from collections.abc import Iterable
from math import isfinite
from typing import Any

from tempocal.errors import InputError
from tempocal.modelfile.limits import MAX_DEPTH, MAX_DIGITS

_TOO_LARGE = 10**MAX_DIGITS


def require_plain(value: Any, name: str = "content", room: int = MAX_DEPTH) -> None:
    """Raise unless `value` is made of finite numbers, strings, bools, None, lists and dicts.

    Examples
    --------
    >>> require_plain({"slope": [1.5, float("nan")]})
    Traceback (most recent call last):
    ...
    tempocal.errors.InputError: content['slope'][1] is nan, but a model file holds finite numbers
    """
    fault = _fault(value)
    if fault:
        raise InputError(f"{name} {fault}")
    if isinstance(value, dict | list) and not room:
        raise InputError(f"{name} lies deeper than the {MAX_DEPTH} levels a model file may have")
    for key, item in _items(value):
        require_plain(item, f"{name}[{key!r}]", room - 1)


def _items(value: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


def _fault(value: Any) -> str | None:
    match value:
        case float():
            return None if isfinite(value) else f"is {value}, but a model file holds finite numbers"
        case int():
            large = abs(value) >= _TOO_LARGE
            return f"is an integer of more than {MAX_DIGITS} digits" if large else None
        case str():
            return _fault_of_text(value)
        case dict():
            return next(filter(None, map(_fault_of_key, value)), None)
        case list() | None:
            return None
    # A tuple would come back as a list, an array or a NumPy integer not at all.
    kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    return (
        f"is a {kind}, but a model file holds only float, int, bool, str, None, list and dict: "
        "convert it first, e.g. with list(), .tolist() or .item()"
    )


def _fault_of_key(key: Any) -> str | None:
    if not isinstance(key, str):
        return f"has the key {key!r}, but keys must be strings"
    fault = _fault_of_text(key)
    return f"has the key {key!r}, which {fault}" if fault else None


def _fault_of_text(text: str) -> str | None:
    try:
        text.encode()
    except UnicodeEncodeError:
        return f"holds half of a surrogate pair, which is not text: {text!a:.80}"
    return None

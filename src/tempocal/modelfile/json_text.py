"""Content as text, in the one way it is written: for a person to read, line by line to compare."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def lay_out(value: Any, indent: str = "  ") -> Iterator[str]:
    """Yield the text of a value piece by piece, each line but the first after `indent`.

    Keys are sorted; a list of numbers stays on one line. In pieces, because a small hostile file
    of deep lists has a very long text.

    Examples
    --------
    >>> print("".join(lay_out({"rows": [[1.0, 2.0], [3.0, 4.0]], "name": "x"}, indent="")))
    {
      "name": "x",
      "rows": [
        [1.0, 2.0],
        [3.0, 4.0]
      ]
    }
    """
    if isinstance(value, dict) and value:
        named = ((_encode(key) + ": ", value[key]) for key in sorted(value))
        yield from _block("{", named, "}", indent)
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        yield from _block("[", (("", item) for item in value), "]", indent)
    else:
        yield _encode(value)


def _block(
    opening: str, items: Iterable[tuple[str, Any]], closing: str, indent: str
) -> Iterator[str]:
    deeper = indent + "  "
    before = opening + "\n"
    for label, item in items:
        yield before + deeper + label
        yield from lay_out(item, deeper)
        before = ",\n"
    yield "\n" + indent + closing

"""From text to content, also where somebody made the text to do harm.

A checksum is easily made to fit. What then remains possible is to use memory: some tens of times
the size of the file, as for any JSON, hence `MAX_BYTES`.
"""

import json
import re
from itertools import accumulate
from typing import Any

from tempocal.errors import DamagedModelFileError
from tempocal.modelfile.json_text import lay_out
from tempocal.modelfile.limits import MAX_DEPTH, MAX_DIGITS

# A bracket, or a string, closed or not, for the brackets in it not to count. Possessive (*+), so
# that the time is linear.
_BRACKET_OR_STRING = re.compile(rb'[\[\]{}]|"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_STEP = {b"[": 1, b"{": 1, b"]": -1, b"}": -1}


def parse(data: bytes) -> dict[str, Any]:
    """Return the dictionary that `lay_out` turns into `data`, the text of an object."""
    _require_shallow(data)
    try:
        # Decoded here, because json would guess UTF-16 and UTF-32 as well.
        text = data.decode()
        content: dict[str, Any] = json.loads(text, parse_int=_integer)
        same = _is_text_of(content, text)
    except ValueError as error:
        raise DamagedModelFileError(f"is damaged: {error}") from error
    if not same:
        # Such as keys that come twice, NaN, 1.50 for 1.5, or an escaped letter.
        raise DamagedModelFileError("is damaged: tempocal would have written it differently")
    return content


def _require_shallow(data: bytes) -> None:
    # json recurses, and the depth at which Python stops it is not ours to choose.
    steps = (_STEP.get(found[0], 0) for found in _BRACKET_OR_STRING.finditer(data))
    if any(depth > MAX_DEPTH for depth in accumulate(steps)):
        raise DamagedModelFileError(f"is damaged: nested deeper than {MAX_DEPTH} levels")


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) > MAX_DIGITS:
        raise ValueError(f"an integer of more than {MAX_DIGITS} digits")
    return int(digits)


def _is_text_of(content: dict[str, Any], text: str) -> bool:
    position = 0
    for piece in lay_out(content):
        if not text.startswith(piece, position):
            return False
        position += len(piece)
    return position == len(text)

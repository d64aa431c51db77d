"""The four lines around the content that say what the file is and whether it is whole."""

import hashlib
import re

from tempocal.errors import (
    DamagedModelFileError,
    ModelFileError,
    NewerModelFileError,
    NotAModelFileError,
)
from tempocal.modelfile.schema import SCHEMA

_MARKER = b'"tempocal-model"'
_FIRST = b'{\n  "format": ' + _MARKER + b",\n"
_SECOND = re.compile(rb'  "schema": ([1-9][0-9]{0,8}),\n')
_OTHERS = re.compile(rb'  "sha256": "([0-9a-f]{64})",\n  "content": (\{.*\})\n\}\n', re.DOTALL)


def wrap(content: bytes, schema: int = 1) -> bytes:
    r"""Return the bytes of a file with this content.

    Examples
    --------
    >>> print(wrap(b'{\n    "slope": 0.1\n  }').decode(), end="")
    {
      "format": "tempocal-model",
      "schema": 1,
      "sha256": "...",
      "content": {
        "slope": 0.1
      }
    }
    """
    checksum = hashlib.sha256(content).hexdigest()
    rest = f'  "schema": {schema},\n  "sha256": "{checksum}",\n  "content": '
    return _FIRST + rest.encode() + content + b"\n}\n"


def unwrap(data: bytes) -> tuple[bytes, int]:
    """Return the content, byte for byte as it was wrapped, and the schema it was written under."""
    schema = _SECOND.match(data, len(_FIRST)) if data.startswith(_FIRST) else None
    if not schema:
        raise _stranger(data)
    if int(schema[1]) > SCHEMA:
        raise NewerModelFileError(
            f"was written by a later version of tempocal (schema {int(schema[1])}; this version "
            f"knows up to {SCHEMA}): upgrade tempocal to read it"
        )
    others = _OTHERS.fullmatch(data, schema.end())
    if not others or hashlib.sha256(others[2]).hexdigest().encode() != others[1]:
        raise DamagedModelFileError("is damaged: incomplete, or altered since it was saved")
    return others[2], int(schema[1])


def _stranger(data: bytes) -> ModelFileError:
    """Say whether a file that does not begin as ours do was ours once."""
    if _FIRST.startswith(data):
        return DamagedModelFileError("is damaged: nothing but the beginning of it is left")
    if _MARKER in data[:200]:
        return DamagedModelFileError(
            "is damaged, or its layout or line endings were changed (by Git: mark it -text)"
        )
    return NotAModelFileError("is not a tempocal model, but another kind of file")

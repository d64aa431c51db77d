"""What the tests of the model file share."""

import hashlib
import json
from pathlib import Path

import pytest

from tempocal.modelfile import write_document


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.json"


@pytest.fixture
def forge(path):
    """Give a file around any text of content, with a checksum that fits and with any schema."""

    def forged(content: str | bytes, schema: object = 1) -> Path:
        data = content if isinstance(content, bytes) else content.encode()
        head = {"format": "tempocal-model", "schema": schema}
        head["sha256"] = hashlib.sha256(data).hexdigest()
        text = json.dumps(head, indent=2).removesuffix("\n}") + ',\n  "content": '
        path.write_bytes(text.encode() + data + b"\n}\n")
        return path

    return forged


@pytest.fixture
def saved(path):
    """Give the bytes of a small model with something of everything in it."""
    write_document(path, {"kind": "Scale", "é": [1, -0.5, True, None], "in": {"a": [[], {}]}})
    return path.read_bytes()

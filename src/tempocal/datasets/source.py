"""Which file a dataset was read from."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Source:
    """The file that was read, so that results can say which data they came from."""

    name: str  # of the file, without its folder
    sha256: str  # checksum; load_imdb says what is summed where the source is a folder


def source_of(path: Path) -> Source:
    """Return the name of a file and its checksum."""
    return Source(path.name, _digest(path, hashlib.sha256))


def md5_of(path: Path) -> str:
    """Return the kind of checksum that old archives are published with."""
    return _digest(path, lambda: hashlib.md5(usedforsecurity=False))


def _digest(path: Path, kind: Callable[[], Any]) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, kind).hexdigest()

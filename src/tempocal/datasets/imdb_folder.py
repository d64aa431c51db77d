"""Large Movie Review as the folder that the official archive unpacks to."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from tempocal.datasets.columns import Columns
from tempocal.datasets.imdb_names import MOODS, PARTS, from_reviews
from tempocal.datasets.source import Source
from tempocal.errors import DatasetError


def read_folder(path: Path) -> tuple[Columns, Source]:
    """Read all reviews, and sum up their names and contents."""
    digest = hashlib.sha256()

    def summed() -> Iterator[tuple[str, str, str, bytes]]:
        for part, mood, name, content in _reviews(path):
            # The length tells where a content ends and the next name begins.
            digest.update(f"{part}/{mood}/{name}\n{len(content)}\n".encode() + content)
            yield part, mood, name, content

    columns = from_reviews(path.name, summed())
    return columns, Source(path.name, digest.hexdigest())


def _reviews(path: Path) -> Iterator[tuple[str, str, str, bytes]]:
    for part in PARTS:
        for mood in MOODS:
            place = path / part / mood
            if not place.is_dir():
                raise DatasetError(f"{path} has no folder {part}/{mood}")
            for file in sorted(place.iterdir()):
                # Desktops leave hidden files of their own.
                if not file.name.startswith("."):
                    yield part, mood, file.name, _content(file)


def _content(file: Path) -> bytes:
    if not file.is_file():
        raise DatasetError(f"{file} is not a file, and must be a review")
    return file.read_bytes()

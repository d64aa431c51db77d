"""Large Movie Review as the folder that the official archive unpacks to."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from tempocal.datasets.columns import DatasetColumns
from tempocal.datasets.containers import Source
from tempocal.datasets.imdb_names import PARTS, SENTIMENTS, from_reviews
from tempocal.errors import DatasetError


def read_folder(path: Path) -> tuple[DatasetColumns, Source]:
    """Read all reviews, with a checksum over their names and contents."""
    digest = hashlib.sha256()

    def digested() -> Iterator[tuple[str, str, str, bytes]]:
        for part, sentiment, name, content in _reviews(path):
            # With the length, which separates a content from the next name.
            digest.update(f"{part}/{sentiment}/{name}\n{len(content)}\n".encode() + content)
            yield part, sentiment, name, content

    columns = from_reviews(path.name, digested())
    return columns, Source(path.name, digest.hexdigest())


def _reviews(path: Path) -> Iterator[tuple[str, str, str, bytes]]:
    for part in PARTS:
        for sentiment in SENTIMENTS:
            directory = path / part / sentiment
            if not directory.is_dir():
                raise DatasetError(f"{path} has no folder {part}/{sentiment}")
            for file in sorted(directory.iterdir()):
                # Skip hidden files of the operating system.
                if not file.name.startswith("."):
                    yield part, sentiment, file.name, _content(file)


def _content(file: Path) -> bytes:
    if not file.is_file():
        raise DatasetError(f"{file} is not a file, and must be a review")
    return file.read_bytes()

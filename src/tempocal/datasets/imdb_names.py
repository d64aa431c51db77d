"""How the official files of Large Movie Review are named: train/pos/127_10.txt."""

import re
from collections.abc import Iterable

from tempocal.datasets.columns import Columns
from tempocal.errors import DatasetError

PARTS = ("train", "test")
MOODS = ("neg", "pos")
# Number of the review, and the stars that it gave.
_NAME = re.compile(r"([0-9]{1,9})_[0-9]{1,2}\.txt")


def from_reviews(file: str, reviews: Iterable[tuple[str, str, str, bytes]]) -> Columns:
    """Return the columns of reviews of which part, mood, name and content are known."""
    values: dict[str, list[object]] = {"split": [], "label": [], "review_id": [], "text": []}
    groups = set()
    for part, mood, name, content in reviews:
        written = _NAME.fullmatch(name)
        if written is None:
            raise DatasetError(
                f"{file}: {part}/{mood}/{name} must be named by a number and stars, as 127_10.txt"
            )
        row = (part, MOODS.index(mood), int(written[1]), _decoded(content, file, part, mood, name))
        for column, value in zip(values.values(), row, strict=True):
            column.append(value)
        groups.add((part, mood))
    for part in PARTS:
        for mood in MOODS:
            if (part, mood) not in groups:
                raise DatasetError(f"{file} has no reviews in {part}/{mood}")
    return Columns(file, values)


def _decoded(content: bytes, *name: str) -> str:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DatasetError(f"{_where(name)} is not UTF-8 text: {error.reason}") from error
    if not text:
        raise DatasetError(f"{_where(name)} is empty")
    return text


def _where(name: tuple[str, ...]) -> str:
    return f"{name[0]}: {'/'.join(name[1:])}"

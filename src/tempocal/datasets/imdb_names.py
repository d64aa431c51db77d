"""File names of Large Movie Review, such as train/pos/127_10.txt."""

import re
from collections.abc import Iterable

from tempocal.datasets.columns import DatasetColumns
from tempocal.errors import DatasetError

PARTS = ("train", "test")
SENTIMENTS = ("neg", "pos")
# Number of the review and its rating.
_NAME = re.compile(r"([0-9]{1,9})_[0-9]{1,2}\.txt")


def from_reviews(file: str, reviews: Iterable[tuple[str, str, str, bytes]]) -> DatasetColumns:
    """Return the columns of reviews given as part, sentiment, name and content."""
    values: dict[str, list[object]] = {"split": [], "label": [], "review_id": [], "text": []}
    groups = set()
    for part, sentiment, name, content in reviews:
        match = _NAME.fullmatch(name)
        if match is None:
            raise DatasetError(
                f"{file}: {part}/{sentiment}/{name} must be named by a number and stars, as "
                "127_10.txt"
            )
        text = _decode(content, file, part, sentiment, name)
        row = (part, SENTIMENTS.index(sentiment), int(match[1]), text)
        for column, value in zip(values.values(), row, strict=True):
            column.append(value)
        groups.add((part, sentiment))
    for part in PARTS:
        for sentiment in SENTIMENTS:
            if (part, sentiment) not in groups:
                raise DatasetError(f"{file} has no reviews in {part}/{sentiment}")
    return DatasetColumns(file, values)


def _decode(content: bytes, *name: str) -> str:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DatasetError(f"{_where(name)} is not UTF-8 text: {error.reason}") from error
    if not text:
        raise DatasetError(f"{_where(name)} is empty")
    return text


def _where(name: tuple[str, ...]) -> str:
    return f"{name[0]}: {'/'.join(name[1:])}"

"""Texts as rows of a matrix of word vectors."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pyarrow import parquet

from tempocal.errors import DatasetError

WIDTH = 300
# Contractions are taken apart as word vectors have them: "don't" is "do" and "n't".
_WORD = re.compile(r"[^\W_]+(?=n't)|n't|'(?:s|re|ve|ll|d|m)\b|[^\W_]+")
_MARKUP = re.compile(r"<[^>]{1,20}>")


@dataclass(frozen=True)
class Vectors:
    """Word vectors and the row of each word. The row after the last is zero, for unknown words."""

    rows: NDArray[np.float32]
    row_of: dict[str, int]

    @property
    def unknown(self) -> int:
        """Row of words that have no vector."""
        return len(self.rows) - 1


@dataclass(frozen=True)
class Corpus:
    """Texts as rows of the vectors, one after the other."""

    words: NDArray[np.int32]
    start: NDArray[np.int64]  # where each text begins, and where the last ends

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Words of each text."""
        return np.diff(self.start)

    def text(self, number: int) -> NDArray[np.int32]:
        """Return the words of one text."""
        return self.words[self.start[number] : self.start[number + 1]]

    def known(self, unknown: int) -> float:
        """Return the share of words that have a vector."""
        return float(np.mean(self.words != unknown))


def without_markup(text: str) -> str:
    """Return a text without line breaks and the like of HTML."""
    return _MARKUP.sub(" ", text)


def tokenize(text: str) -> list[str]:
    """Return the words of a text in lower case, without punctuation and markup.

    >>> tokenize("Don't miss it!<br />It's 'great'.")
    ['do', "n't", 'miss', 'it', 'it', "'s", 'great']
    """
    return _WORD.findall(without_markup(text).lower())


def read_vectors(path: Path) -> Vectors:
    """Read vectors from ``NAME.npy`` with ``NAME_words.parquet`` beside it, or from a text file.

    In a text file each line is a word and its numbers, as in GloVe's.
    """
    if path.suffix == ".npy":
        rows = np.load(path).astype(np.float32)
        row_of = _read_words(path.with_name(path.stem + "_words.parquet"))
    else:
        rows, row_of = _read_text(path)
    if rows.ndim != 2 or rows.shape[1] != WIDTH:
        raise DatasetError(f"{path.name} holds vectors of shape {rows.shape}, not (words, {WIDTH})")
    return Vectors(np.vstack([rows, np.zeros((1, WIDTH), dtype=np.float32)]), row_of)


def encode(texts: Iterable[str], vectors: Vectors) -> Corpus:
    """Turn texts into rows of the vectors. A text without words becomes one unknown word."""
    row_of, unknown = vectors.row_of, vectors.unknown
    words: list[NDArray[np.int32]] = []
    for text in texts:
        rows = [row_of.get(word, unknown) for word in tokenize(text)] or [unknown]
        words.append(np.array(rows, dtype=np.int32))
    lengths = [len(rows) for rows in words]
    return Corpus(np.concatenate(words), np.concatenate([[0], np.cumsum(lengths)]))


def _read_words(path: Path) -> dict[str, int]:
    table = parquet.read_table(path)
    words: Sequence[str] = table["word"].to_pylist()
    return dict(zip(words, table["row"].to_pylist(), strict=True))


def _read_text(path: Path) -> tuple[NDArray[np.float32], dict[str, int]]:
    rows: list[NDArray[np.float32]] = []
    row_of: dict[str, int] = {}
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            word, *numbers = line.rstrip("\n").rsplit(" ", WIDTH)
            if len(numbers) != WIDTH:
                raise DatasetError(
                    f"line {number} of {path.name} is not a word and {WIDTH} numbers"
                )
            row_of.setdefault(word, len(rows))
            rows.append(np.array(numbers, dtype=np.float32))
    return np.array(rows), row_of

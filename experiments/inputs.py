"""What the models read: the data, the word vectors, the encoder; each loaded once.

A worker process keeps what it has loaded. Texts turned into numbers are kept in the cache, as
that takes longer than reading them.
"""

import hashlib
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from experiments import words
from experiments.cache import code_of, place, write_whole
from experiments.models import encoder
from experiments.models.encoder import Encoder
from experiments.words import Corpus, Vectors, encode, read_vectors, without_markup
from tempocal import datasets
from tempocal.datasets import Rounds, Texts
from tempocal.errors import DatasetError


@dataclass(frozen=True)
class Places:
    """Where things are."""

    data: Path  # folder of the data sets
    vectors: Path  # word vectors
    encoder: Path  # folder of the encoder
    cache: Path  # folder for results


@dataclass(frozen=True)
class Encoded:
    """Settings that texts turned into numbers depend on."""

    data: str  # sha256 of the texts
    reader: str  # hash of the vectors or of the encoder
    code: str  # hash of what reads them


@cache
def texts_of(places: Places, dataset: str) -> Texts:
    """Load texts."""
    if dataset == "imdb":
        return datasets.load_imdb(places.data)
    return datasets.load_amazon_fine_food(places.data)


@cache
def rounds_of(places: Places) -> Rounds:
    """Load games."""
    return datasets.load_cs_rounds(places.data)


@cache
def vectors_of(places: Places) -> Vectors:
    """Read the word vectors."""
    return read_vectors(places.vectors)


@cache
def encoder_of(places: Places) -> Encoder:
    """Load the encoder."""
    from transformers.utils.logging import disable_progress_bar  # noqa: PLC0415 - takes seconds

    disable_progress_bar()
    return Encoder(places.encoder)


@cache
def words_of(places: Places, dataset: str) -> Corpus:
    """Return the texts as rows of the word vectors."""
    texts = texts_of(places, dataset)
    path = place(places.cache, _encoded(texts, places.vectors), ".npz")
    if not path.exists():
        _save(encode(texts.text, vectors_of(places)), path)
    return _load(path)


@cache
def tokens_of(places: Places, dataset: str) -> Corpus:
    """Return the texts as tokens of the encoder."""
    texts = texts_of(places, dataset)
    path = place(places.cache, _encoded(texts, places.encoder), ".npz")
    if not path.exists():
        tokens = encoder_of(places).tokenize([without_markup(text) for text in texts.text])
        rows = np.concatenate([np.array(text, dtype=np.int32) for text in tokens])
        start = np.concatenate([[0], np.cumsum([len(text) for text in tokens])])
        _save(Corpus(rows, start), path)
    return _load(path)


@cache
def checksum(path: Path) -> str:
    """Return a hash of word vectors and their words, or of all files of an encoder's folder."""
    if path.is_dir():
        files = [file for file in sorted(path.rglob("*")) if file.is_file()]
    else:
        files = [path, *path.parent.glob(f"{path.stem}_words.parquet")]
    if not files or not path.exists():
        raise DatasetError(f"{path} is not there, or is empty")
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as content:
            digest.update(hashlib.file_digest(content, "sha256").digest())
    return digest.hexdigest()


def _encoded(texts: Texts, reader: Path) -> Encoded:
    code = code_of(words, encoder, datasets, sys.modules[__name__])
    return Encoded(texts.source.sha256, checksum(reader), code)


def _save(corpus: Corpus, path: Path) -> None:
    def write(beside: Path) -> None:
        with beside.open("wb") as file:
            np.savez(file, words=corpus.words, start=corpus.start)

    write_whole(path, write)


def _load(path: Path) -> Corpus:
    with np.load(path) as arrays:
        return Corpus(arrays["words"], arrays["start"])

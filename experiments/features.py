"""Features of the frozen encoder, computed once and kept in chunks that survive a kill."""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from experiments import inputs, splits, words
from experiments.cache import code_of, key_of, write_whole
from experiments.inputs import Places, checksum, encoder_of, texts_of, tokens_of
from experiments.models import encoder
from experiments.splits import Parts, Prefixes, cut, split
from experiments.training import Report
from tempocal import datasets, sequences

# Tokens of a chunk, which is about a minute's work, and of a batch.
CHUNK_TOKENS = 160_000
BATCH_TOKENS = 4_096


@dataclass(frozen=True)
class FeatureSet:
    """Settings that the features of a data set depend on."""

    dataset: str
    data: str  # sha256 of the texts
    encoder: str  # hash of its files
    code: str  # hash of what the encoder and the cuts do
    torch: str = torch.__version__


@dataclass(frozen=True)
class Plan:
    """What is to be computed: whole texts to train on, then prefixes; sorted into chunks."""

    parts: Parts
    prefixes: Prefixes
    text: NDArray[np.int64]
    length: NDArray[np.int64]
    chunks: list[NDArray[np.int64]]  # rows of each chunk, of about the same length
    folder: Path

    def path(self, chunk: int) -> Path:
        """Return the file of a chunk."""
        return self.folder / f"{chunk:04}.npy"


def plan(places: Places, dataset: str) -> Plan:
    """Return what the experiments need of the encoder. Every seed uses split and cuts of seed 0."""
    texts, corpus = texts_of(places, dataset), tokens_of(places, dataset)
    parts = split(texts, 0)
    prefixes = cut(parts, corpus.lengths, 0)
    text = np.concatenate([parts.train, prefixes.text])
    length = np.concatenate([corpus.lengths[parts.train], prefixes.length])
    order = np.argsort(length, kind="stable")
    chunk = np.cumsum(length[order]) // CHUNK_TOKENS
    chunks = np.split(order, np.flatnonzero(np.diff(chunk)) + 1)
    modules = (encoder, splits, inputs, words, datasets, sequences, sys.modules[__name__])
    settings = FeatureSet(dataset, texts.source.sha256, checksum(places.encoder), code_of(*modules))
    folder = places.cache / f"features-{key_of(settings)}"
    return Plan(parts, prefixes, text, length, chunks, folder)


def compute(places: Places, dataset: str, number: int, path: Path, report: Report) -> None:
    """Compute a chunk and write it."""
    planned, corpus = plan(places, dataset), tokens_of(places, dataset)
    rows, reader = planned.chunks[number], encoder_of(places)
    batch = np.cumsum(planned.length[rows] + 2) // BATCH_TOKENS
    found = []
    batches = np.split(rows, np.flatnonzero(np.diff(batch)) + 1)
    for done, part in enumerate(batches, start=1):
        tokens = [corpus.text(int(planned.text[row]))[: planned.length[row]] for row in part]
        found.append(reader.features([text.tolist() for text in tokens]).numpy())
        report(done / len(batches))

    def write(beside: Path) -> None:
        with beside.open("wb") as file:
            np.save(file, np.concatenate(found))

    write_whole(path, write)


def load(planned: Plan) -> tuple[Tensor, Tensor]:
    """Return the features of the whole texts and of the prefixes, all chunks being there."""
    chunks = [np.load(planned.path(number)) for number in range(len(planned.chunks))]
    rows = np.empty((len(planned.text), chunks[0].shape[1]), dtype=np.float32)
    rows[np.concatenate(planned.chunks)] = np.concatenate(chunks)
    found = torch.from_numpy(rows)
    whole = len(planned.parts.train)
    return found[:whole], found[whole:]

"""What a result came from: which data, read by what, trained for how long, by which code."""

from importlib.metadata import version
from typing import Any

from experiments.catalog import Experiment
from experiments.games import split_games
from experiments.inputs import Places, checksum, rounds_of, texts_of, vectors_of, words_of
from experiments.splits import Parts, split
from tempocal.datasets import Rounds, Texts


def about(one: Experiment, places: Places, *, made_up: bool) -> dict[str, Any]:
    """Say it, ready for JSON."""
    data: Texts | Rounds
    if one.dataset == "rounds":
        data = rounds_of(places)
        parts, complete = split_games(data), True
    else:
        data = texts_of(places, one.dataset)
        parts, complete = split(data, 0), data.complete
    return {
        "data": {"file": data.source.name, "sha256": data.source.sha256},
        "complete": complete,
        "made_up": made_up,
        "sizes": _sizes(parts),
        "reader": _reader(one, places),
        "epochs": one.epochs,
        "batch": one.batch,
        "versions": {name: version(name) for name in ("torch", "numpy", "tempocal")},
    }


def _sizes(parts: Parts) -> dict[str, int]:
    return {name: len(which) for name, which in vars(parts).items()}


def _reader(one: Experiment, places: Places) -> dict[str, Any] | None:
    """Name the word vectors or the encoder."""
    if one.model == "encoder":
        folder = places.encoder
        return {"name": f"{folder.parent.name}/{folder.name}", "hash": checksum(folder)}
    if one.dataset == "rounds":
        return None
    known = words_of(places, one.dataset).known(vectors_of(places).unknown)
    return {
        "name": places.vectors.name,
        "hash": checksum(places.vectors),
        "words_with_a_vector": round(known, 4),
    }

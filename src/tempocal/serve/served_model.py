"""A model file as the service uses it."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from math import exp
from typing import Any

from tempocal import scorer
from tempocal.errors import DamagedModelFileError, ModelFileError
from tempocal.modelfile.bounded_read import read_bytes
from tempocal.modelfile.envelope import unwrap
from tempocal.modelfile.paths import path_name
from tempocal.serve.json_times import time_reader
from tempocal.serve.refusals import shown

Probabilities = Callable[[Any, Any], list[float]]


@dataclass(frozen=True)
class ServedModel:
    """A model, and what tells it from others.

    Attributes
    ----------
    id : str
        The first 12 digits of the sha256 that the file has in it.
    scorer : Scorer
        What it takes and gives.
    fields : frozenset of str
        The fields of a row: "logits" or "proba", and "time" for a model that changes along it.
    probabilities : callable
        From these, as JSON has them, to the probability of each class.
    """

    id: str
    scorer: scorer.Scorer
    fields: frozenset[str]
    probabilities: Probabilities

    def takes(self) -> str:
        """Return in words what a row must have."""
        one = self.scorer
        numbers = "a number" if one.columns == 1 else f"{one.columns} numbers"
        clocks = f" and time ({' and '.join(one.time_kinds)})" if one.time_kinds else ""
        return f"{one.inputs} ({numbers}){clocks}"


def read_served(path: str | os.PathLike[str]) -> ServedModel:
    """Read a model file.

    Raises
    ------
    ModelFileError
        If the file is damaged, of another kind, or written by a later version.
    OSError
        If it cannot be opened.
    """
    name = path_name(path)
    try:
        data = read_bytes(name)
        content, _ = unwrap(data)
        one = _scorer_of(data)
    except ModelFileError as error:
        error.args = (f"{name} {error}",)
        raise
    fields = frozenset({one.inputs, "time"} if one.time_kinds else {one.inputs})
    return ServedModel(hashlib.sha256(content).hexdigest()[:12], one, fields, _probabilities(one))


def _scorer_of(data: bytes) -> scorer.Scorer:
    try:
        return scorer.loads(data)
    except scorer.ModelError as error:
        raise DamagedModelFileError(str(error).removeprefix("the text ")) from error


def _probabilities(one: scorer.Scorer) -> Probabilities:
    read_time, log_odds, score = time_reader(one.time_kinds), one.log_odds, one.score

    def of_one(logit: Any, time: Any) -> list[float]:
        if type(logit) not in (float, int):
            raise ValueError(f"{one.inputs} must be a number, but it is {shown(logit)}")
        odds = log_odds(logit, read_time(time))
        # Each from the odds: 1 - p would lose the digits of a small one.
        small = exp(-abs(odds))
        likely = 1.0 / (1.0 + small)
        return [small * likely, likely] if odds >= 0.0 else [likely, small * likely]

    def of_row(logits: Any, time: Any) -> list[float]:
        return list(score(logits, read_time(time)))

    return of_one if one.columns == 1 else of_row

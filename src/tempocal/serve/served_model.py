"""A model loaded for the service: scorer, id and fields of a row."""

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
from tempocal.serve.refusals import short_text

Probabilities = Callable[[Any, Any], list[float]]


@dataclass(frozen=True)
class ServedModel:
    """A scorer, its id, and the function that scores a row.

    Attributes
    ----------
    id : str
        The first 12 digits of the sha256 in the file.
    scorer : Scorer
        The model.
    fields : frozenset of str
        The fields of a row: "logits" or "proba", and "time" for a model that depends on it.
    probabilities : callable
        From these fields, as parsed from JSON, to the probability of each class.
    """

    id: str
    scorer: scorer.Scorer
    fields: frozenset[str]
    probabilities: Probabilities

    def input_text(self) -> str:
        """Describe the fields of a row in words."""
        scorer = self.scorer
        numbers = "a number" if scorer.columns == 1 else f"{scorer.columns} numbers"
        clocks = f" and time ({' and '.join(scorer.time_kinds)})" if scorer.time_kinds else ""
        return f"{scorer.inputs} ({numbers}){clocks}"


def read_served_model(path: str | os.PathLike[str]) -> ServedModel:
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
        model = _load_scorer(data)
    except ModelFileError as error:
        error.args = (f"{name} {error}",)
        raise
    fields = frozenset({model.inputs, "time"} if model.time_kinds else {model.inputs})
    model_id = hashlib.sha256(content).hexdigest()[:12]
    return ServedModel(model_id, model, fields, _probabilities(model))


def _load_scorer(data: bytes) -> scorer.Scorer:
    try:
        return scorer.loads(data)
    except scorer.ModelError as error:
        raise DamagedModelFileError(str(error).removeprefix("the text ")) from error


def _probabilities(model: scorer.Scorer) -> Probabilities:
    read_time, log_odds, score = time_reader(model.time_kinds), model.log_odds, model.score

    def of_logit(logit: Any, time: Any) -> list[float]:
        if type(logit) not in (float, int):
            raise ValueError(f"{model.inputs} must be a number, but it is {short_text(logit)}")
        value = log_odds(logit, read_time(time))
        # Both from the log-odds: 1 - p would lose the digits of a small probability.
        small = exp(-abs(value))
        likely = 1.0 / (1.0 + small)
        return [small * likely, likely] if value >= 0.0 else [likely, small * likely]

    def of_row(logits: Any, time: Any) -> list[float]:
        return list(score(logits, read_time(time)))

    return of_logit if model.columns == 1 else of_row

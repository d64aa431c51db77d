"""Validation of a monitor's input: one prediction, or rows of predictions."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs import Codes, TimeKind, as_array, check_proba, check_time, require_same_length
from tempocal.links import Array
from tempocal.live.bet_queue import SequenceId
from tempocal.live.evalues import clip_proba
from tempocal.modelfile.limits import MAX_DIGITS

_LONGEST = 1_000
_SURROGATE = re.compile("[\ud800-\udfff]")
_TOO_LARGE = 10**MAX_DIGITS
_HINT = "a monitor takes probabilities, not logits"


@dataclass(frozen=True)
class MonitorRows:
    """Validated predictions, in the order in which they were made."""

    proba: Array  # (n, K)
    sequence: list[SequenceId]
    outcome: dict[SequenceId, int]  # code of the label, for sequences that have one


def check_id(sequence: Any) -> SequenceId:
    """Return an id that can be saved to a file."""
    if isinstance(sequence, np.generic):
        sequence = sequence.item()
    if not isinstance(sequence, str | int) or isinstance(sequence, bool):
        raise InputError(
            f"sequence must be text or a whole number, but it is {sequence!r:.80}: pass str() of it"
        )
    if isinstance(sequence, int) and abs(sequence) >= _TOO_LARGE:
        raise InputError(f"sequence is a number of more than {MAX_DIGITS} digits: use shorter ids")
    if isinstance(sequence, str) and len(sequence) > _LONGEST:
        raise InputError(
            f"sequence is a text of {len(sequence):,} characters, and an id has at most "
            f"{_LONGEST:,}: {sequence[:40]!r}..."
        )
    if isinstance(sequence, str) and _SURROGATE.search(sequence):
        raise InputError(
            f"sequence holds half of a surrogate pair, which is not text: {sequence!a:.80}"
        )
    return sequence


def check_forecast(proba: Any, n_classes: int) -> Array:
    """Return the probabilities of one prediction, of shape (K,)."""
    return np.asarray(check_forecasts([proba], n_classes)[0])


def check_forecasts(proba: Any, n_classes: int) -> Array:
    """Return probabilities of shape (n, K), none of them 0."""
    checked = check_proba(proba, hint=_HINT)
    if checked.shape[1] != n_classes:
        raise InputError(
            f"proba has {checked.shape[1]} classes and the monitor {n_classes}: it must be one "
            "probability for each of its classes, or with two of them that of the second"
        )
    return clip_proba(checked)


def check_label(label: Any, codes: dict[Any, int]) -> int:
    """Return the code of a label."""
    if isinstance(label, np.generic):
        label = label.item()
    try:
        return codes[label]
    except (KeyError, TypeError) as error:
        raise InputError(
            f"label is {label!r:.80}, which is not among the classes {list(codes)}"
        ) from error


def check_rows(proba: Any, y: Any, sequence: Any, codes: dict[Any, int]) -> MonitorRows:
    """Return rows of predictions; a label is None or NaN while it is unknown."""
    checked = check_forecasts(proba, len(codes))
    ids = as_array(sequence, "sequence")
    require_same_length(ids, "sequence", len(checked), "the predictions")
    names = [check_id(name) for name in ids.tolist()]
    return MonitorRows(checked, names, _outcomes(y, names, codes))


def _outcomes(y: Any, names: list[SequenceId], codes: dict[Any, int]) -> dict[SequenceId, int]:
    if y is None:
        return {}
    labels = as_array(y, "y")
    require_same_length(labels, "y", len(names), "the predictions")
    found: dict[SequenceId, int] = {}
    for name, label in zip(names, labels.tolist(), strict=True):
        if label is None or label != label:  # noqa: PLR0124 - NaN is not itself
            continue
        code = check_label(label, codes)
        if found.setdefault(name, code) != code:
            raise InputError(f"y differs within the sequence {name!r}: a sequence has one label")
    return found


def check_edges(edges: Any) -> tuple[Array, TimeKind | None]:
    """Return the inner edges of time bins in seconds, and their kind of time."""
    count = as_array(edges, "edges").size
    if count == 0:
        return np.empty(0), None
    times = check_time(edges, count, name="edges")
    if (np.diff(times.values) <= 0.0).any():
        raise InputError(f"edges must increase, but it is {np.asarray(edges).tolist()}")
    return times.values, times.kinds[0]


def check_alpha(alpha: Any) -> float:
    """Return the level of the test."""
    if isinstance(alpha, bool) or not isinstance(alpha, int | float) or not 0.0 < alpha < 1.0:
        raise InputError(f"alpha must be a number between 0 and 1, but it is {alpha!r}")
    return float(alpha)


def time_bins_of(times: NDArray[np.float64], edges: Array) -> Codes:
    """Return the time bin of each time; an edge belongs to the bin that it starts."""
    return np.searchsorted(edges, times, side="right")

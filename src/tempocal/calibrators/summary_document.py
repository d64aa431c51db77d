"""The summary of a fit as plain values, and back."""

import math
from collections.abc import Mapping
from dataclasses import asdict
from types import NoneType
from typing import Any

from tempocal.calibrators.summary import BATCHES, Summary
from tempocal.errors import DamagedModelFileError

# What each fact of a summary may be.
_FACTS: dict[str, tuple[type, ...]] = {
    "calibrator": (str,),
    "n_rows": (int,),
    "total_weight": (int, float),
    "n_groups": (int, NoneType),
    "effective_number": (int, float, NoneType),
    "nll_before": (int, float),
    "nll_after": (int, float),
    "details": (dict,),
}
# The least that some of them can be, and the most that is counted.
_LEAST = {"n_rows": 1, "total_weight": 1e-300, "n_groups": 1, "effective_number": 0}
_LARGEST_COUNT = 2**63
# The numbers that JSON has no word for.
_NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def summary_to_dict(summary: Summary) -> dict[str, Any]:
    """Facts of a fit; an infinite NLL, which JSON cannot hold, is left out."""
    content = asdict(summary)
    for name in ("nll_before", "nll_after"):
        if math.isinf(content[name]):
            content[name] = None
    return {**content, "details": spell_out(content["details"])}


def summary_from_dict(content: Any) -> Summary:
    """Facts of a fit, as they were written."""
    if not isinstance(content, Mapping) or set(content) != set(_FACTS):
        raise DamagedModelFileError("the model's summary cannot be read")
    infinite = {name: math.inf for name in ("nll_before", "nll_after") if content[name] is None}
    facts = {**content, **infinite}
    for name, kinds in _FACTS.items():
        if type(facts[name]) not in kinds or not _is_within(facts[name], _LEAST.get(name)):
            raise DamagedModelFileError(f"the {name} of the model's summary cannot be read")
    details = {name: read_out(part) for name, part in facts["details"].items()}
    batches = details.get(BATCHES, 1)
    if type(batches) is not int or not _is_within(batches, 1):
        raise DamagedModelFileError(f"the batches of the model's summary are {batches!r:.80}")
    return Summary(**{**facts, "details": details})


def _is_within(fact: Any, least: float | None) -> bool:
    if not isinstance(fact, int | float):
        return True
    if isinstance(fact, int) and abs(fact) >= _LARGEST_COUNT:
        return False
    return least is None or fact >= least


def spell_out(value: Any) -> Any:
    """Write numbers that are not finite as ``{"float": "inf"}``, at any depth."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(float(value))}
    if isinstance(value, Mapping):
        return {name: spell_out(part) for name, part in value.items()}
    return [spell_out(part) for part in value] if isinstance(value, list | tuple) else value


def read_out(value: Any) -> Any:
    """Return what `spell_out` was given."""
    if isinstance(value, Mapping):
        if set(value) == {"float"} and str(value["float"]) in _NOT_FINITE:
            return _NOT_FINITE[str(value["float"])]
        return {name: read_out(part) for name, part in value.items()}
    return [read_out(part) for part in value] if isinstance(value, list) else value

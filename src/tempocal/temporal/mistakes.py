"""Hints for what was passed in the place of a calibrator, a curve or a list of candidates."""

from difflib import get_close_matches
from typing import Any, Literal

from tempocal.calibrators.base import Calibrator
from tempocal.curves.curve import Curve
from tempocal.registry import public_names

_PACKAGES = {"calibrator": "calibrators", "curve": "curves"}


def hint_for(given: Any, role: Literal["calibrator", "curve", "candidates"]) -> str:
    """Return what to pass instead, after a colon; nothing if that cannot be told."""
    if role == "candidates":
        return f": pass [{given!r}]" if isinstance(given, Calibrator) else ""
    if isinstance(given, type):
        return f": pass {given.__name__}(), with parentheses"
    if isinstance(given, Curve if role == "calibrator" else Calibrator):
        return ": the calibrator comes first, the curve second" if _is_other(given, role) else ""
    if isinstance(given, str):
        names = public_names(_PACKAGES[role])
        lowered = {name.lower(): name for name in names}
        word = given.lower().replace("_", "").replace("-", "")
        near = [name for low, name in lowered.items() if word and low.startswith(word)]
        near += [lowered[low] for low in get_close_matches(word, lowered, n=1)]
        return f": pass {near[0]}()" if near else ""
    return ""


def _is_other(given: Any, role: str) -> bool:
    return isinstance(given, Curve) == (role == "calibrator")

"""Numbers of a report as JSON inside its page."""

import json
import math
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def as_json(content: Any) -> str:
    """Return an assessment, or figures, as JSON that is safe inside a script element."""
    text = json.dumps(_plain(content), allow_nan=False, separators=(",", ":"))
    # The data must not close the element.
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plain(value: Any) -> Any:  # noqa: PLR0911 - one kind of value after another
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, np.ndarray) and value.dtype.kind in "mM":
        return [str(each) for each in value]
    if isinstance(value, np.ndarray | tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, np.datetime64 | np.timedelta64):
        return str(value)
    if isinstance(value, np.generic):
        return _plain(value.item())
    return None if isinstance(value, float) and not math.isfinite(value) else value

"""Times as a reader wants them."""

from typing import Any

import numpy as np


def time_text(value: Any) -> str:
    """Return a time in words that are as short as it allows."""
    if isinstance(value, np.datetime64):
        text = str(value.astype("M8[s]")).replace("T", " ")
        return text.removesuffix(" 00:00:00").removesuffix(":00")
    if isinstance(value, np.timedelta64):
        return _duration(float(value / np.timedelta64(1, "s")))
    return f"{float(value):.4g}" if abs(float(value)) < 1e5 else f"{float(value):,.0f}"


def _duration(seconds: float) -> str:
    for unit, length in (("d", 86_400.0), ("h", 3600.0), ("min", 60.0)):
        if abs(seconds) >= 2.0 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} s"

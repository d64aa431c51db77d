"""Numbers of a report as JSON inside its page."""

import json
import math
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from tempocal.assessment.method_scores import MethodScores
from tempocal.report.figures import Figure


def as_json(content: Any) -> str:
    """Return an assessment, or figures, as JSON that is safe inside a script element."""
    text = json.dumps(_plain(content), allow_nan=False, separators=(",", ":"))
    # The data must not close the element.
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def figures_json(figures: Iterable[Figure]) -> str:
    """Return figures as JSON; text in columns, which repeats, stands once in ``levels``."""
    return as_json(
        {
            one.name: {
                "name": one.name,
                "columns": {name: _encoded(column) for name, column in one.columns.items()},
                "settings": one.settings,
            }
            for one in figures
        }
    )


def _encoded(column: list[Any]) -> Any:
    if not any(isinstance(value, str) for value in column):
        return column
    levels = {value: k for k, value in enumerate(dict.fromkeys(column))}
    return {"levels": list(levels), "codes": [levels[value] for value in column]}


def _plain(value: Any) -> Any:  # noqa: PLR0911 - one kind of value after another
    if is_dataclass(value):
        names = [field.name for field in fields(value)]
        # Of each class the figures have the numbers.
        left_out = {"classes"} if isinstance(value, MethodScores) else set()
        return {name: _plain(getattr(value, name)) for name in names if name not in left_out}
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

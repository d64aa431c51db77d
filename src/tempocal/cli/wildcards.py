"""Columns of predictions by a pattern, such as ``p_*``, in an order that fits the classes."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tempocal.cli.options import ColumnOptions
from tempocal.cli.terminal import echo
from tempocal.errors import InputError


def expand_columns(
    options: ColumnOptions, names: list[str], classes: Sequence[Any] | None = None
) -> ColumnOptions:
    """Replace patterns among the columns of predictions by the columns that they match.

    Their order is that of the classes if what the star stands for are the classes, as given or as
    of a model; else what the star stands for is sorted, as labels are: numbers by value, or text.
    """
    role = "logits" if options.logits else "proba"
    given = getattr(options, role)
    if not any(_is_pattern(one, names) for one in given):
        return options
    listed = options.classes.split(",") if options.classes is not None else classes
    known = None if listed is None else [str(one).strip() for one in listed]
    found: list[str] = []
    for one in given:
        found += _matching(one, names, known, role) if _is_pattern(one, names) else [one]
    echo(f"--{role} {','.join(given)}: {', '.join(found)}, in this order", err=True)
    return (
        replace(options, logits=tuple(found))
        if options.logits
        else replace(options, proba=tuple(found))
    )


def _is_pattern(given: str, names: list[str]) -> bool:
    return "*" in given and given not in names


def _matching(pattern: str, names: list[str], classes: list[str] | None, role: str) -> list[str]:
    if pattern.count("*") > 1 or "," in pattern:
        raise InputError(f"--{role} {pattern}: a pattern has one star and no comma, such as 'p_*'")
    start, end = pattern.split("*")
    found = {
        name[len(start) : len(name) - len(end)]: name
        for name in names
        if len(name) >= len(start) + len(end) and name.startswith(start) and name.endswith(end)
    }
    if not found:
        shown = ", ".join(names[:20]) + ", ..." * (len(names) > 20)
        raise InputError(f"--{role} {pattern} matches no column. The columns are: {shown}")
    if classes is not None and set(classes) == set(found):
        return [found[one] for one in classes]
    are_numbers = all(re.fullmatch(r"[+-]?\d+", one) for one in found)
    return [found[one] for one in sorted(found, key=int if are_numbers else str)]

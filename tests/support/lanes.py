"""Which of many cases `make test` runs; `make test-slow` runs the others."""

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import pytest


def usually(cases: Iterable[Any], chosen: Callable[[Any], bool]) -> list[Any]:
    """Return parameters of all cases, of which those that are not chosen are slow."""
    return [
        case if chosen(case) else pytest.param(*_values(case), marks=pytest.mark.slow)
        for case in cases
    ]


def diagonal(*axes: Iterable[Any]) -> list[Any]:
    """Return parameters of all combinations, of which all but a diagonal are slow.

    On it is each value of each axis, with one value of the shortest axis for each choice from the
    others.
    """
    lists = [list(axis) for axis in axes]
    shortest = min(map(len, lists))
    numbered = product(*map(enumerate, lists))
    return [
        pytest.param(
            *(value for _, value in case),
            marks=pytest.mark.slow if sum(k for k, _ in case) % shortest else (),
        )
        for case in numbered
    ]


def _values(case: Any) -> tuple[Any, ...]:
    return case if type(case) is tuple else (case,)

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


def by_turns(*axes: Iterable[Any], every: int) -> list[Any]:
    """Return parameters of all combinations; all but each second, third and so on are slow.

    They are taken along diagonals, so that each value of each axis has its turn.
    """
    numbered = product(*map(enumerate, axes))
    return [
        pytest.param(
            *(value for _, value in case),
            marks=pytest.mark.slow if sum(k for k, _ in case) % every else (),
        )
        for case in numbered
    ]


def _values(case: Any) -> tuple[Any, ...]:
    return case if type(case) is tuple else (case,)

"""Fitted maps that change along time: they take logits and times."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tempocal.errors import InputError
from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.maps.bases import Basis, BinBasis, StepBasis
from tempocal.maps.forms import FORMS, numbers_by_name
from tempocal.maps.multiclass import FittedMap

# Numbers in the coefficients of the rows that are mapped at once.
BLOCK_NUMBERS = 2**18


class TemporalMap(Protocol):
    """What a calibrator that was fitted along time can do."""

    def __call__(self, logits: Array, time: Array) -> Array:
        """Return calibrated logits."""

    def parameters(self, time: Array) -> dict[str, Array]:
        """Return the numbers of the map at some times, by name."""


@dataclass(frozen=True)
class Curves:
    """Coefficients that are combinations of functions of time.

    Attributes
    ----------
    form : str
        Which map the coefficients make: a name in `FORMS`.
    bases : tuple of Basis
        Functions of time, for each model.
    tables : tuple of ndarray of shape (functions, coefficients)
        What they are multiplied by, for each model.
    """

    form: str
    bases: tuple[Basis, ...]
    tables: tuple[Array, ...]

    def __call__(self, logits: Array, time: Array) -> Array:
        """Calibrate logits."""
        size = max(64, BLOCK_NUMBERS // max(map(_numbers_a_row, self.bases, self.tables)))
        if len(logits) <= size:
            return self.at(time)(logits)
        blocks = [slice(start, start + size) for start in range(0, len(logits), size)]
        return np.concatenate([self.at(time[block])(logits[block]) for block in blocks])

    def at(self, time: Array) -> FittedMap:
        """Return the map of rows at some times: each of its numbers is an array, one a row."""
        return FORMS[self.form](self._numbers(time))

    @property
    def is_line(self) -> bool:
        """Whether the map only scales and shifts, where it is given one column."""
        return self.form in ("scale", "lines") and len(self.tables) == 1

    def scales_at(self, times: Array) -> Array | None:
        """Return what a logit is multiplied by at some times; None if that is not all."""
        return self._numbers(times)[0][:, 0] if self.form == "scale" else None

    def at_keys(self, times: Array) -> Callable[[Array, Codes], Array]:
        """Return the map of logits whose times are among few, and are given by their position."""
        numbers = self._numbers(times)

        def calibrate(logits: Array, keys: Codes) -> Array:
            return FORMS[self.form]([np.take(each, keys, axis=0) for each in numbers])(logits)

        return calibrate

    def parameters(self, time: Array) -> dict[str, Array]:
        """Return the numbers of the map at some times, by name."""
        return numbers_by_name(self.form, self._numbers(time))

    def _numbers(self, time: Array) -> list[Array]:
        pairs = zip(self.bases, self.tables, strict=True)
        return [basis.combine(time, table) for basis, table in pairs]


def _numbers_a_row(basis: Basis, table: Array) -> int:
    """How many numbers a row takes: steps are looked up, other functions are all worked out."""
    return table.shape[1] if isinstance(basis, StepBasis | BinBasis) else table.size


@dataclass(frozen=True)
class MapPerStep:
    """A map for each step or each stretch of time."""

    basis: StepBasis | BinBasis
    maps: tuple[FittedMap, ...]

    def __call__(self, logits: Array, time: Array) -> Array:
        """Calibrate logits."""
        codes = self.basis.codes(time)
        calibrated: Array | None = None
        for step in np.unique(codes):
            rows = codes == step
            mapped = self.maps[step](logits[rows])
            if calibrated is None:
                calibrated = np.empty((len(logits), *mapped.shape[1:]))
            calibrated[rows] = mapped
        assert calibrated is not None
        return calibrated

    def parameters(self, time: Array) -> dict[str, Array]:
        """Refuse: there are none."""
        raise InputError(
            "a calibrator that is a bare curve of the logits, such as isotonic regression, has no "
            "parameters along time"
        )

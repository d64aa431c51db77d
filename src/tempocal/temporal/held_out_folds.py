"""Which rows each fit of a cross-validation learns from, and which it is judged on.

Either groups are dealt to folds at random, and each fold is predicted by a fit to all others. Or
the later half of the groups is left out in blocks, each predicted by a fit to what came before it,
as will be the case in use.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.table_fit_data import TableFitData
from tempocal.errors import InputError
from tempocal.inputs import Codes, check_positive_int
from tempocal.links import Array

Folds = int | Literal["time"]
IN_TIME = "time"
# Blocks of the later half.
BLOCKS = 5


@dataclass(frozen=True)
class HeldOutFolds:
    """The fold of each row, -1 if it is never left out."""

    codes: Codes
    in_time: bool = False

    @property
    def count(self) -> int:
        """Number of folds."""
        return int(self.codes.max()) + 1

    def learned(self, fold: int) -> Codes:
        """Rows that the fit behind a fold learns from."""
        return np.flatnonzero(self.codes < fold if self.in_time else self.codes != fold)

    def take(self, rows: Codes) -> "HeldOutFolds":
        """Select rows."""
        return replace(self, codes=self.codes[rows])


def check_folds(folds: Any) -> Folds:
    """Return the number of folds, at least 2, or "time"."""
    if isinstance(folds, str):
        if folds == IN_TIME:
            return "time"
        raise InputError(f'folds must be a number of at least 2 or "time", but it is {folds!r}')
    count = check_positive_int(folds, "folds")
    if count < 2:
        raise InputError(f"folds must be at least 2, to leave something out, but it is {count}")
    return count


def held_out_folds(
    data: FitData, folds: Folds, seed: int, moments: Array | None = None
) -> HeldOutFolds:
    """Assign rows to folds; ``moments`` order the rows for "time", None: as they were given."""
    n_units = data.n_rows if data.groups is None else data.groups.count
    if folds != "time":
        return HeldOutFolds(data.folds(min(folds, n_units), seed))
    if isinstance(data, TableFitData):
        raise InputError(
            'folds="time" needs the order of the rows, which a table has not: say a number of folds'
        )
    codes = np.arange(data.n_rows) if data.groups is None else data.groups.codes
    when = np.arange(data.n_rows, dtype=np.float64) if moments is None else moments
    first = np.full(n_units, np.inf)
    np.minimum.at(first, codes, when)
    block_of_unit = np.empty(n_units, dtype=np.intp)
    block_of_unit[np.argsort(first, kind="stable")] = _blocks(n_units)
    return HeldOutFolds(block_of_unit[codes], in_time=True)


def _blocks(n_units: int) -> Codes:
    """Block of each unit in time: -1 in the first half, then equal ones. A single unit is 0."""
    n_first = n_units // 2
    rest = n_units - n_first
    later = np.arange(rest) * min(BLOCKS, rest) // rest
    return np.concatenate([np.full(n_first, -1, dtype=np.intp), later])

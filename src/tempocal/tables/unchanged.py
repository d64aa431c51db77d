"""A table must give the same rows at every pass, or sums of one pass do not go with another's.

One that draws random numbers or a sample, or that somebody writes to meanwhile, does not.
"""

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tempocal.errors import TableError
from tempocal.tables.open_table import Frame
from tempocal.tables.passes import Passes
from tempocal.tables.transfer import Columns

# Engines add up in any order.
ROUNDING = 1e-9
_HINT = (
    "a table that draws random numbers or a sample, or that is written to meanwhile, must be "
    "stored first, as with CREATE TABLE ... AS"
)


def require_same_rows(frame: Frame, found: Columns, passes: Passes) -> None:
    """Add up a table once more, and refuse it if the sums are not those that were found.

    Tables in memory need no such look.
    """
    if not isinstance(frame, nw.LazyFrame):
        return
    names = [name for name in ("one", "size", "ids", "weight") if name in found]
    sums = [nw.col(name).sum() for name in names]
    if "first" in found:
        sums += [nw.col("time").min().alias("first"), nw.col("time").max().alias("last")]
    again = passes.collect(frame.select(*sums), "looking a second time")
    for name in names:
        require_same(found[name].sum(), again[name][0])
    if "first" in found:
        require_same(found["first"].min(), again["first"][0])
        require_same(found["last"].max(), again["last"][0])


def require_same(before: float | NDArray[Any], now: float | NDArray[Any]) -> None:
    """Refuse sums of two passes that differ by more than rounding."""
    then, later = np.asarray(before, dtype=np.float64), np.asarray(now, dtype=np.float64)
    if not np.allclose(later, then, rtol=ROUNDING, atol=ROUNDING * float(np.abs(then).max())):
        raise TableError(f"the table has other rows at each pass over it: {_HINT}")

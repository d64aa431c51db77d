"""Check that a table has the same rows at every pass.

Otherwise the sums of different passes do not match. A query that draws random numbers or a sample
has other rows each time, and so has a table that is written to meanwhile.
"""

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tempocal.errors import TableError
from tempocal.tables.open_table import Frame
from tempocal.tables.passes import Passes
from tempocal.tables.transfer import Columns

# Relative: engines add in any order.
TOLERANCE = 1e-9
_HINT = (
    "a table that draws random numbers or a sample, or that is written to meanwhile, must be "
    "stored first, as with CREATE TABLE ... AS"
)


def require_same_rows(frame: Frame, found: Columns, passes: Passes) -> None:
    """Repeat the sums of the first pass, and refuse a table whose sums have changed.

    Tables in memory need no such pass.
    """
    if not isinstance(frame, nw.LazyFrame):
        return
    names = [name for name in ("n_rows", "abs_log_odds", "abs_ids", "weight") if name in found]
    sums = [nw.col(name).sum() for name in names]
    if "min_time" in found:
        sums += [nw.col("time").min().alias("min_time"), nw.col("time").max().alias("max_time")]
    again = passes.collect(frame.select(*sums), "looking a second time")
    for name in names:
        require_same(found[name].sum(), again[name][0])
    if "min_time" in found:
        require_same(found["min_time"].min(), again["min_time"][0])
        require_same(found["max_time"].max(), again["max_time"][0])


def require_same(before: float | NDArray[Any], now: float | NDArray[Any]) -> None:
    """Refuse sums of two passes that differ by more than rounding errors."""
    first, second = np.asarray(before, dtype=np.float64), np.asarray(now, dtype=np.float64)
    if not np.allclose(second, first, rtol=TOLERANCE, atol=TOLERANCE * float(np.abs(first).max())):
        raise TableError(f"the table has other rows at each pass over it: {_HINT}")

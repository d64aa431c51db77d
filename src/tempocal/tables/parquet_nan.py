"""NaN in Parquet files, which DuckDB may overlook.

A Parquet file stores the minimum and maximum of each column, without NaN. DuckDB takes them as
bounds of every row and replaces a comparison that they decide, ``z <= 2**53`` or even ``isnan(z)``,
by a constant before it reads a row. The result of a CASE has no known bounds.
"""

import sys

import narwhals as nw

from tempocal.tables.open_table import Frame

# Not a valid value of any column: beyond the limits of logits, times, weights and ids.
LARGEST_DOUBLE = sys.float_info.max


def trusts_bounds(frame: Frame) -> bool:
    """Whether the engine may decide comparisons by the bounds stored in a file."""
    return frame.implementation.is_duckdb() or frame.implementation.is_ibis()


def without_bounds(number: nw.Expr) -> nw.Expr:
    """Return the same numbers without known bounds; the largest double becomes NULL."""
    return nw.when(number != LARGEST_DOUBLE).then(number)

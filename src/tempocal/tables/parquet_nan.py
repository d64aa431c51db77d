"""NaN in Parquet files, which DuckDB does not see by itself.

A Parquet file keeps the least and the greatest number of a column, and leaves NaN out of both.
DuckDB takes these as bounds of every row: a comparison that the bounds decide, ``z <= 2**53`` or
even ``isnan(z)``, becomes a constant before a row is read. The result of a CASE has no bounds.
"""

import sys

import narwhals as nw

from tempocal.tables.open_table import Frame

# No column may hold it: it is beyond the bounds of logits, probabilities, times, weights and ids.
LARGEST_DOUBLE = sys.float_info.max


def trusts_bounds(frame: Frame) -> bool:
    """Tell whether the engine of a table may decide comparisons by the bounds of a file."""
    return frame.implementation.is_duckdb() or frame.implementation.is_ibis()


def without_bounds(number: nw.Expr) -> nw.Expr:
    """Return the same numbers, of which the engine knows no bounds; the largest double is NULL."""
    return nw.when(number != LARGEST_DOUBLE).then(number)

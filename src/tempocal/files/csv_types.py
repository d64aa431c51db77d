"""Types for columns of text, such that every row has it: for formats that know types.

One pass with a block in memory at a time. Arrow's own reader in blocks takes the types of the first
block, and fails where a later one has a fraction among whole numbers.
"""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

# From the narrowest; text is what is left.
_TYPES = (
    pa.int64(),
    pa.float64(),
    pa.bool_(),
    pa.date32(),
    pa.timestamp("us"),
    pa.timestamp("ns"),
    pa.timestamp("us", "UTC"),
    pa.timestamp("ns", "UTC"),
)


def types_of(blocks: Iterable[Any]) -> dict[str, Any]:
    """Return the narrowest type of each column that can be read in all blocks."""
    possible: dict[str, list[Any]] = {}
    seen: set[str] = set()
    for block in blocks:
        for name, column in zip(block.schema.names, block.columns, strict=True):
            left = possible.get(name, list(_TYPES))
            possible[name] = [kind for kind in left if can_cast(column, kind)]
            if column.null_count < len(column):
                seen.add(name)
    return {
        name: kinds[0] if kinds and name in seen else pa.string()
        for name, kinds in possible.items()
    }


def can_cast(column: Any, kind: Any) -> bool:
    """Tell whether all of a column can be read as a type."""
    try:
        column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False
    return True

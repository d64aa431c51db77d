"""Types for columns of text, such that every row has it and no two spellings become one value.

What looks like a number may be a name: 01 is not 1, and of twenty digits a double keeps sixteen.
"""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tempocal.inputs.spelling import LOST_DIGITS, TRUTH, WHOLE_WITH_POINT

# From the narrowest; text is what is left. Arrow reads dates as ISO 8601 has them, and no others.
_TYPES = (
    pa.int64(),
    pa.float64(),
    pa.date32(),
    pa.timestamp("us"),
    pa.timestamp("ns"),
    pa.timestamp("us", "UTC"),
    pa.timestamp("ns", "UTC"),
)
# Values that are not whole numbers, but have one spelling each.
_SPELLINGS = ((WHOLE_WITH_POINT, pa.float64()), *((words, pa.bool_()) for words in TRUTH))


def types_of(blocks: Iterable[Any]) -> dict[str, Any]:
    """Return the narrowest type of each column that can be read in all blocks.

    One pass with a block in memory at a time. Arrow's own reader in blocks takes the types of the
    first block, and fails where a later one has a fraction among whole numbers.
    """
    possible: dict[str, list[Any]] = {}
    seen: set[str] = set()
    for block in blocks:
        for name, column in zip(block.schema.names, block.columns, strict=True):
            left = possible.get(name, list(_TYPES))
            possible[name] = [kind for kind in left if _fits(column, kind)]
            if column.null_count < len(column):
                seen.add(name)
    return {
        name: kinds[0] if kinds and name in seen else pa.string()
        for name, kinds in possible.items()
    }


def exact(column: Any) -> Any:
    """Return text as what it spells where every value has one spelling, else as it is.

    Columns of ids and labels need that: 1 and 01 are two of them, so are 1000 and 1e3, true and
    True.
    """
    if _fits(column, pa.int64()):
        return column.cast(pa.int64())
    kind = next((kind for spelling, kind in _SPELLINGS if _all_match(column, spelling)), None)
    return column if kind is None else column.cast(kind)


def can_cast(column: Any, kind: Any) -> bool:
    """Tell whether all of a column can be read as a type."""
    try:
        column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False
    return True


def _fits(column: Any, kind: Any) -> bool:
    """Tell whether all of a column of text can be read as a type, and no digit is lost."""
    if not can_cast(column, kind):
        return False
    if pa.types.is_integer(kind):
        return bool(column.cast(kind).cast(pa.string()).equals(column))
    if pa.types.is_floating(kind):
        return not pc.any(pc.match_substring_regex(column, f"^({LOST_DIGITS})$")).as_py()
    return True


def _all_match(column: Any, spelling: str) -> bool:
    """Tell whether all values have a spelling; most columns end it with the first chunk."""
    matches = (
        pc.all(pc.match_substring_regex(chunk, f"^({spelling})$")).as_py()
        for chunk in column.chunks
    )
    return all(found is not False for found in matches)

"""Type inference for columns of text that never maps two different texts to one value.

What looks like a number may be an id: 01 is not 1, and a double keeps sixteen digits of twenty.
"""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tempocal.inputs.text_patterns import INTEGER_WITH_POINT, LOST_DIGITS, TRUTH

# From the narrowest; the fallback is text. Arrow parses only ISO 8601 dates.
_TYPES = (
    pa.int64(),
    pa.float64(),
    pa.date32(),
    pa.timestamp("us"),
    pa.timestamp("ns"),
    pa.timestamp("us", "UTC"),
    pa.timestamp("ns", "UTC"),
)
# Types other than integers for which each value has one spelling.
_SPELLINGS = ((INTEGER_WITH_POINT, pa.float64()), *((words, pa.bool_()) for words in TRUTH))


def narrowest_types(blocks: Iterable[Any]) -> dict[str, Any]:
    """Return the narrowest type of each column that fits all blocks.

    One pass with a block in memory at a time. Arrow's own block reader infers types from the first
    block, and fails where a later one has a fraction among integers.
    """
    possible: dict[str, list[Any]] = {}
    seen: set[str] = set()
    for block in blocks:
        for name, column in zip(block.schema.names, block.columns, strict=True):
            remaining = possible.get(name, list(_TYPES))
            possible[name] = [kind for kind in remaining if _is_lossless(column, kind)]
            if column.null_count < len(column):
                seen.add(name)
    return {
        name: kinds[0] if kinds and name in seen else pa.string()
        for name, kinds in possible.items()
    }


def with_exact_type(column: Any) -> Any:
    """Return text as integers, floats or booleans if each value has one spelling, else as text.

    Columns of ids and labels need that: 1 and 01 are two ids, and so are 1000 and 1e3, true and
    True.
    """
    if _is_lossless(column, pa.int64()):
        return column.cast(pa.int64())
    kind = next((kind for spelling, kind in _SPELLINGS if _all_match(column, spelling)), None)
    return column if kind is None else column.cast(kind)


def can_cast(column: Any, kind: Any) -> bool:
    """Return whether all values of a column can be cast to a type."""
    try:
        column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False
    return True


def _is_lossless(column: Any, kind: Any) -> bool:
    """Return whether a column of text can be parsed as a type without losing digits."""
    if not can_cast(column, kind):
        return False
    if pa.types.is_integer(kind):
        return bool(column.cast(kind).cast(pa.string()).equals(column))
    if pa.types.is_floating(kind):
        return not pc.any(pc.match_substring_regex(column, f"^({LOST_DIGITS})$")).as_py()
    return True


def _all_match(column: Any, spelling: str) -> bool:
    # A generator: most columns are decided by their first chunk.
    matches = (
        pc.all(pc.match_substring_regex(chunk, f"^({spelling})$")).as_py()
        for chunk in column.chunks
    )
    return all(found is not False for found in matches)

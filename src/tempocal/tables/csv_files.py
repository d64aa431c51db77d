"""CSV files as a relation of DuckDB, with types that every row has and that lose nothing.

DuckDB guesses types from the first rows: where these hold whole numbers, it rounds the fractions
of later ones. Of ids it makes one number of 1000 and 1e3, of 7 and 007. So the types are found in
a pass over the rows as text.
"""

from collections.abc import Iterable
from typing import Any

from tempocal.errors import InputError
from tempocal.inputs.spelling import LOST_DIGITS, TRUTH, WHOLE_WITH_POINT

_ZONED = r"[0-9]:[0-9]{2}.*(Z|z|[+-][0-9]{2}(:?[0-9]{2})?)\s*$"
# Whole numbers from here on are no longer told apart by double.
_LARGEST = 2**53

# What is asked of the text of a column, which is @ here.
_FACTS = {
    "n": "count(@)",
    "whole": "bool_and(TRY_CAST(@ AS BIGINT)::VARCHAR = @)",
    "number": "bool_and(TRY_CAST(@ AS DOUBLE) IS NOT NULL)",
    "nan": "bool_or(isnan(TRY_CAST(@ AS DOUBLE)))",
    "no_number": "min(@) FILTER (TRY_CAST(@ AS DOUBLE) IS NULL)",
    "lost": f"bool_or(regexp_full_match(@, '{LOST_DIGITS}'))",
    "large": "max(@) FILTER (regexp_full_match(trim(@), '[+-]?[0-9]{16,}') "
    f"AND abs(TRY_CAST(@ AS DOUBLE)) >= {_LARGEST})",
    "point": f"bool_and(regexp_full_match(@, '{WHOLE_WITH_POINT}'))",
    "truth": " OR ".join(f"bool_and(regexp_full_match(@, '{one}'))" for one in TRUTH),
    "date": "bool_and(TRY_CAST(@ AS DATE) IS NOT NULL AND length(trim(@)) = 10)",
    "moment": "bool_and(TRY_CAST(@ AS TIMESTAMP) IS NOT NULL)",
    "zoned": f"bool_and(regexp_matches(@, '{_ZONED}'))",
    "some_zoned": f"bool_or(regexp_matches(@, '{_ZONED}'))",
}


def open_csv(
    connection: Any,
    pattern: str,
    numbers: tuple[str, ...],
    times: tuple[str, ...],
    only: Iterable[str] | None,
) -> Any:
    """Return a relation of the files that a pattern names.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Where to open them.
    pattern : str
        A file or a pattern of files.
    numbers, times : tuple of str
        Columns that must hold numbers, and times.
    only : iterable of str, optional
        The columns that will be used, of which all others are labels or ids; None means all
        columns, of which the others are passed on.
    """
    text = connection.read_csv(pattern, header=True, all_varchar=True)
    wanted = list(text.columns) if only is None else list(dict.fromkeys(only))
    there = [name for name in wanted if name in text.columns]
    facts = _facts(text, there)
    types = dict.fromkeys(text.columns, "VARCHAR")
    for name in there:
        if name in numbers:
            types[name] = _number_type(name, facts[name])
        elif name in times:
            types[name] = _time_type(name, facts[name])
        else:
            types[name] = (_name_type if only is not None else _any_type)(name, facts[name])
    casts = [f"CAST({_quoted(name)} AS {kind}) AS {_quoted(name)}" for name, kind in types.items()]
    return text.project(", ".join(casts))


def _facts(text: Any, names: list[str]) -> dict[str, dict[str, Any]]:
    """Return what holds for all values of each column, from one pass."""
    asked = [fact.replace("@", _quoted(name)) for name in names for fact in _FACTS.values()]
    if not asked:
        return {}
    found = iter(text.aggregate(", ".join(asked)).fetchall()[0])
    return {name: dict(zip(_FACTS, found, strict=False)) for name in names}


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _number_type(name: str, facts: dict[str, Any]) -> str:
    if facts["n"] and not facts["number"]:
        raise InputError(
            f"column {name!r} must hold numbers, but it has {facts['no_number']!r:.60}"
        )
    return "DOUBLE"


def _time_type(name: str, facts: dict[str, Any]) -> str:
    if facts["n"] == 0 or facts["number"]:
        if facts["large"]:
            raise InputError(
                f"time in {name!r} has {facts['large']}, but whole numbers beyond 2**53 lose "
                "digits: subtract the first one"
            )
        return "DOUBLE"
    if facts["some_zoned"] and not facts["zoned"]:
        raise InputError(f"time in {name!r} has dates with a time zone and dates without one")
    if facts["zoned"]:
        return "TIMESTAMPTZ"
    if facts["moment"]:
        return "DATE" if facts["date"] else "TIMESTAMP"
    raise InputError(
        f"time in {name!r} must be numbers, or dates such as 2026-05-01 or 2026-05-01T12:30:00, "
        f"but it has {facts['no_number']!r:.60}"
    )


def _name_type(name: str, facts: dict[str, Any]) -> str:
    """Return the type of labels or ids, of which no two spellings may become one."""
    if facts["number"] and facts["nan"]:
        raise InputError(f"column {name!r} holds NaN among its numbers: no id may be missing")
    if facts["whole"]:
        return "BIGINT"
    return "DOUBLE" if facts["point"] else "BOOLEAN" if facts["truth"] else "VARCHAR"


def _any_type(name: str, facts: dict[str, Any]) -> str:
    """Return the type of a column that is passed on as it is."""
    if facts["number"] and not facts["whole"] and not facts["lost"]:
        return "DOUBLE"
    if facts["moment"] and not facts["some_zoned"]:
        return "DATE" if facts["date"] else "TIMESTAMP"
    return "VARCHAR" if facts["number"] and facts["nan"] else _name_type(name, facts)

"""CSV files as a DuckDB relation, with types that hold for every row and lose nothing.

DuckDB infers types from the first rows: if these hold integers, it rounds fractions in later rows.
It parses the ids 1000 and 1e3, or 7 and 007, as the same number, and it matches the columns of
several files by position. Here columns are matched by name, and types are inferred in a pass over
all rows read as text.
"""

from collections.abc import Callable, Iterable
from glob import escape
from re import fullmatch
from typing import Any

from tempocal.errors import InputError
from tempocal.inputs.text_files import COMMA_HINT, DECIMAL_COMMA
from tempocal.inputs.text_patterns import INTEGER_WITH_POINT, SIGNED_INTEGER, TRUTH
from tempocal.tables.column_names import FileColumns, quoted
from tempocal.tables.text_of_files import require_even_lines, require_text

TypeOf = Callable[[str, dict[str, Any]], str]

_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_DATETIME = _DATE + r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?)?"
_ZONE = r"\s*(Z|z|[+-][0-9]{2}(:?[0-9]{2})?)"
# From here on a double does not represent every integer.
_LARGEST = 2**53
# Columns per query: planning time grows faster than linearly in their number.
_COLUMNS_PER_QUERY = 25


def _all(condition: str) -> str:
    return f"bool_and({condition}) FILTER (@ IS NOT NULL)"


# DuckDB also parses 1_000 as a number; other readers take it as text.
_IS_NUMBER = "(TRY_CAST(@ AS DOUBLE) IS NOT NULL AND NOT contains(@, '_'))"
# Aggregates over the text of a column; @ stands for the column.
_COUNT = {"n": "count(@)"}
_NUMBER = {
    "number": _all(_IS_NUMBER),
    "not_number": f"min(@) FILTER (NOT {_IS_NUMBER})",
}
_TIME = {
    **_NUMBER,
    "large": "max(@) FILTER (regexp_full_match(trim(@), '[+-]?[0-9]{16,}') "
    f"AND abs(TRY_CAST(@ AS DOUBLE)) >= {_LARGEST})",
    "date": _all(f"TRY_CAST(@ AS DATE) IS NOT NULL AND regexp_full_match(trim(@), '{_DATE}')"),
    "datetime": _all(
        "TRY_CAST(@ AS TIMESTAMP) IS NOT NULL "
        f"AND regexp_full_match(trim(@), '{_DATETIME}({_ZONE})?')"
    ),
    "zoned": _all(f"regexp_full_match(trim(@), '{_DATETIME}{_ZONE}')"),
    "some_zoned": f"bool_or(regexp_full_match(trim(@), '{_DATETIME}{_ZONE}'))",
}
_SPELLING = {
    "integer": _all("coalesce(TRY_CAST(@ AS BIGINT)::VARCHAR = @, false)"),
    "boolean": " OR ".join(_all(f"regexp_full_match(@, '{one}')") for one in TRUTH),
}
_ID = {
    **_SPELLING,
    "number": _NUMBER["number"],
    "nan": "bool_or(isnan(TRY_CAST(@ AS DOUBLE)))",
    "decimal_point": _all(f"regexp_full_match(@, '{INTEGER_WITH_POINT}')"),
}
_LABEL = {
    **_ID,
    "signed": _all(f"regexp_full_match(trim(@), '{SIGNED_INTEGER}')")
    + " AND count(DISTINCT @) = count(DISTINCT TRY_CAST(trim(@) AS BIGINT))",
}
# Columns without a role get a type only if casting to it and back gives the same text.
_OTHER = {
    **_SPELLING,
    **{
        kind: _all(f"coalesce(TRY_CAST(@ AS {kind})::VARCHAR = @, false)")
        for kind in ("DOUBLE", "DATE", "TIMESTAMP")
    },
}
# Only the separator is inferred.
_READ_AS_TEXT = {"all_varchar": True, "quotechar": '"', "comment": "", "skiprows": 0}


def open_csv(connection: Any, pattern: str, columns: FileColumns) -> Any:
    """Return a relation over the files that match a pattern.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Connection to open them in.
    pattern : str
        A file or a pattern of files.
    columns : FileColumns
        Roles of the columns.
    """
    require_text(connection, pattern)
    text = connection.read_csv(pattern, header=True, union_by_name=True, **_READ_AS_TEXT)
    wanted = text.columns if columns.only is None else columns.only
    _check_headers(connection, pattern, columns.only or (*columns.numbers, *columns.times))
    inference = {name: _type_inference(name, columns) for name in wanted if name in text.columns}
    facts = _evaluate(text, {name: aggregates for name, (_, aggregates) in inference.items()})
    types = dict.fromkeys(text.columns, "VARCHAR")
    types |= {name: type_of(name, facts[name]) for name, (type_of, _) in inference.items()}
    return text.project(", ".join(_cast(name, kind, columns) for name, kind in types.items()))


def _type_inference(name: str, columns: FileColumns) -> tuple[TypeOf, dict[str, str]]:
    """Return the function that infers the type of a column, and the aggregates it needs."""
    if name in columns.numbers:
        return _number_type, _NUMBER
    if name in columns.times:
        return _time_type, _TIME
    if columns.only is None:
        return _other_type, _OTHER
    return (_label_type, _LABEL) if name == columns.label else (_id_type, _ID)


def _cast(name: str, kind: str, columns: FileColumns) -> str:
    is_signed = name == columns.label and kind == "BIGINT"
    value = f"trim({quoted(name)})" if is_signed else quoted(name)
    return f"CAST({value} AS {kind}) AS {quoted(name)}"


def _check_headers(connection: Any, pattern: str, wanted: Iterable[str]) -> None:
    """Refuse duplicate column names in a file, and files that lack a column of the table."""
    files = [row[0] for row in connection.execute("SELECT file FROM glob(?)", [pattern]).fetchall()]
    for file in files:
        names = _header(connection, file)
        # DuckDB ignores case and surrounding blanks in column names.
        plain = [name.strip().lower() for name in names]
        duplicate = next((k for k, name in enumerate(plain) if plain.index(name) < k), None)
        if duplicate is not None:
            other = names[plain.index(plain[duplicate])]
            raise InputError(
                f"{file} has several columns {other!r} and {names[duplicate]!r}: rename all but one"
                if other != names[duplicate]
                else f"{file} has several columns {other!r}: rename all but one"
            )
        missing = next((one for one in wanted if one.strip().lower() not in plain), None)
        if missing is not None:
            require_even_lines(file)
        if missing is not None and len(files) > 1:
            raise InputError(f"{file} has no column {missing!r}, but the table must: {names}")


def _header(connection: Any, file: str) -> list[str]:
    rows = connection.read_csv(escape(file), header=False, **_READ_AS_TEXT).limit(1).fetchall()
    return [name for name in rows[0] if name is not None] if rows else []


def _evaluate(text: Any, aggregates: dict[str, dict[str, str]]) -> dict[str, dict[str, Any]]:
    """Evaluate the aggregates of each column, some columns per pass."""
    names = list(aggregates)
    found: dict[str, dict[str, Any]] = {}
    for start in range(0, len(names), _COLUMNS_PER_QUERY):
        part = names[start : start + _COLUMNS_PER_QUERY]
        inference = {name: {**_COUNT, **aggregates[name]} for name in part}
        terms = [
            one.replace("@", quoted(name)) for name in part for one in inference[name].values()
        ]
        values = iter(text.aggregate(", ".join(terms)).fetchall()[0])
        found |= {name: {fact: next(values) for fact in inference[name]} for name in part}
    return found


def _number_type(name: str, facts: dict[str, Any]) -> str:
    if facts["n"] and not facts["number"]:
        hint = COMMA_HINT if fullmatch(DECIMAL_COMMA, facts["not_number"]) else ""
        raise InputError(
            f"column {name!r} must hold numbers, but it has {facts['not_number']!r:.60}{hint}"
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
    if not facts["datetime"]:
        raise InputError(
            f"time in {name!r} must be numbers, or dates such as 2026-05-01 or "
            f"2026-05-01T12:30:00, but it has values such as {facts['not_number']!r:.60}"
        )
    if facts["some_zoned"] and not facts["zoned"]:
        raise InputError(f"time in {name!r} has dates with a time zone and dates without one")
    if facts["zoned"]:
        return "TIMESTAMPTZ"
    return "DATE" if facts["date"] else "TIMESTAMP"


def _label_type(name: str, facts: dict[str, Any]) -> str:
    """Return the type of labels; +1 and -1 are numbers and sort as numbers."""
    return "BIGINT" if facts["signed"] else _id_type(name, facts)


def _id_type(name: str, facts: dict[str, Any]) -> str:
    """Return the type of ids; two different spellings must stay different ids."""
    if facts["number"] and facts["nan"]:
        raise InputError(f"column {name!r} holds NaN among its numbers: no id may be missing")
    if facts["n"] and facts["integer"]:
        return "BIGINT"
    return "DOUBLE" if facts["decimal_point"] else "BOOLEAN" if facts["boolean"] else "VARCHAR"


def _other_type(name: str, facts: dict[str, Any]) -> str:
    """Return the type of a column that is passed on unchanged."""
    if facts["n"] and facts["integer"]:
        return "BIGINT"
    kinds = [kind for kind in ("DOUBLE", "DATE", "TIMESTAMP") if facts[kind]]
    return kinds[0] if kinds else "BOOLEAN" if facts["boolean"] else "VARCHAR"

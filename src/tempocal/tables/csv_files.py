"""CSV files as a relation of DuckDB, with types that every row has and that lose nothing.

DuckDB guesses types from the first rows: where these hold whole numbers, it rounds the fractions
of later ones. Of ids it makes one number of 1000 and 1e3, of 7 and 007; files of one pattern it
puts together by the position of their columns. So columns are found by name, and types in a pass
over the rows as text.
"""

from collections.abc import Callable, Iterable
from glob import escape
from typing import Any

from tempocal.errors import InputError
from tempocal.inputs.text_patterns import INTEGER_WITH_POINT, SIGNED_INTEGER, TRUTH
from tempocal.tables.column_names import FileColumns, quoted

TypeOf = Callable[[str, dict[str, Any]], str]

_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_MOMENT = _DATE + r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?)?"
_ZONE = r"\s*(Z|z|[+-][0-9]{2}(:?[0-9]{2})?)"
# Whole numbers from here on are no longer told apart by double.
_LARGEST = 2**53
# Columns whose facts are asked for at once: the time to plan a query grows faster than they do.
_AT_ONCE = 25


def _all(condition: str) -> str:
    return f"bool_and({condition}) FILTER (@ IS NOT NULL)"


# Numbers with underscores in them are words to everybody else.
_IS_NUMBER = "(TRY_CAST(@ AS DOUBLE) IS NOT NULL AND NOT contains(@, '_'))"
# What is asked of the text of a column, which is @ here.
_COUNT = {"n": "count(@)"}
_NUMBER = {
    "number": _all(_IS_NUMBER),
    "no_number": f"min(@) FILTER (NOT {_IS_NUMBER})",
}
_TIME = {
    **_NUMBER,
    "large": "max(@) FILTER (regexp_full_match(trim(@), '[+-]?[0-9]{16,}') "
    f"AND abs(TRY_CAST(@ AS DOUBLE)) >= {_LARGEST})",
    "date": _all(f"TRY_CAST(@ AS DATE) IS NOT NULL AND regexp_full_match(trim(@), '{_DATE}')"),
    "moment": _all(
        "TRY_CAST(@ AS TIMESTAMP) IS NOT NULL "
        f"AND regexp_full_match(trim(@), '{_MOMENT}({_ZONE})?')"
    ),
    "zoned": _all(f"regexp_full_match(trim(@), '{_MOMENT}{_ZONE}')"),
    "some_zoned": f"bool_or(regexp_full_match(trim(@), '{_MOMENT}{_ZONE}'))",
}
_SPELLING = {
    "whole": _all("coalesce(TRY_CAST(@ AS BIGINT)::VARCHAR = @, false)"),
    "truth": " OR ".join(_all(f"regexp_full_match(@, '{one}')") for one in TRUTH),
}
_NAME = {
    **_SPELLING,
    "number": _NUMBER["number"],
    "nan": "bool_or(isnan(TRY_CAST(@ AS DOUBLE)))",
    "point": _all(f"regexp_full_match(@, '{INTEGER_WITH_POINT}')"),
}
_LABEL = {
    **_NAME,
    "signed": _all(f"regexp_full_match(trim(@), '{SIGNED_INTEGER}')")
    + " AND count(DISTINCT @) = count(DISTINCT TRY_CAST(trim(@) AS BIGINT))",
}
# Columns that nobody named are typed only if they would be written as they stand.
_OTHER = {
    **_SPELLING,
    **{
        kind: _all(f"coalesce(TRY_CAST(@ AS {kind})::VARCHAR = @, false)")
        for kind in ("DOUBLE", "DATE", "TIMESTAMP")
    },
}
# Nothing is guessed but what stands between the fields.
_AS_IT_STANDS = {"all_varchar": True, "quotechar": '"', "comment": "", "skiprows": 0}


def open_csv(connection: Any, pattern: str, columns: FileColumns) -> Any:
    """Return a relation of the files that a pattern names.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Where to open them.
    pattern : str
        A file or a pattern of files.
    columns : FileColumns
        What the columns are for.
    """
    text = connection.read_csv(pattern, header=True, union_by_name=True, **_AS_IT_STANDS)
    wanted = text.columns if columns.only is None else columns.only
    _check_headers(connection, pattern, columns.only or (*columns.numbers, *columns.times))
    asked = {name: _asked(name, columns) for name in wanted if name in text.columns}
    facts = _facts(text, {name: questions for name, (_, questions) in asked.items()})
    types = dict.fromkeys(text.columns, "VARCHAR")
    types |= {name: type_of(name, facts[name]) for name, (type_of, _) in asked.items()}
    return text.project(", ".join(_cast(name, kind, columns) for name, kind in types.items()))


def _asked(name: str, columns: FileColumns) -> tuple[TypeOf, dict[str, str]]:
    """Return what decides on the type of a column, and the facts that it needs."""
    if name in columns.numbers:
        return _number_type, _NUMBER
    if name in columns.times:
        return _time_type, _TIME
    if columns.only is None:
        return _other_type, _OTHER
    return (_label_type, _LABEL) if name == columns.label else (_name_type, _NAME)


def _cast(name: str, kind: str, columns: FileColumns) -> str:
    is_signed = name == columns.label and kind == "BIGINT"
    value = f"trim({quoted(name)})" if is_signed else quoted(name)
    return f"CAST({value} AS {kind}) AS {quoted(name)}"


def _check_headers(connection: Any, pattern: str, wanted: Iterable[str]) -> None:
    """Refuse names that a file has twice, and files of a pattern of which one lacks a column."""
    files = [row[0] for row in connection.execute("SELECT file FROM glob(?)", [pattern]).fetchall()]
    for file in files:
        names = _header(connection, file)
        # DuckDB tells names apart neither by case nor by blanks around them.
        plain = [name.strip().lower() for name in names]
        twice = next((k for k, name in enumerate(plain) if plain.index(name) < k), None)
        if twice is not None:
            other = names[plain.index(plain[twice])]
            raise InputError(
                f"{file} has several columns {other!r} and {names[twice]!r}: rename all but one"
                if other != names[twice]
                else f"{file} has several columns {other!r}: rename all but one"
            )
        lacking = next((one for one in wanted if one.strip().lower() not in plain), None)
        if lacking is not None and len(files) > 1:
            raise InputError(f"{file} has no column {lacking!r}, but the table must: {names}")


def _header(connection: Any, file: str) -> list[str]:
    rows = connection.read_csv(escape(file), header=False, **_AS_IT_STANDS).limit(1).fetchall()
    return [name for name in rows[0] if name is not None] if rows else []


def _facts(text: Any, questions: dict[str, dict[str, str]]) -> dict[str, dict[str, Any]]:
    """Return what holds for all values of each column, from a pass over some of them at a time."""
    names = list(questions)
    found: dict[str, dict[str, Any]] = {}
    for start in range(0, len(names), _AT_ONCE):
        some = names[start : start + _AT_ONCE]
        asked = {name: {**_COUNT, **questions[name]} for name in some}
        terms = [one.replace("@", quoted(name)) for name in some for one in asked[name].values()]
        answers = iter(text.aggregate(", ".join(terms)).fetchall()[0])
        found |= {name: {fact: next(answers) for fact in asked[name]} for name in some}
    return found


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
    if not facts["moment"]:
        raise InputError(
            f"time in {name!r} must be numbers, or dates such as 2026-05-01 or "
            f"2026-05-01T12:30:00, but it has values such as {facts['no_number']!r:.60}"
        )
    if facts["some_zoned"] and not facts["zoned"]:
        raise InputError(f"time in {name!r} has dates with a time zone and dates without one")
    if facts["zoned"]:
        return "TIMESTAMPTZ"
    return "DATE" if facts["date"] else "TIMESTAMP"


def _label_type(name: str, facts: dict[str, Any]) -> str:
    """Return the type of labels; +1 and -1 are numbers, in the order of numbers."""
    return "BIGINT" if facts["signed"] else _name_type(name, facts)


def _name_type(name: str, facts: dict[str, Any]) -> str:
    """Return the type of ids, of which no two spellings may become one."""
    if facts["number"] and facts["nan"]:
        raise InputError(f"column {name!r} holds NaN among its numbers: no id may be missing")
    if facts["n"] and facts["whole"]:
        return "BIGINT"
    return "DOUBLE" if facts["point"] else "BOOLEAN" if facts["truth"] else "VARCHAR"


def _other_type(name: str, facts: dict[str, Any]) -> str:
    """Return the type of a column that is passed on as it stands."""
    if facts["n"] and facts["whole"]:
        return "BIGINT"
    kinds = [kind for kind in ("DOUBLE", "DATE", "TIMESTAMP") if facts[kind]]
    return kinds[0] if kinds else "BOOLEAN" if facts["truth"] else "VARCHAR"

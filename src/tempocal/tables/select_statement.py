"""SELECT statements of formulas; checks of dialects and identifiers."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tempocal.errors import InputError
from tempocal.formula import Expression, in_stages, interpret, written_size
from tempocal.formula.nodes import Column, Node, children

try:
    import sqlglot
    from sqlglot import exp
    from sqlglot.dialects.dialect import NormalizationStrategy
except ImportError as error:
    raise ImportError(
        'SQL is written with sqlglot, which is not installed: pip install "tempocal[tables]"'
    ) from error

from tempocal.tables.column_names import unused_prefix
from tempocal.tables.indent import indented
from tempocal.tables.parquet_nan import LARGEST_DOUBLE
from tempocal.tables.sql_engine import SqlEngine, as_double

# As one expression, larger formulas take databases seconds to parse.
MAX_SIZE = 30_000
# Longer text is refused by some databases, Snowflake among them.
MAX_CHARACTERS = 1_000_000
_PLAIN_NAME = re.compile("[a-z_][a-z0-9_]*")


def check_dialect(dialect: str) -> None:
    """Refuse a dialect that sqlglot does not support."""
    known = sorted(name for name in sqlglot.Dialect.classes if name)
    if dialect not in known:
        raise InputError(f"dialect must be one of {', '.join(known)}, but it is {dialect!r}")


def check_identifier(name: str, dialect: str) -> None:
    """Refuse a name that cannot be quoted: parsed again it must be the same identifier."""
    if isinstance(name, str) and name and "\0" not in name:
        text = identifier(name, dialect).sql(dialect)
        if _parsed_parts(text, dialect) == [identifier(name, dialect)]:
            return
    raise InputError(f"{name!r} cannot be quoted as a name in the SQL of {dialect}")


def identifier(name: str, dialect: str) -> exp.Identifier:
    """Quote a name as the database resolves it.

    Snowflake and Oracle store a name that was written without quotes in capitals: a plain name in
    small letters is written in capitals, so that it is found. A name in double quotes is taken as
    it is.
    """
    resolved = name
    if _stores_capitals(dialect):
        if _PLAIN_NAME.fullmatch(name):
            resolved = name.upper()
        elif len(name) > 2 and name[0] == name[-1] == '"':
            resolved = name[1:-1].replace('""', '"')
    return exp.to_identifier(resolved, quoted=True)


def _stores_capitals(dialect: str) -> bool:
    strategy = sqlglot.Dialect.get_or_raise(dialect).normalization_strategy
    return strategy is NormalizationStrategy.UPPERCASE


def require_different(names: Iterable[str], dialect: str) -> None:
    """Refuse two names that the database takes for one."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(names):
        other = found.setdefault(identifier(name, dialect).name, name)
        if other != name:
            raise InputError(
                f"{other!r} and {name!r} are the same name in {dialect}: put a name that has small "
                "letters in double quotes"
            )


def _parsed_parts(text: str, dialect: str) -> list[Any]:
    """Parse a text and return the parts of the column it is; none, if it is something else."""
    try:
        read = sqlglot.parse_one(text, dialect=dialect)
    except sqlglot.errors.SqlglotError:
        return []
    return list(read.parts) if isinstance(read, exp.Column) else []


def expression_text(formula: Expression, dialect: str) -> str:
    """Return a formula as one SQL expression."""
    return _written(_checked_tree(formula, dialect), dialect)


def statement(formulas: Mapping[str, Expression], dialect: str, table: Sequence[str] | None) -> str:
    """Return a query that adds columns to a table; without a table, only the columns."""
    _require_short(sum(map(written_size, formulas.values())))
    columns = [_named(_tree(each, dialect, {}), name, dialect) for name, each in formulas.items()]
    if table is None:
        return _written(exp.select(*columns), dialect)
    query = exp.select(exp.Star(), *columns).from_(_table(table, dialect))
    return _written(query, dialect)


def staged_statement(
    formulas: Mapping[str, Expression], dialect: str, table: Sequence[str], keep: Sequence[str]
) -> str:
    """Return nested queries; each evaluates subexpressions that the outer ones share."""
    prefix = unused_prefix([*keep, *formulas])
    staged = in_stages(list(formulas.values()), f"{prefix}_s")
    inputs = {name: f"{prefix}_x{k}" for k, name in enumerate(_columns_of(formulas.values()))}
    kept = [_column(name, dialect) for name in keep]
    casts = [_named(_input(name, dialect), alias, dialect) for name, alias in inputs.items()]
    query = exp.select(*kept, *casts).from_(_table(table, dialect))
    computed = dict(inputs)
    for number, stage in enumerate(staged.stages):
        columns = [
            _named(_tree(each, dialect, computed), name, dialect) for name, each in stage.items()
        ]
        inner = _with_fence(query, dialect).subquery(
            identifier(f"{prefix}_q{number}", dialect), copy=False
        )
        known = [_column(name, dialect) for name in computed.values()]
        query = exp.select(*kept, *known, *columns).from_(inner)
        computed |= {name: name for name in stage}
    pairs = zip(formulas, staged.outputs, strict=True)
    outputs = [_named(_tree(each, dialect, computed), name, dialect) for name, each in pairs]
    last = _with_fence(query, dialect).subquery(identifier(f"{prefix}_q", dialect), copy=False)
    return _written(exp.select(*kept, *outputs).from_(last), dialect, staged=True)


def _written(query: exp.Expression, dialect: str, *, staged: bool = False) -> str:
    """Return the text, indented; refuse one that is too long for a database."""
    names = {one.sql(dialect) for one in query.find_all(exp.Identifier)}
    text = indented(query.sql(dialect), names)
    if len(text) > MAX_CHARACTERS:
        way_out = (
            "export the model as ONNX or Python instead, or fit one with fewer knots or classes"
            if staged
            else "write select(table, keep=[...]) of it, in nested queries"
        )
        raise InputError(
            f"the statement has {len(text):,} characters, and databases take {MAX_CHARACTERS:,}: "
            f"{way_out}"
        )
    return text


def _with_fence(query: exp.Select, dialect: str) -> exp.Select:
    """Add OFFSET 0, which keeps PostgreSQL from inlining the nested query."""
    return query.offset(0, copy=False) if dialect == "postgres" else query


def _checked_tree(formula: Expression, dialect: str) -> exp.Expression:
    _require_short(written_size(formula))
    return _tree(formula, dialect, {})


def _require_short(size: int) -> None:
    """Refuse formulas that would be megabytes of text as one expression."""
    if size > MAX_SIZE:
        raise InputError(
            f"in one expression this formula would have {size:,} parts, for each is spelled out "
            "again where it is used: write select(table, keep=[...]) of it, in nested queries"
        )


def _tree(formula: Expression, dialect: str, computed: Mapping[str, str]) -> exp.Expression:
    """Return a formula as a syntax tree; ``computed`` maps names to columns of inner queries."""

    def column(name: str) -> exp.Expression:
        return _column(computed[name], dialect) if name in computed else _input(name, dialect)

    tree: exp.Expression = interpret(formula, SqlEngine(dialect, column), {})
    return tree


def _input(name: str, dialect: str) -> exp.Expression:
    number = as_double(_column(name, dialect))
    if dialect != "duckdb":
        return number
    # Makes NaN in Parquet files visible, see `tempocal.tables.parquet_nan`.
    largest = SqlEngine(dialect, exp.column).number(LARGEST_DOUBLE)
    return exp.Anonymous(this="NULLIF", expressions=[number, largest])


def _column(name: str, dialect: str) -> exp.Column:
    return exp.Column(this=identifier(name, dialect))


def _named(tree: exp.Expression, name: str, dialect: str) -> exp.Alias:
    return exp.Alias(this=tree, alias=identifier(name, dialect))


def _table(path: Sequence[str], dialect: str) -> exp.Expression:
    if not 1 <= len(path) <= 3:
        raise InputError(f"table must be one name, or two or three, but it is {list(path)}")
    parts = [identifier(name, dialect) for name in reversed(path)]
    return exp.Table(**dict(zip(("this", "db", "catalog"), parts, strict=False)))


def _columns_of(formulas: Iterable[Expression]) -> list[str]:
    """Names of the columns that formulas use."""
    seen: set[Node] = set()
    found: dict[str, None] = {}
    stack: list[Node] = list(formulas)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack += children(node)
            if isinstance(node, Column):
                found[node.name] = None
    return sorted(found)

"""SELECT statements of formulas; checks of dialects and identifiers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tempocal.errors import InputError
from tempocal.formula import Expression, in_stages, interpret, written_size
from tempocal.formula.nodes import Column, Node, children

try:
    import sqlglot
    from sqlglot import exp
except ImportError as error:
    raise ImportError(
        'SQL is written with sqlglot, which is not installed: pip install "tempocal[tables]"'
    ) from error

from tempocal.tables.column_names import unused_prefix
from tempocal.tables.parquet_nan import LARGEST_DOUBLE
from tempocal.tables.sql_engine import SqlEngine, as_double

# As one expression, larger formulas take databases seconds to parse.
MAX_SIZE = 30_000


def check_dialect(dialect: str) -> None:
    """Refuse a dialect that sqlglot does not support."""
    known = sorted(name for name in sqlglot.Dialect.classes if name)
    if dialect not in known:
        raise InputError(f"dialect must be one of {', '.join(known)}, but it is {dialect!r}")


def check_identifier(name: str, dialect: str) -> None:
    """Refuse a name that cannot be quoted: parsed again it must be the same identifier."""
    if isinstance(name, str) and name and "\0" not in name:
        text = exp.to_identifier(name, quoted=True).sql(dialect)
        if _parsed_parts(text, dialect) == [exp.to_identifier(name, quoted=True)]:
            return
    raise InputError(f"{name!r} cannot be quoted as a name in the SQL of {dialect}")


def _parsed_parts(text: str, dialect: str) -> list[Any]:
    """Parse a text and return the parts of the column it is; none, if it is something else."""
    try:
        read = sqlglot.parse_one(text, dialect=dialect)
    except sqlglot.errors.SqlglotError:
        return []
    return list(read.parts) if isinstance(read, exp.Column) else []


def expression_text(formula: Expression, dialect: str) -> str:
    """Return a formula as one SQL expression."""
    return _checked_tree(formula, dialect).sql(dialect)


def statement(formulas: Mapping[str, Expression], dialect: str, table: Sequence[str] | None) -> str:
    """Return a query that adds columns to a table; without a table, only the columns."""
    _require_short(sum(map(written_size, formulas.values())))
    columns = [_named(_tree(each, dialect, {}), name) for name, each in formulas.items()]
    if table is None:
        return exp.select(*columns).sql(dialect)
    return exp.select(exp.Star(), *columns).from_(_table(table)).sql(dialect)


def staged_statement(
    formulas: Mapping[str, Expression], dialect: str, table: Sequence[str], keep: Sequence[str]
) -> str:
    """Return nested queries; each evaluates subexpressions that the outer ones share."""
    prefix = unused_prefix([*keep, *formulas])
    staged = in_stages(list(formulas.values()), f"{prefix}_s")
    inputs = {name: f"{prefix}_x{k}" for k, name in enumerate(_columns_of(formulas.values()))}
    kept = [_column(name) for name in keep]
    casts = [_named(_input(name, dialect), alias) for name, alias in inputs.items()]
    query = exp.select(*kept, *casts).from_(_table(table))
    computed = dict(inputs)
    for number, stage in enumerate(staged.stages):
        columns = [_named(_tree(each, dialect, computed), name) for name, each in stage.items()]
        inner = _with_fence(query, dialect).subquery(f"{prefix}_q{number}", copy=False)
        query = exp.select(*kept, *map(_column, computed.values()), *columns).from_(inner)
        computed |= {name: name for name in stage}
    pairs = zip(formulas, staged.outputs, strict=True)
    outputs = [_named(_tree(each, dialect, computed), name) for name, each in pairs]
    last = _with_fence(query, dialect).subquery(f"{prefix}_q", copy=False)
    return exp.select(*kept, *outputs).from_(last).sql(dialect)


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
        return _column(computed[name]) if name in computed else _input(name, dialect)

    tree: exp.Expression = interpret(formula, SqlEngine(dialect, column), {})
    return tree


def _input(name: str, dialect: str) -> exp.Expression:
    number = as_double(_column(name))
    if dialect != "duckdb":
        return number
    # Makes NaN in Parquet files visible, see `tempocal.tables.parquet_nan`.
    largest = SqlEngine(dialect, _column).number(LARGEST_DOUBLE)
    return exp.Anonymous(this="NULLIF", expressions=[number, largest])


def _column(name: str) -> exp.Column:
    return exp.Column(this=exp.to_identifier(name, quoted=True))


def _named(tree: exp.Expression, name: str) -> exp.Alias:
    return exp.Alias(this=tree, alias=exp.to_identifier(name, quoted=True))


def _table(path: Sequence[str]) -> exp.Expression:
    if not 1 <= len(path) <= 3:
        raise InputError(f"table must be one name, or two or three, but it is {list(path)}")
    parts = [exp.to_identifier(name, quoted=True) for name in reversed(path)]
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

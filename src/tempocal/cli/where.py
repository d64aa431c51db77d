"""The language of ``--where``: comparisons of columns with values, joined by and, or, not.

::

    split = 'cal' and (t >= 10 or not is_final = true) and league in ('a', 'b') and odds is not null

A comparison with a missing value is neither true nor false, as in SQL, and such rows are left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from tempocal.cli.where_compare import COMPARISONS, compare, decoded, read_number
from tempocal.errors import InputError

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.])"
    r"|(?P<text>'(?:[^']|'')*')"
    r'|(?P<quoted>"(?:[^"]|"")*")'
    r"|(?P<word>[^\W\d]\w*)"
    r"|(?P<sign><=|>=|!=|<>|==|=|<|>|\(|\)|,))"
)
_KEYWORDS = {"and", "or", "not", "in", "is", "null", "true", "false"}
_EXAMPLE = "such as \"split = 'cal' and t >= 10\""
_DEEPEST = 50


@dataclass(frozen=True)
class Token:
    """A word of an expression."""

    kind: str  # number, text, quoted, word, sign, or end
    text: str

    @property
    def keyword(self) -> str:
        """The keyword or sign that it is, else nothing."""
        lower = self.text.lower()
        return lower if self.kind == "sign" or (self.kind == "word" and lower in _KEYWORDS) else ""


class RowCondition:
    """A condition on rows.

    Parameters
    ----------
    text : str
        The expression.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.columns: list[str] = []
        self._tokens = list(_tokens(text))
        self._depth = 0
        self._condition = self._read_or()
        if self._tokens[0].kind != "end":
            raise self._unexpected("and, or, or the end")

    def mask(self, table: Any) -> Any:
        """Return for each row of a table whether it is to be kept."""
        return pc.fill_null(self._value(self._condition, table), False)

    def _read_or(self) -> Any:
        parts = [self._read_and()]
        while self._take("or"):
            parts.append(self._read_and())
        return ("or", *parts)

    def _read_and(self) -> Any:
        parts = [self._read_not()]
        while self._take("and"):
            parts.append(self._read_not())
        return ("and", *parts)

    def _read_not(self) -> Any:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise InputError(f"--where: more than {_DEEPEST} conditions within each other")
        try:
            if self._take("not"):
                return ("not", self._read_not())
            if self._take("("):
                inside = self._read_or()
                self._require(")")
                return inside
            return self._read_comparison()
        finally:
            self._depth -= 1

    def _read_comparison(self) -> Any:
        column = self._read_column()
        if self._take("is"):
            negated = self._take("not")
            self._require("null")
            return ("not", ("null", column)) if negated else ("null", column)
        negated = self._take("not")
        if self._take("in"):
            found = ("or", *(("=", column, value) for value in self._read_list()))
            return ("not", found) if negated else found
        sign = self._tokens[0].text
        if negated or self._tokens[0].kind != "sign" or sign not in COMPARISONS:
            raise self._unexpected(
                "in" if negated else "a comparison (=, !=, <, <=, >, >=, in, is)"
            )
        del self._tokens[0]
        return (sign, column, self._read_value())

    def _read_column(self) -> str:
        token = self._tokens[0]
        if token.kind not in ("word", "quoted") or token.keyword:
            raise self._unexpected("the name of a column")
        del self._tokens[0]
        name = token.text if token.kind == "word" else token.text[1:-1].replace('""', '"')
        self.columns.append(name)
        return name

    def _read_list(self) -> list[Any]:
        self._require("(")
        values = [self._read_value()]
        while self._take(","):
            values.append(self._read_value())
        self._require(")")
        return values

    def _read_value(self) -> Any:
        token = self._tokens[0]
        if token.kind == "number":
            value: Any = read_number(token.text)
        elif token.kind == "text":
            value = token.text[1:-1].replace("''", "'")
        elif token.keyword in ("true", "false"):
            value = token.keyword == "true"
        else:
            raise self._unexpected("a number, text in single quotes, true or false")
        del self._tokens[0]
        return value

    def _take(self, keyword: str) -> bool:
        if self._tokens[0].keyword != keyword:
            return False
        del self._tokens[0]
        return True

    def _require(self, keyword: str) -> None:
        if not self._take(keyword):
            raise self._unexpected(keyword)

    def _unexpected(self, wanted: str) -> InputError:
        token = self._tokens[0]
        where = "its end" if token.kind == "end" else repr(token.text)
        return InputError(
            f"--where {self.text!r} cannot be read at {where}, where {wanted} must be: it must be "
            f"comparisons joined by and, or, not, {_EXAMPLE}"
        )

    def _value(self, condition: Any, table: Any) -> Any:
        kind, *parts = condition
        if kind in ("and", "or"):
            join = pc.and_kleene if kind == "and" else pc.or_kleene
            values = [self._value(part, table) for part in parts]
            found = values[0]
            for value in values[1:]:
                found = join(found, value)
            return found
        if kind == "not":
            return pc.invert(self._value(parts[0], table))
        if kind == "null":
            return pc.is_null(decoded(table.column(parts[0])), nan_is_null=False)
        column, value = parts
        return compare(kind, table.column(column), column, value)


def _tokens(text: str) -> Iterator[Token]:
    at = 0
    while text[at:].strip():
        found = _TOKEN.match(text, at)
        if found is None:
            raise InputError(
                f"--where {text!r} cannot be read at {text[at:].strip()[:20]!r}: text must be in "
                f"single quotes, {_EXAMPLE}"
            )
        kind = str(found.lastgroup)
        yield Token(kind, found[kind])
        at = found.end()
    yield Token("end", "")

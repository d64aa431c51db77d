"""Indentation of SQL: spaces between words become line breaks, and nothing else changes."""

import re
from collections.abc import Iterable, Iterator

_INDENT = "  "
_CLAUSES = {"FROM", "OFFSET", "LIMIT"}
_QUERIES = {"SELECT", "FROM"}  # the columns of a query, and what follows them
_BRANCHES = {"WHEN", "ELSE"}


def indented(text: str, names: Iterable[str]) -> str:
    """Return a statement or an expression on several lines.

    Parameters
    ----------
    text : str
        SQL on one line.
    names : iterable of str
        The quoted names in it, as they are written: spaces within them are no spaces between words.

    Examples
    --------
    >>> text = 'SELECT "a b", CASE WHEN "x" < 1 THEN 2 ELSE 3 END FROM "t"'
    >>> print(indented(text, ['"a b"', '"x"', '"t"']))
    SELECT
      "a b",
      CASE
        WHEN "x" < 1 THEN 2
        ELSE 3
      END
    FROM "t"
    """
    layout = _Layout()
    for token in _tokens(text, names):
        layout.add(token)
    return "".join(layout.written)


class _Layout:
    def __init__(self) -> None:
        self.written: list[str] = []
        self.open: list[str] = []  # SELECT, CASE and (, from the outermost
        self.space = ""  # before the next token
        self.level = 0

    def add(self, token: str) -> None:
        """Write the next token, on a new line if it begins one."""
        inside = self.open[-1] if self.open else ""
        word = token.upper()
        if token.isspace():
            self.space = self.space or " "
        elif word == "SELECT":
            self._open_query(token, within_parentheses=inside == "(")
        elif token == "," and inside == "SELECT":
            self._write(token, after=self._line())
        elif word in _CLAUSES and inside in _QUERIES:
            self._begin_clause(token, is_first=inside == "SELECT")
        elif word == "CASE":
            self._write(token)
            self._push("CASE")
        elif word in _BRANCHES and inside == "CASE":
            self._write(token, before=self._line())
        elif word == "END" and inside == "CASE":
            self._pop()
            self._write(token, before=self._line())
        elif token == "(":
            self._write(token)
            self.open.append("(")
        elif token == ")":
            self._close(token, inside)
        else:
            self._write(token)

    def _open_query(self, token: str, *, within_parentheses: bool) -> None:
        if within_parentheses:
            self.level += 1
            self._write(token, before=self._line())
        else:
            self._write(token)
        self._push("SELECT")
        self.space = self._line()

    def _begin_clause(self, token: str, *, is_first: bool) -> None:
        """Write FROM and what follows it at the level of their SELECT."""
        if is_first:
            self._pop()
            self.open.append("FROM")
        self._write(token, before=self._line())

    def _close(self, token: str, inside: str) -> None:
        if inside not in _QUERIES:
            self.open.pop()
            self._write(token)
            return
        self.level -= 1 + (inside == "SELECT")
        del self.open[-2:]
        self._write(token, before=self._line())

    def _push(self, what: str) -> None:
        self.open.append(what)
        self.level += 1

    def _pop(self) -> None:
        self.open.pop()
        self.level -= 1

    def _line(self) -> str:
        return "\n" + _INDENT * self.level

    def _write(self, token: str, *, before: str | None = None, after: str = "") -> None:
        self.written += [self.space if before is None else before, token]
        self.space = after


def _tokens(text: str, names: Iterable[str]) -> Iterator[str]:
    quoted = "|".join(map(re.escape, sorted(set(names), key=len, reverse=True)))
    pattern = rf"{quoted}{'|' if quoted else ''}\w+|\s+|."
    return (found[0] for found in re.finditer(pattern, text, re.DOTALL))

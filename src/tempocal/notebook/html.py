"""Plain HTML tables for notebooks: escaped, without scripts, in the colors of the page.

Text has the color of the page around it and no background, so that it can be read on light and dark
ones; a table that is wider than the page scrolls by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_STYLE = """<style>
.tempocal {max-width: 100%; color: inherit; font-size: 0.9em; line-height: 1.4;}
.tempocal p {margin: 0.3em 0;}
.tempocal div {overflow-x: auto;}
.tempocal table {border-collapse: collapse; color: inherit; background: none; margin: 0.3em 0;}
.tempocal p.title {font-weight: bold; margin-top: 0.6em;}
.tempocal tr, .tempocal tr:hover {background: none !important;}
.tempocal th, .tempocal td {text-align: right; padding: 0.2em 0.7em; white-space: nowrap;
  color: inherit; border: 0; border-bottom: 1px solid rgba(128, 128, 128, 0.4);}
.tempocal th {font-weight: bold;}
.tempocal th[scope=row], .tempocal .text {text-align: left; font-weight: normal;}
.tempocal td.text {white-space: normal; min-width: 11em;}
.tempocal th.text {font-weight: bold;}
.tempocal tr.marked th, .tempocal tr.marked td {font-weight: bold;}
</style>"""


@dataclass(frozen=True)
class TextCell:
    """Text of a cell that is no number, and stands at the left."""

    text: str


@dataclass(frozen=True)
class HtmlTable:
    """A table: its caption, the heads of its columns, and rows whose first cell is their name."""

    caption: str
    head: Sequence[str | TextCell]
    rows: Sequence[Sequence[str | TextCell]]
    marked: frozenset[int] = frozenset()  # rows in bold


def render(*parts: str | HtmlTable) -> str:
    """Return paragraphs and tables as HTML."""
    inside = "".join(
        _table(one) if isinstance(one, HtmlTable) else _paragraph(one) for one in parts
    )
    return f'{_STYLE}<div class="tempocal">{inside}</div>'


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def _table(table: HtmlTable) -> str:
    first, *others = table.head
    head = f'<th scope="col" class="text">{escape(_text(first))}</th>'
    head += "".join(f'<th scope="col"{_class(one)}>{escape(_text(one))}</th>' for one in others)
    rows = "".join(_row(row, marked=k in table.marked) for k, row in enumerate(table.rows))
    caption = escape(table.caption)
    # The title stands outside of what scrolls, which can be reached by the keyboard and has a name.
    return (
        f'<p class="title">{caption}</p>'
        f'<div role="region" aria-label="{caption}" tabindex="0"><table aria-label="{caption}">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _row(row: Sequence[str | TextCell], *, marked: bool) -> str:
    first, *others = row
    cells = f'<th scope="row">{escape(_text(first))}</th>'
    cells += "".join(f"<td{_class(one)}>{escape(_text(one))}</td>" for one in others)
    return f"<tr{' class=marked' if marked else ''}>{cells}</tr>"


def _text(cell: str | TextCell) -> str:
    return cell.text if isinstance(cell, TextCell) else cell


def _class(cell: str | TextCell) -> str:
    return ' class="text"' if isinstance(cell, TextCell) else ""

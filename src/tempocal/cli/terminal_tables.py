"""Tables in the terminal, and JSON."""

import json
import math
import sys
from collections.abc import Sequence
from typing import Any

import click

from tempocal.cli.echo import plain, say


def show_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, the first column to the left and the others to the right."""
    if sys.stdout is None:  # closed: nobody listens
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for k, name in enumerate(head):
        words = k == 0 or name == "verdict"
        table.add_column(plain(name), justify="left" if words else "right", no_wrap=True)
    for row in rows:
        table.add_row(*map(plain, row))
    # Wide enough for every table: a narrow terminal wraps lines, but no number is cut short.
    console = Console(
        file=sys.stdout,
        width=400,
        force_terminal=sys.stdout.isatty(),
        highlight=False,
        markup=False,
    )
    click.secho(plain(title), bold=True)
    with console.capture() as captured:
        console.print(table)
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def show_json(content: Any) -> None:
    """Print JSON; what is not finite is null."""
    say(json.dumps(_finite(content), indent=2, ensure_ascii=False))


def number(value: float, digits: int = 4) -> str:
    """Return a number in few digits."""
    return f"{value:.{digits}f}" if math.isfinite(value) else str(value)


def _finite(content: Any) -> Any:
    if isinstance(content, dict):
        return {name: _finite(part) for name, part in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(part) for part in content]
    if isinstance(content, float) and not math.isfinite(content):
        return None
    return content

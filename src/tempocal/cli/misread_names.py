"""Names that are no column, where it can be told what was meant."""

import os

import click

from tempocal.cli.options import ColumnOptions
from tempocal.errors import InputError


def require_one_clock(options: ColumnOptions, names: list[str]) -> None:
    """Refuse two columns of times, for a command that takes one clock."""
    if options.clocks > 1 or options.elapsed is not None:
        return
    for time in options.times:
        parts = [part.strip() for part in time.split(",")]
        if time not in names and len(parts) > 1 and all(part in names for part in parts):
            command = click.get_current_context().info_name
            raise InputError(
                f"--time {time} names {len(parts)} columns, and {command} takes one clock"
            )


def require_columns_to_compare(options: ColumnOptions, names: list[str]) -> None:
    """Refuse a file in place of a second set of predictions."""
    for name in options.versus:
        if name not in names and os.path.isfile(name):
            raise InputError(
                f"--versus {name} is a file, and without --model it names columns: name the first "
                "model file with --model, and then the second with --versus"
            )

"""Options that choose rows and compute a clock, of every subcommand that reads predictions."""

from typing import Any

import click

where = click.option(
    "--where",
    metavar="CONDITION",
    help="Take only these rows: comparisons of columns with values, joined by and, or, not, such "
    "as \"split = 'cal' and t >= 10\"; also in (...), is null.",
)
elapsed = click.option(
    "--elapsed",
    metavar="NAME",
    help="Column of moments: take the time since the first row of the sequence in the file, of "
    "dates in seconds, in place of --time.",
)
unlabelled = click.option(
    "--unlabelled",
    type=click.Choice(["drop", "error"]),
    default="error",
    metavar="[drop|error]",
    help="What to do with rows without a label: leave them out, or stop. Default: error.",
)


def elapsed_name(column: str) -> str:
    """Return the name of the column of times that `--elapsed` makes."""
    return f"{column} since the start"


def time_of(given: dict[str, Any], clocks: int) -> tuple[str, ...]:
    """Return the columns of times from the options of a command that takes so many clocks."""
    names = given.pop("time", ())
    times: tuple[str, ...] = names if isinstance(names, tuple) else (names,) if names else ()
    column = given.get("elapsed")
    if column is not None:
        if times:
            raise click.UsageError("--elapsed takes the place of --time: leave out one of the two")
        if given.get("sequence") is None:
            raise click.UsageError(
                "--elapsed is the time since the first row of a sequence: name the column of "
                "sequence ids with --sequence"
            )
        return (elapsed_name(column),)
    if len(times) > clocks:
        raise click.UsageError(
            f"--time was given {len(times)} times: at most two clocks can be used"
        )
    return times

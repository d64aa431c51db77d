"""How far off predictions are, over all and along time."""

from math import isnan
from typing import Any

import click

from tempocal.cli.echo import say
from tempocal.cli.failures import AboveLimit
from tempocal.cli.options import Named, as_json, rows_of_file, seed, verb


def _require_number(
    context: click.Context, option: click.Parameter, value: float | None
) -> float | None:
    """Refuse nan, which no error is ever above."""
    if value is not None and isnan(value):
        raise click.BadParameter("nan is not a number.")
    return value


@verb(
    "tempocal evaluate predictions.csv --logits z --label won --time t --sequence match",
    "tempocal evaluate new.csv --logits z --label won --time t --sequence match --model model.json",
)
@rows_of_file
@click.option("--model", metavar="MODEL", help="Model file: evaluate what it makes of them too.")
@click.option(
    "--bins",
    type=click.IntRange(1, 1_000_000),
    default=20,
    metavar="N",
    help="Stretches of time, of about as many rows each. Default: 20.",
)
@click.option(
    "--max-ece",
    type=click.FloatRange(min=0.0),
    metavar="X",
    callback=_require_number,
    help="Exit with code 4 if the ECE over time (the model's, with --model) is surely above X: the "
    "lower end of its interval is.",
)
@seed
@as_json
def command(
    named: Named,
    *,
    model: str | None,
    bins: int,
    max_ece: float | None,
    seed: int,
    as_json: bool,
) -> None:
    """Measure how far off predictions are, over all and along time.

    Beside each error stands its 95 % interval over sequences, and beside each ECE its floor: what
    perfect probabilities would show on these rows. An error under twice its floor may be all
    noise; then only an upper end is given. "ECE over time" is the mean over stretches of time.
    Without --time no ECE is shown, for over all rows it hides the fault.

    A file of more than 3 million rows of Parquet, or 256 MB of text, may be larger than memory: its
    rows are summed where they are, with DuckDB (pip install "tempocal[tables]"). Of text the
    columns that are named are first copied to a temporary Parquet file. Values are the same, and
    with up to 10,000 sequences so are intervals and floors; with more these are drawn anew.
    """
    if max_ece is not None and named.time is None:
        raise click.UsageError("--max-ece is about the ECE over time: name its column with --time")
    from tempocal.cli.evaluation import evaluate_file

    found = evaluate_file(named, model, bins, seed)
    if as_json:
        _print_json(found.facts, found.measured)
    else:
        _print(found.facts, found.measured)
    _require_at_most(max_ece, found.measured[-1])


def _print(facts: Any, measured: list[Any]) -> None:
    from tempocal.cli.terminal_tables import show_table

    show_table(_title(facts), ["", *(one.name for one in measured)], _lines(measured))
    if facts.one_column:
        _print_class(measured[0])
    if facts.has_time:
        _print_profile(measured, "sequences" if facts.groups is None else "groups")
    else:
        say("Note: for calibration errors, name the column of times with --time.", err=True)
    if not facts.has_units:
        say(
            "Note: without --sequence rows are taken as independent; if some share a sequence, "
            "intervals are too narrow and floors too low.",
            err=True,
        )


def _print_class(raw: Any) -> None:
    """Say whose probabilities one column is taken for, and that it looks like the other's."""
    say(f"The predictions are taken as those of class {raw.classes[1]}.\n")
    if raw.reversed:
        say(
            f"Note: they fit class {raw.classes[0]} better. If they are that one's, say --classes "
            f"{raw.classes[1]},{raw.classes[0]}",
            err=True,
        )


def _lines(measured: list[Any]) -> list[list[str]]:
    """One line for each number, a column for each kind of predictions."""
    from tempocal.cli.terminal_tables import number

    lines = [
        ["NLL", *(_interval(one.nll) for one in measured)],
        ["Brier", *(_interval(one.brier) for one in measured)],
    ]
    if measured[0].over_time is None:
        return lines
    means = [one.over_time.mean for one in measured]
    return [
        *lines,
        ["ECE of all rows", *(_interval(one.ece) for one in measured)],
        ["  its floor", *(number(one.ece.floor) for one in measured)],
        ["ECE over time", *map(_interval, means)],
        ["  its floor", *(number(mean.floor) for mean in means)],
    ]


def _print_profile(measured: list[Any], units: str) -> None:
    from tempocal.cli.terminal_tables import number, show_table
    from tempocal.inputs import time_text

    first = measured[0].over_time
    head = ["from", "to", "rows", units]
    for one in measured:
        head += [f"{one.name} ECE", "floor"]
    lines = []
    for k in range(len(first)):
        line = [time_text(first.time_from[k]), time_text(first.time_to[k])]
        line += [f"{first.rows[k]:,}", f"{first.sequences[k]:,}"]
        for one in measured:
            table = one.over_time
            ends = (table.value[k], table.lower[k], table.upper[k], table.only_upper[k])
            line += [_range(*ends), number(table.floor[k])]
        lines.append(line)
    show_table(f"Along time: {first.estimator}", head, lines)


def _print_json(facts: Any, measured: list[Any]) -> None:
    from tempocal.cli.terminal_tables import show_json

    show_json(
        {
            "file": facts.name,
            "rows": facts.rows,
            "sequences": facts.sequences,
            "groups": facts.groups,
            "predictions": [one.to_dict() for one in measured],
        }
    )


def _title(facts: Any) -> str:
    words = [f"{facts.name}: {facts.rows:,} rows"]
    for name, count in (("sequences", facts.sequences), ("groups", facts.groups)):
        if count is not None:
            words.append(f"{count:,} {name}")
    return ", ".join(words)


def _interval(estimate: Any) -> str:
    return _range(float(estimate), estimate.lower, estimate.upper, estimate.only_upper)


def _range(value: float, lower: float, upper: float, only_upper: bool) -> str:
    from tempocal.cli.terminal_tables import number

    ends = f"up to {number(upper)}" if only_upper else f"{number(lower)} to {number(upper)}"
    return f"{number(value)} ({ends})"


def _require_at_most(max_ece: float | None, judged: Any) -> None:
    if max_ece is not None and judged.over_time.mean.lower > max_ece:
        raise AboveLimit(
            f"the ECE over time of the {judged.name} predictions is "
            f"{_interval(judged.over_time.mean)}, above --max-ece {max_ece:g}"
        )

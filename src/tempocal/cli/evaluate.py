"""``tempocal evaluate``: metrics over all rows and along time."""

from math import isnan
from typing import Any

import click

from tempocal.cli.failures import AboveLimit
from tempocal.cli.options import (
    ColumnOptions,
    as_json,
    labeled_options,
    seed,
    soft_label,
    subcommand,
)
from tempocal.cli.terminal import echo


def _require_number(
    context: click.Context, option: click.Parameter, value: float | None
) -> float | None:
    """Refuse nan, which compares as False with every error."""
    if value is not None and isnan(value):
        raise click.BadParameter("nan is not a number.")
    return value


@subcommand(
    "tempocal evaluate predictions.csv --logits z --label won --time t --sequence match",
    "tempocal evaluate new.csv --logits z --label won --time t --sequence match --model model.json",
)
@labeled_options
@soft_label
@click.option("--model", metavar="MODEL", help="Model file: evaluate its probabilities too.")
@click.option(
    "--bins",
    type=click.IntRange(1, 1_000_000),
    default=20,
    metavar="N",
    help="Number of time bins, with about as many rows each. Default: 20.",
)
@click.option(
    "--max-ece",
    type=click.FloatRange(min=0.0),
    metavar="X",
    callback=_require_number,
    help="Exit with code 4 if the ECE over time (the model's, with --model) is significantly above "
    "X: the lower end of its interval is.",
)
@seed
@as_json
def command(
    options: ColumnOptions,
    *,
    model: str | None,
    bins: int,
    max_ece: float | None,
    seed: int,
    as_json: bool,
) -> None:
    """Measure how far off predictions are, over all and along time.

    Each error comes with its 95 % interval over sequences, and each ECE with its floor: the ECE of
    perfect probabilities on these rows. An error under twice its floor may be noise alone; then
    only an upper end is given. "ECE over time" is the mean over time bins. Without --time no ECE is
    shown, since over all rows it can hide errors that cancel along time.

    A file of more than 3 million rows of Parquet, or 256 MB of text, may be larger than memory: it
    is not loaded but aggregated with DuckDB (pip install "tempocal[tables]"). The named columns of
    a text file are first copied to a temporary Parquet file. Values are the same, and with up to
    10,000 sequences so are intervals and floors; with more these use other random numbers.

    With --model, what the model gains is measured row by row, on the same rows before and after:
    over all, and where along time it surely helps or hurts. These are the times whose interval
    excludes 0 after widening, so that with probability 95 % all of them hold together.

    A prediction counts as it was given: a logit of 800 that was wrong costs 800, a probability of 0
    for what happened costs infinity.

    With --soft-label, NLL and Brier score are those expected of labels with these probabilities,
    and frequencies are mean probabilities. Floors are those of one certain label for each row:
    upper bounds.
    """
    if max_ece is not None and options.time is None:
        raise click.UsageError("--max-ece is about the ECE over time: name its column with --time")
    from tempocal.cli.evaluation import evaluate_file

    found = evaluate_file(options, model, bins, seed)
    if as_json:
        _print_json(found)
    else:
        _print(found.rows, found.measured, found.gains)
    _require_at_most(max_ece, found.measured[-1])


def _print(facts: Any, measured: list[Any], gains: Any) -> None:
    from tempocal.cli.terminal import show_table

    show_table(_title(facts), ["", *(one.name for one in measured)], _metric_rows(measured))
    if facts.n_columns == 1:
        _print_class(measured[0])
    if facts.has_time:
        _print_profile(measured, "sequences" if facts.n_groups is None else "groups")
    if gains is not None:
        _print_gains(gains)
    _print_infinite(measured)
    if not facts.has_time:
        echo("Note: for calibration errors, name the column of times with --time.", err=True)
    if not facts.has_clusters:
        echo(
            "Note: without --sequence rows are taken as independent; if some share a sequence, "
            "intervals are too narrow and floors too low.",
            err=True,
        )


def _print_class(raw: Any) -> None:
    """Print the class of a single column, and a note if it fits the other class better."""
    echo(f"The predictions are taken as those of class {raw.classes[1]}.\n")
    if raw.reversed:
        echo(
            f"Note: they fit class {raw.classes[0]} better. If they are that one's, say --classes "
            f"{raw.classes[1]},{raw.classes[0]}",
            err=True,
        )


def _metric_rows(measured: list[Any]) -> list[list[str]]:
    """Return a row for each metric, with a column for each kind of predictions."""
    from tempocal.cli.terminal import number

    rows = [
        ["NLL", *(_interval(one.nll) for one in measured)],
        ["Brier", *(_interval(one.brier) for one in measured)],
    ]
    if measured[0].over_time is None:
        return rows
    means = [one.over_time.mean for one in measured]
    return [
        *rows,
        ["ECE of all rows", *(_interval(one.ece) for one in measured)],
        ["  its floor", *(number(one.ece.floor) for one in measured)],
        ["ECE over time", *map(_interval, means)],
        ["  its floor", *(number(mean.floor) for mean in means)],
    ]


def _print_profile(measured: list[Any], units: str) -> None:
    from tempocal.cli.terminal import number, show_table
    from tempocal.inputs import time_text

    first = measured[0].over_time
    head = ["from", "to", "rows", units]
    for one in measured:
        head += [f"{one.name} ECE", "floor"]
    rows = []
    for k in range(len(first)):
        row = [time_text(first.time_from[k]), time_text(first.time_to[k])]
        row += [f"{first.rows[k]:,}", f"{first.sequences[k]:,}"]
        for one in measured:
            table = one.over_time
            interval = (table.value[k], table.lower[k], table.upper[k], table.only_upper[k])
            row += [_value_text(*interval), number(table.floor[k])]
        rows.append(row)
    show_table(f"Along time: {first.estimator}", head, rows)


def _print_gains(gains: Any) -> None:
    """Print what the model gains over all rows and along time, and in words what is sure."""
    from tempocal.cli.terminal import show_table
    from tempocal.inputs import time_text

    rows = [["NLL", _gain_text(gains.nll)], ["Brier", _gain_text(gains.brier)]]
    show_table("Gain of the model, row by row (above 0: better)", ["", "raw - calibrated"], rows)
    table = gains.over_time
    if table is not None:
        along = [
            [
                time_text(table.time_from[k]),
                time_text(table.time_to[k]),
                _signed(table.value[k], table.lower[k], table.upper[k]),
                str(table.effect[k]),
            ]
            for k in range(len(table))
        ]
        show_table("Along time: gain in NLL", ["from", "to", "gain", "surely"], along)
    for sentence in gains.sentences():
        echo(sentence)
    echo("")


def _print_infinite(measured: list[Any]) -> None:
    for one in measured:
        if one.nll == float("inf"):
            echo(
                f"Note: the NLL of the {one.name} predictions is infinite, because what happened "
                "had probability 0 in at least one row. If that was rounded, name the logits with "
                "--logits.",
                err=True,
            )


def _print_json(found: Any) -> None:
    from tempocal.cli.terminal import show_json

    facts = found.rows
    content = {
        "file": facts.name,
        "rows": facts.n_rows,
        "sequences": facts.n_sequences,
        "groups": facts.n_groups,
        "predictions": [one.to_dict() for one in found.measured],
    }
    show_json(content if found.gains is None else {**content, "gain": found.gains.to_dict()})


def _title(facts: Any) -> str:
    parts = [f"{facts.name}: {facts.n_rows:,} rows"]
    for name, count in (("sequences", facts.n_sequences), ("groups", facts.n_groups)):
        if count is not None:
            parts.append(f"{count:,} {name}")
    return ", ".join(parts)


def _interval(estimate: Any) -> str:
    return _value_text(float(estimate), estimate.lower, estimate.upper, estimate.only_upper)


def _gain_text(estimate: Any) -> str:
    return _signed(float(estimate), estimate.lower, estimate.upper)


def _signed(value: float, lower: float, upper: float) -> str:
    return f"{value:+.4f} ({lower:+.4f} to {upper:+.4f})"


def _value_text(value: float, lower: float, upper: float, only_upper: bool) -> str:
    from tempocal.cli.terminal import number

    interval = f"up to {number(upper)}" if only_upper else f"{number(lower)} to {number(upper)}"
    return f"{number(value)} ({interval})"


def _require_at_most(max_ece: float | None, measures: Any) -> None:
    if max_ece is not None and measures.over_time.mean.lower > max_ece:
        raise AboveLimit(
            f"the ECE over time of the {measures.name} predictions is "
            f"{_interval(measures.over_time.mean)}, above --max-ece {max_ece:g}"
        )

"""``tempocal monitor``: test of calibration on successive files, with saved state."""

import os
from typing import Any

import click

from tempocal.cli.failures import Alarm, TooLittle
from tempocal.cli.options import (
    ColumnOptions,
    as_json,
    forecast_options,
    require_finite,
    require_folder,
    subcommand,
)
from tempocal.cli.terminal import echo


def _require_file(context: click.Context, option: click.Parameter, path: str | None) -> str | None:
    """Refuse standard input, which cannot be written, and folders."""
    if path == "-" or (path and os.path.isdir(path)):
        raise click.BadParameter(f"{path} is no file that can be read and written.")
    return require_folder(context, option, path)


@subcommand(
    "tempocal monitor demo-output/predictions.csv --logits logit --label won --time "
    'round --sequence match --where "match < 200" --edges 6,12 --state monitor.json',
    "tempocal monitor demo-output/predictions.csv --logits logit --label won --time "
    'round --sequence match --where "match >= 200" --state monitor.json',
)
@forecast_options
@click.option(
    "--edges",
    metavar="T,T,...",
    help="Inner edges of time bins, each of which is tested: numbers, or dates as in "
    "2026-05-01T18:30. Default: none.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
    metavar="X",
    callback=require_finite,
    help="Bound on the probability of a false alarm, at any time. Default: 0.05.",
)
@click.option("--no-movement", is_flag=True, help="Do not test how forecasts move.")
@click.option(
    "--state",
    metavar="STATE",
    callback=_require_file,
    help="State file: loaded if it exists, and saved at the end.",
)
@click.option(
    "--skip-finished",
    is_flag=True,
    help="Leave out rows of sequences that ended in an earlier file, as in files that grow.",
)
@click.option(
    "--abandon-after",
    metavar="AGE",
    help="Abandon sequences that are still open at this age: a number of sequences that have begun "
    "since, or with --clock a duration such as 30d, 12h or 45m, or a number.",
)
@click.option(
    "--abandon",
    multiple=True,
    metavar="ID",
    help="Abandon this sequence, whose label will never be known; may be repeated.",
)
@click.option(
    "--unrelated-to-outcome",
    is_flag=True,
    help="The sequences of --abandon would have been left out whatever came true and had it been "
    "known, as where a record was lost: leave out their bets.",
)
@click.option(
    "--clock",
    metavar="NAME",
    help="Column of when each prediction was made, dates or numbers, for --abandon-after.",
)
@click.option(
    "--fail",
    is_flag=True,
    help="Exit with code 4 if there is an alarm, and else with 5 if too little was seen to judge.",
)
@as_json
def command(
    options: ColumnOptions,
    *,
    state: str | None,
    skip_finished: bool,
    fail: bool,
    as_json: bool,
    abandon_after: str | None,
    abandon: tuple[str, ...],
    unrelated_to_outcome: bool,
    clock: str | None,
    **settings: Any,
) -> None:
    """Monitor the calibration of forecasts, with a bound on false alarms.

    Rows must be in the order in which the predictions were made; sequences one after another, in
    the order of their start, will do if they are independent. While the forecasts are calibrated
    the probability that there is ever an alarm is at most --alpha, however often it is checked.

    A label ends its sequence. While a sequence is under way its label is empty; it may come in a
    later file, with predictions or in a row without a probability. Do not wait until sequences are
    over to pass them on: then those that end early come first, and the bound does not hold.

    A sequence counts once. Rows of sequences that ended in an earlier file, such as the same file
    again, are an error and nothing is saved; --skip-finished leaves them out. Of sequences under
    way pass new rows only.

    An open sequence holds up all that began after it. If most outcomes are held up, the exit code
    is 5, also where there is an alarm; with --fail an alarm comes first, with 4. --abandon-after
    settles the bets of sequences that are open for too long at the lowest factor that any label
    would give, so that the bound holds though slow sequences may be the lost ones; an alarm takes
    longer then. If many stay open, forecast "within this age" instead, and label those that are
    open at it "open", a class of its own. Leaving open ones out is valid only where that has
    nothing to do with the outcome: --abandon with --unrelated-to-outcome.
    """
    if options.time is None:
        raise click.UsageError("monitor needs a time: name its column with --time")
    if options.elapsed is not None and state is not None:
        raise click.UsageError(
            "--elapsed is the time since the first row in this file, and with --state a sequence "
            "may have begun in an earlier one: name a column of such times with --time"
        )
    from tempocal.cli.abandoning import Abandoning
    from tempocal.cli.monitoring import watch

    rule = Abandoning.of(abandon_after, abandon, clock, unrelated=unrelated_to_outcome)
    status, left_out = watch(options, state, settings, rule, skip_finished=skip_finished)
    if as_json:
        from tempocal.cli.terminal import show_json

        show_json(status.to_dict())
    else:
        _print(status)
    if skip_finished:
        echo(f"left out {left_out:,} rows of sequences that are finished already", err=True)
    if state is not None:
        echo(f"saved to {state}", err=True)
    if fail and status.alarm:
        raise Alarm("the forecasts are not right: there is an alarm")
    if status.is_blind or (fail and status.verdict == "too little"):
        raise TooLittle(f"too little was seen to judge: {status.notes[0]}")


def _print(status: Any) -> None:
    from tempocal.cli.terminal import show_table

    title, sequences, *_ = str(status).splitlines()
    lines = [
        [
            line.name,
            f"{line.e_value:.3g}",
            f"{line.highest:.3g}",
            f"{line.settled:,}",
            f"{line.waiting:,}",
            _verdict(line),
        ]
        for line in status.lines
    ]
    head = ["", "evidence", "highest", "settled", "waiting", "verdict"]
    show_table(f"{title}\n{sequences}", head, lines)
    for note in status.notes:
        echo(f"Note: {note}.", err=True)


def _verdict(line: Any) -> str:
    if line.is_blind:
        return f"{line.held_up:,} held up by sequence {line.behind}"
    if not line.alarm:
        return str(line.suspicion)
    since = f"ALARM at {line.since_settled:,} (sequence {line.since_sequence})"
    return f"{since}; {line.suspicion}" if line.suspicion else since

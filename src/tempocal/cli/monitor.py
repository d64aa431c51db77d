"""Watch forecasts in files, one after another, with a state between them."""

import os
from typing import Any

import click

from tempocal.cli.echo import say
from tempocal.cli.failures import Alarm
from tempocal.cli.options import (
    Named,
    as_json,
    folder_is_there,
    forecasts_of_file,
    require_finite,
    verb,
)


def _require_file(context: click.Context, option: click.Parameter, path: str | None) -> str | None:
    """Refuse standard input, which cannot be written, and what is no file."""
    if path == "-" or (path and os.path.isdir(path)):
        raise click.BadParameter(f"{path} is no file that can be read and written.")
    return folder_is_there(context, option, path)


@verb(
    "tempocal monitor predictions.csv --proba p --label won --time t --sequence match --edges 6,12",
    "tempocal monitor new.csv --proba p --label won --time t --sequence match --state monitor.json",
)
@forecasts_of_file
@click.option(
    "--edges",
    metavar="T,T,...",
    help="Times that cut time into stretches, each of which is watched: numbers, or dates as in "
    "2026-05-01T18:30. Default: none.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
    metavar="X",
    callback=require_finite,
    help="Most that the chance of a false alarm is, ever. Default: 0.05.",
)
@click.option("--no-movement", is_flag=True, help="Do not watch how forecasts move.")
@click.option(
    "--state",
    metavar="STATE",
    callback=_require_file,
    help="File to go on from, if it is there, and to save to.",
)
@click.option(
    "--skip-finished",
    is_flag=True,
    help="Leave out rows of sequences that ended in an earlier file, as in files that grow.",
)
@click.option("--fail", is_flag=True, help="Exit with code 4 if there is an alarm.")
@as_json
def command(
    named: Named,
    *,
    state: str | None,
    skip_finished: bool,
    fail: bool,
    as_json: bool,
    **settings: Any,
) -> None:
    """Watch forecasts for an alarm that holds however long one watches.

    Rows must be in the order in which the predictions were made; sequences one after another, in
    the order of their start, will do if they are independent. While the forecasts are right the
    chance that there is ever an alarm is at most --alpha, however often one looks.

    A label ends its sequence. While a sequence is under way its label is empty; it may come in a
    later file, with predictions or in a row without a probability. Do not wait until sequences are
    over to pass them on, for then those that end early come first, and nothing is promised.

    A sequence counts once. Rows of sequences that ended in an earlier file, such as the same file
    again, are an error and nothing is saved; --skip-finished leaves them out. Of sequences under
    way pass new rows only.
    """
    from tempocal.cli.monitoring import watch

    status, left_out = watch(named, state, settings, skip_finished=skip_finished)
    if as_json:
        from tempocal.cli.terminal_tables import show_json

        show_json(status.to_dict())
    else:
        _print(status)
    if skip_finished:
        say(f"left out {left_out:,} rows of sequences that are finished already", err=True)
    if state is not None:
        say(f"saved to {state}", err=True)
    if fail and status.alarm:
        raise Alarm("the forecasts are not right: there is an alarm")


def _print(status: Any) -> None:
    from tempocal.cli.terminal_tables import show_table

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


def _verdict(line: Any) -> str:
    if not line.alarm:
        return str(line.suspicion)
    since = f"ALARM at {line.since_settled:,} (sequence {line.since_sequence})"
    return f"{since}; {line.suspicion}" if line.suspicion else since

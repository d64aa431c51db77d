"""``tempocal report``: an HTML page about past predictions."""

import os
import shlex
from dataclasses import replace
from typing import Any

import click

from tempocal.cli.choices import learns_from_forecasts, td_horizon_option
from tempocal.cli.options import ColumnOptions, ordered_options, seed, soft_label, subcommand
from tempocal.cli.options import output as output_option


@subcommand(
    "tempocal report demo-output/predictions.csv --logits logit --label won --time round "
    "--sequence match -o report.html",
)
@ordered_options
@soft_label
@td_horizon_option
@seed
@click.option(
    "--model",
    metavar="MODEL",
    help="Model file: the page is about its probabilities. It must not be fitted to these rows.",
)
@click.option(
    "--versus",
    multiple=True,
    metavar="NAME",
    help="What to compare with: with --model a second model file; else columns of a second set of "
    "predictions, of the kind of the first.",
)
@click.option(
    "--split-in-time",
    metavar="NAME",
    help="Column of times in the calendar: fit to the sequences that began first, evaluate on "
    "later ones. Default: a split at random.",
)
@click.option(
    "--split-column",
    metavar="NAME[=FIT,EVALUATE]",
    help="Column that is true in the rows to evaluate on; or its values in the rows to fit to and "
    "in those to evaluate on: others are left out.",
)
@click.option("--title", metavar="TEXT", help="Title of the page. Default: the name of the file.")
@output_option("PAGE", "a page")
def command(
    options: ColumnOptions,
    *,
    td_horizon: float | str | None,
    seed: int,
    model: str | None,
    title: str | None,
    output: str,
) -> None:
    """Write one HTML page: how far off, when, and what to do.

    Calibrators are fitted to one half of the sequences and evaluated on the other. The page needs
    no network and holds the verdict in words, errors and discrimination over time with intervals,
    reliability diagrams, the fitted curve, single sequences before and after, those that were most
    wrong, and the compared candidates. Its figures show their numbers, and offer them as CSV and
    JSON.

    Fits along time learn from the forecasts that follow a row, as those of `fit` do, unless
    --td-horizon is inf.

    A file of more than 3 million rows of Parquet, or 256 MB of text, may be larger than memory: it
    is aggregated with DuckDB, as in `evaluate`, and needs --sequence or --group.
    """
    if options.time is None:
        raise click.UsageError("report needs a time: name its column with --time")
    if options.split_in_time is not None and options.split_column is not None:
        raise click.UsageError("--split-in-time and --split-column both say how to split: give one")
    settings: dict[str, Any] = {"time_name": options.time}
    if model is not None:
        settings |= {"model": model, "versus": _second_model(options)}
        options = replace(options, versus=())
    learns = learns_from_forecasts(options, td_horizon)
    from tempocal.cli.read_predictions import open_predictions
    from tempocal.cli.terminal import echo, printable
    from tempocal.report import write_report

    with open_predictions(options, "Fitting to one half, judging on the other") as rows:
        horizon = "auto" if td_horizon is None else td_horizon
        assessment = rows.assess(seed, horizon, learns=learns, **settings)
    line = shlex.join(click.get_current_context().meta["tempocal.command_line"])
    names = {"title": title or rows.name, "command": line}
    write_report(assessment, output, **{key: printable(name) for key, name in names.items()})
    echo(f"{assessment.verdict.headline}\nSaved to {output}")


def _second_model(options: ColumnOptions) -> str | None:
    """Return the file of the second model."""
    if len(options.versus) > 1:
        raise click.UsageError("with --model, --versus names one second model file")
    for name in options.versus:
        if not os.path.exists(name):
            raise click.UsageError(
                f"with --model, --versus is a model file, and there is no file {name}"
            )
    return options.versus[0] if options.versus else None

"""``tempocal report``: an HTML page about past predictions."""

import shlex

import click

from tempocal.cli.choices import learns_from_forecasts, td_horizon_option
from tempocal.cli.options import ColumnOptions, ordered_options, seed, soft_label, subcommand
from tempocal.cli.options import output as output_option


@subcommand(
    "tempocal report predictions.csv --logits z --label won --time t --sequence match "
    "-o report.html"
)
@ordered_options
@soft_label
@td_horizon_option
@seed
@click.option("--title", metavar="TEXT", help="Title of the page. Default: the name of the file.")
@output_option("PAGE", "a page")
def command(
    options: ColumnOptions,
    *,
    td_horizon: float | str | None,
    seed: int,
    title: str | None,
    output: str,
) -> None:
    """Write one HTML page: how far off, when, and what to do.

    Calibrators are fitted to one half of the sequences and evaluated on the other. The page needs
    no network and holds the verdict in words, errors over time with intervals, reliability
    diagrams, the fitted curve, single sequences before and after, and the compared candidates.

    Fits along time learn from the forecasts that follow a row, as those of `fit` do, unless
    --td-horizon is inf.

    A file of more than 3 million rows of Parquet, or 256 MB of text, may be larger than memory: it
    is aggregated with DuckDB, as in `evaluate`, and needs --sequence or --group.
    """
    if options.time is None:
        raise click.UsageError("report needs a time: name its column with --time")
    learns = learns_from_forecasts(options, td_horizon)
    from tempocal.cli.read_predictions import open_predictions
    from tempocal.cli.terminal import echo, printable
    from tempocal.report import write_report

    with open_predictions(options, "Fitting to one half, judging on the other") as rows:
        assessment = rows.assess(seed, "auto" if td_horizon is None else td_horizon, learns=learns)
    line = shlex.join(click.get_current_context().meta["tempocal.command_line"])
    names = {"title": title or rows.name, "command": line, "time_name": options.time}
    write_report(assessment, output, **{key: printable(name) for key, name in names.items()})
    echo(f"{assessment.verdict.headline}\nSaved to {output}")

"""Add calibrated probabilities to a file of predictions, block by block."""

import click

from tempocal.cli.options import ColumnOptions, complete_files, prediction_options, subcommand
from tempocal.cli.options import output as output_option


@subcommand(
    "tempocal apply demo-output/model.json demo-output/predictions.csv --logits logit "
    "--time round -o calibrated.csv",
)
@click.argument("model", metavar="MODEL", shell_complete=complete_files)
@prediction_options
@output_option("OUT", "a file", dash=True)
@click.option(
    "--column",
    default="calibrated",
    metavar="NAME",
    help="Name of the new column, or with three classes and more what its name begins with "
    "(calibrated_home, calibrated_draw, ...). Default: calibrated.",
)
@click.option("--overwrite", is_flag=True, help="Replace columns of that name.")
def command(
    options: ColumnOptions, *, model: str, output: str, column: str, overwrite: bool
) -> None:
    """Add calibrated probabilities to a file of predictions.

    All columns stay. With two classes one column is added, the probability of the second class;
    with more, one for each class. Rows are read and written in blocks, so that files may be larger
    than memory; OUT appears when all of it is written, and may be FILE itself. With --where, OUT
    has only these rows.
    """
    if options.sequence is not None and options.elapsed is None:
        raise click.UsageError("--sequence is for --elapsed: leave it out, or name a column there")
    from tempocal.cli.calibrate_blocks import BlockCalibrator, warn_if_probabilities
    from tempocal.cli.prepare import open_rows
    from tempocal.cli.terminal import echo, show_progress
    from tempocal.files import format_of, open_output, stream
    from tempocal.predictor import read_model

    fitted = read_model(model)
    with open_rows(options, fitted.classes.tolist()) as (given, source):
        typed = format_of(output, options.format) != "csv"
        with show_progress(f"Reading {options.file}"):
            table = stream(source, typed=typed)
        job = BlockCalibrator.of(fitted, given, table.schema, source.name, column)
        schema = job.schema(table.schema, overwrite=overwrite)
        with (
            show_progress("Calibrating") as progress,
            open_output(output, schema, options.format) as write,
        ):
            done = 0
            for block in table.blocks:
                write(job.calibrated(block, first_row=done + 1, schema=schema))
                done += block.num_rows
                progress(f"{done:,} rows")
    warn_if_probabilities(job, done)
    if output != "-":
        echo(f"{done:,} rows saved to {output}", err=True)

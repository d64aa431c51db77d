"""``tempocal fit``: fit a calibrator to past predictions."""

from typing import Any

import click

from tempocal.cli.choices import (
    CALIBRATORS,
    calibrator_option,
    candidates,
    curve_option,
    make,
    single,
)
from tempocal.cli.options import ColumnOptions, labeled_options, seed, subcommand
from tempocal.cli.options import output as output_option


@subcommand(
    "tempocal fit predictions.csv --logits z --label won --time t --sequence match -o model.json",
)
@labeled_options
@calibrator_option()
@curve_option()
@seed
@output_option("MODEL", "a model file")
@click.option("-q", "--quiet", is_flag=True, help="Do not print the summary.")
def command(
    options: ColumnOptions,
    *,
    calibrator: str | None,
    curve: str | None,
    seed: int,
    output: str,
    quiet: bool,
) -> None:
    """Learn a calibration from past predictions and save it.

    With --time, calibrators and curves are compared by cross-validation over sequences, and the
    best is fitted, or none if nothing is gained; --calibrator and --curve restrict the candidates,
    both together to one. Without --time, one calibrator is fitted to all rows: temperature scaling,
    or that of --calibrator. Fit on rows that the model itself was not trained on.

    A file of more than 3 million rows of Parquet, or 256 MB of text, may be larger than memory: it
    is aggregated with DuckDB, as in `evaluate`. The model is the same to nine digits. Choosing by
    comparison then needs --sequence or --group.
    """
    if options.time is None and curve not in (None, "constant"):
        raise click.UsageError(f"--curve {curve} needs a time: name its column with --time")
    from tempocal.cli.read_predictions import open_predictions
    from tempocal.cli.terminal import echo

    with open_predictions(options, "Fitting") as rows:
        fitted = rows.fit(_make_calibrator(rows, calibrator, curve, seed))
    fitted.save(output)
    if not quiet:
        echo(f"{fitted.summary()}\nSaved to {output}")


def _make_calibrator(rows: Any, calibrator: str | None, curve: str | None, seed: int) -> Any:
    """Return the calibrator of the options, or one that compares the remaining candidates."""
    settings = {"inputs": rows.inputs, "classes": rows.classes}
    if not rows.has_time:
        return make(CALIBRATORS, calibrator or "temperature", settings)
    chosen = single(calibrator, curve, settings)
    if chosen is not None:
        return chosen
    return make_comparison(
        rows, candidates(_as_tuple(calibrator), _as_tuple(curve), rows.n_classes), seed
    )


def make_comparison(rows: Any, pairs: Any, seed: int) -> Any:
    """Return the calibrator that compares candidates."""
    import tempocal as tc

    return tc.AutoTemporalCalibrator(pairs, seed=seed, inputs=rows.inputs, classes=rows.classes)


def _as_tuple(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)

"""Learn a calibration from past predictions."""

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
from tempocal.cli.options import Named, rows_of_file, seed, verb
from tempocal.cli.options import output as output_option


@verb(
    "tempocal fit predictions.csv --logits z --label won --time t --sequence match -o model.json",
)
@rows_of_file
@calibrator_option()
@curve_option()
@seed
@output_option("MODEL", "a model file")
@click.option("-q", "--quiet", is_flag=True, help="Do not print the summary.")
def command(
    named: Named,
    *,
    calibrator: str | None,
    curve: str | None,
    seed: int,
    output: str,
    quiet: bool,
) -> None:
    """Learn a calibration from past predictions and save it.

    With --time, calibrators and curves are compared on sequences left out, and the one that does
    best is taken, or none where nothing is gained; --calibrator and --curve narrow that down, both
    together to one. Without --time, one calibrator is fitted to all rows alike: temperature
    scaling, or that of --calibrator. Fit on rows that the model itself was not trained on.

    A file of more than 3 million rows of Parquet, or 256 MB of text, is gone over where it is, as
    `evaluate` does, and may be larger than memory. The model is the same to nine digits. Choosing
    by comparison needs --sequence or --group then.
    """
    if named.time is None and curve not in (None, "constant"):
        raise click.UsageError(f"--curve {curve} needs a time: name its column with --time")
    from tempocal.cli.echo import say
    from tempocal.cli.open_rows import opened

    with opened(named, "Fitting") as rows:
        fitted = rows.fit(_chosen(rows, calibrator, curve, seed))
    fitted.save(output)
    if not quiet:
        say(f"{fitted.summary()}\nSaved to {output}")


def _chosen(rows: Any, calibrator: str | None, curve: str | None, seed: int) -> Any:
    """Return the calibrator that was named, or one that compares what that leaves open."""
    settings = {"inputs": rows.inputs, "classes": rows.classes}
    if not rows.has_time:
        return make(CALIBRATORS, calibrator or "temperature", settings)
    named = single(calibrator, curve, settings)
    if named is not None:
        return named
    return comparing(rows, candidates(_some(calibrator), _some(curve), rows.n_classes), seed)


def comparing(rows: Any, pairs: Any, seed: int) -> Any:
    """Return the calibrator that compares candidates."""
    import tempocal as tc

    return tc.AutoTemporalCalibrator(pairs, seed=seed, inputs=rows.inputs, classes=rows.classes)


def _some(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)

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
    """
    if named.time is None and curve not in (None, "constant"):
        raise click.UsageError(f"--curve {curve} needs a time: name its column with --time")
    from tempocal.cli.predictions import read_predictions
    from tempocal.cli.saying import say
    from tempocal.cli.waiting import waiting

    with waiting(f"Reading {named.file}"):
        rows = read_predictions(named)
    fitted = _fitted(rows, calibrator, curve, seed)
    fitted.save(output)
    if not quiet:
        say(f"{fitted.summary()}\nSaved to {output}")


def _fitted(rows: Any, calibrator: str | None, curve: str | None, seed: int) -> Any:
    """Fit what was named, or what does best of what that leaves open."""
    from tempocal.cli.waiting import waiting
    from tempocal.cli.wording import in_words_of_the_command

    settings = {"inputs": rows.inputs, "classes": rows.classes}
    if rows.time is None:
        fitted = make(CALIBRATORS, calibrator or "temperature", settings)
    else:
        fitted = single(calibrator, curve, settings)
    if fitted is None:
        pairs = candidates(_some(calibrator), _some(curve), rows.n_classes)
        return fit_auto(rows, pairs, seed)
    with waiting("Fitting"), in_words_of_the_command():
        return fitted.fit(**arguments(rows))


def fit_auto(rows: Any, pairs: Any, seed: int) -> Any:
    """Compare candidates on labelled predictions; it shows by itself how far it is."""
    import tempocal as tc
    from tempocal.cli.wording import in_words_of_the_command

    auto = tc.AutoTemporalCalibrator(pairs, seed=seed, inputs=rows.inputs, classes=rows.classes)
    with in_words_of_the_command():
        return auto.fit(**arguments(rows))


def arguments(rows: Any) -> dict[str, Any]:
    """Return labelled predictions as the arguments of a fit."""
    common = {
        "logits": rows.scores,
        "y": rows.labels,
        "groups": rows.groups,
        "sample_weight": rows.weight,
    }
    return common if rows.time is None else {**common, "time": rows.time}


def _some(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)

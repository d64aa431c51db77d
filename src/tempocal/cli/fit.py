"""``tempocal fit``: fit a calibrator to past predictions."""

from math import inf
from typing import Any

import click

from tempocal.cli.choices import (
    CALIBRATORS,
    bins_option,
    calibrator_option,
    candidates,
    combine_option,
    curve_option,
    curves_of,
    learns_from_forecasts,
    make,
    single,
    td_horizon_option,
)
from tempocal.cli.options import ColumnOptions, fit_options, seed, soft_label, subcommand
from tempocal.cli.options import output as output_option

# Of the check where a fit hurts on its own rows.
TIME_BINS = 10


@subcommand(
    "tempocal fit demo-output/predictions.csv --logits logit --label won --time round "
    "--sequence match -o model.json",
    "tempocal fit demo-output/predictions.csv --logits logit --label won --time round "
    '--sequence match --where "match < 200" --calibrator platt --curve spline '
    "--td-horizon 0.1 -o model.json",
)
@fit_options
@soft_label
@calibrator_option()
@curve_option
@combine_option
@bins_option
@td_horizon_option
@seed
@output_option("MODEL", "a model file")
@click.option("--verbose", is_flag=True, help="Print all that is known of the fit.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing.")
def command(
    options: ColumnOptions,
    *,
    calibrator: str | None,
    curve: tuple[str, ...],
    combine: str,
    bins: int | None,
    td_horizon: float | str | None,
    seed: int,
    output: str,
    verbose: bool,
    quiet: bool,
) -> None:
    """Learn a calibration from past predictions and save it.

    With --time, calibrators and curves are compared by cross-validation over sequences, with doing
    nothing among them, and averaged: the lower the loss, the larger the weight. With --combine
    choose the best is fitted, or none if nothing is gained. --calibrator and --curve restrict the
    candidates, both together to one. Without --time, one calibrator is fitted to all rows:
    temperature scaling, or that of --calibrator. Fit on rows that the model itself was not trained
    on.

    With --sequence and --time rows learn from the forecasts that follow them in their sequence,
    too, which helps most where sequences are few; --td-horizon inf is from outcomes only, and so is
    a calibrator that --combine choose chose.

    With --time, a fit that is surely worse than the raw predictions at some time, even on the rows
    that it was fitted to, says so.

    With two clocks, such as --time round,score, coefficients follow a product of two curves:
    --curve names one for each, in this order, or one for both. Default: two splines.

    A file of more than 3 million rows of Parquet, or 256 MB of text, may be larger than memory: it
    is aggregated with DuckDB, as in `evaluate`. The model is the same to nine digits. Choosing by
    comparison then needs --sequence or --group.
    """
    if options.time is None and curve not in ((), ("constant",)):
        raise click.UsageError(f"--curve {curve[0]} needs a time: name its column with --time")
    learns = learns_from_forecasts(options, td_horizon)
    from tempocal.cli.conclusion import conclusion
    from tempocal.cli.read_predictions import open_predictions
    from tempocal.cli.terminal import echo

    with open_predictions(options, "Fitting") as rows:
        curves = curves_of(curve, rows.n_clocks, bins)
        made = _make_calibrator(
            rows, calibrator, curves, td_horizon, bins=bins, seed=seed, combine=combine
        )
        fitted = rows.fit(made, learns=learns)
        hurts = [] if quiet else _where_it_hurts(rows, fitted, seed)
    fitted.save(output)
    if quiet:
        return
    if verbose:
        echo(f"{fitted.summary()}\n")
    echo("\n".join([*hurts, conclusion(fitted, rows, options, output)]))


def _where_it_hurts(rows: Any, fitted: Any, seed: int) -> list[str]:
    """Say at which times the model is surely worse than raw predictions, even on its own rows."""
    from tempocal.cli.gains import measure_gains
    from tempocal.cli.read_predictions import FilePredictions
    from tempocal.metrics.gain_table import effect_sentences

    if rows.n_clocks != 1 or not isinstance(rows, FilePredictions):
        return []
    paired = rows.paired(fitted._predictor(), fitted.classes_)
    gains = measure_gains(paired, rows.cut(paired, TIME_BINS), seed)
    assert gains.over_time is not None
    return effect_sentences(gains.over_time, "the model, on its own rows,", "hurts")


def _make_calibrator(
    rows: Any,
    calibrator: str | None,
    curves: tuple[Any, ...],
    td_horizon: Any,
    *,
    bins: int | None,
    seed: int,
    combine: str,
) -> Any:
    """Return the calibrator of the options, or one that compares the remaining candidates."""
    settings = {"inputs": rows.inputs, "classes": rows.classes}
    if not rows.has_time:
        return make(CALIBRATORS, calibrator or "temperature", settings)
    chosen = single(calibrator, curves[0] if curves else None, settings, td_horizon, bins)
    if chosen is not None:
        if combine == "choose":
            raise click.UsageError(
                "--combine choose needs several candidates to choose from: leave it out, or name "
                "only one of --calibrator and --curve"
            )
        return chosen
    if td_horizon not in (None, inf) and combine == "choose":
        raise click.UsageError(
            f"--td-horizon {td_horizon} needs candidates that are averaged, or one calibrator and "
            "one curve: with --combine choose they learn from outcomes only"
        )
    pairs = candidates(_as_tuple(calibrator), curves, rows.n_classes, bins)
    return make_comparison(rows, pairs, td_horizon, seed, combine)


def make_comparison(
    rows: Any, pairs: Any, td_horizon: Any, seed: int, combine: Any = "average"
) -> Any:
    """Return the calibrator that compares candidates, maybe all at one horizon."""
    import tempocal as tc
    from tempocal.temporal.candidates import candidates_at

    if td_horizon is not None:
        pairs = candidates_at(td_horizon, pairs, rows.n_classes)
    settings = {"seed": seed, "inputs": rows.inputs, "classes": rows.classes}
    return tc.AutoTemporalCalibrator(pairs, combine=combine, **settings)


def _as_tuple(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)

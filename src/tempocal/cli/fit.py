"""``tempocal fit``: fit a calibrator to past predictions."""

from math import inf
from typing import Any

import click

from tempocal.cli.choices import (
    CALIBRATORS,
    calibrator_option,
    candidates,
    combine_option,
    curve_option,
    curves_of,
    make,
    single,
    td_horizon_option,
)
from tempocal.cli.options import ColumnOptions, fit_options, seed, soft_label, subcommand
from tempocal.cli.options import output as output_option


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
@curve_option(multiple=True)
@combine_option
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

    With --td-horizon rows learn from the forecasts that follow them in their sequence, too, which
    helps most where sequences are few. A number needs one calibrator and one curve; with auto
    candidates that are averaged learn so, too.

    With two clocks, --time twice, coefficients follow a product of two curves: --curve names one
    for each, in this order, or one for both. Default: two splines.

    A file of more than 3 million rows of Parquet, or 256 MB of text, may be larger than memory: it
    is aggregated with DuckDB, as in `evaluate`. The model is the same to nine digits. Choosing by
    comparison then needs --sequence or --group.
    """
    if options.time is None and curve not in ((), ("constant",)):
        raise click.UsageError(f"--curve {curve[0]} needs a time: name its column with --time")
    learns = td_horizon not in (None, inf)
    if learns:
        _require_sequences(options, td_horizon)
    else:
        td_horizon = inf  # neither --sequence nor --order says that rows learn from forecasts
    from tempocal.cli.conclusion import conclusion
    from tempocal.cli.read_predictions import open_predictions
    from tempocal.cli.terminal import echo

    with open_predictions(options, "Fitting") as rows:
        curves = curves_of(curve, rows.n_clocks)
        made = _make_calibrator(rows, calibrator, curves, td_horizon, seed=seed, combine=combine)
        if learns and rows.n_clocks == 2 and options.order is None:
            raise click.UsageError(
                "--td-horizon needs to know which row follows which, and there are two clocks: "
                "name a column that puts them in order with --order"
            )
        fitted = rows.fit(made, in_order=learns)
    fitted.save(output)
    if quiet:
        return
    if verbose:
        echo(f"{fitted.summary()}\n")
    echo(conclusion(fitted, rows, options, output))


def _require_sequences(options: ColumnOptions, td_horizon: Any) -> None:
    """Refuse to learn from forecasts that follow a row, where none are known to."""
    for name in ("time", "sequence"):
        if getattr(options, name) is None:
            raise click.UsageError(
                f"--td-horizon {td_horizon} needs a {name}: name its column with --{name}"
            )


def _make_calibrator(
    rows: Any,
    calibrator: str | None,
    curves: tuple[Any, ...],
    td_horizon: Any,
    *,
    seed: int,
    combine: str,
) -> Any:
    """Return the calibrator of the options, or one that compares the remaining candidates."""
    settings = {"inputs": rows.inputs, "classes": rows.classes}
    if not rows.has_time:
        return make(CALIBRATORS, calibrator or "temperature", settings)
    chosen = single(calibrator, curves[0] if curves else None, settings, td_horizon)
    if chosen is not None:
        if combine == "choose":
            raise click.UsageError(
                "--combine choose needs several candidates to choose from: leave it out, or name "
                "only one of --calibrator and --curve"
            )
        return chosen
    if td_horizon == "auto" and combine == "choose":
        raise click.UsageError(
            "--td-horizon auto needs candidates that are averaged, or one calibrator and one "
            "curve: with --combine choose they learn from outcomes only"
        )
    if td_horizon not in (None, inf, "auto"):
        raise click.UsageError(
            f"--td-horizon {td_horizon} needs one calibrator and one curve: name them with "
            "--calibrator and --curve, or say --td-horizon auto for a comparison"
        )
    pairs = candidates(_as_tuple(calibrator), curves, rows.n_classes)
    return make_comparison(rows, pairs, seed, combine, by_outcomes=td_horizon == inf)


def make_comparison(
    rows: Any, pairs: Any, seed: int, combine: Any = "average", *, by_outcomes: bool
) -> Any:
    """Return the calibrator that compares candidates, maybe as fits to outcomes whatever is known.

    Without an order nothing is known of which rows follow each other.
    """
    import tempocal as tc
    from tempocal.temporal.candidates import default_candidates

    if by_outcomes:
        pairs = [
            tc.TemporalCalibrator(*pair, td_horizon=inf)
            for pair in pairs or default_candidates(rows.n_classes)
        ]
    settings = {"seed": seed, "inputs": rows.inputs, "classes": rows.classes}
    return tc.AutoTemporalCalibrator(pairs, combine=combine, **settings)


def _as_tuple(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)

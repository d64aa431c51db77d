"""``tempocal compare``: cross-validated comparison of calibrators and curves."""

import click

from tempocal.cli.choices import (
    bins_option,
    calibrator_option,
    candidates,
    curve_option,
    learns_from_forecasts,
    td_horizon_option,
)
from tempocal.cli.options import (
    ColumnOptions,
    as_json,
    ordered_options,
    seed,
    soft_label,
    subcommand,
)

HEAD = (
    "candidate",
    "NLL",
    "to best",
    "its error",
    "ECE over time",
    "parameters",
    "weight",
    "verdict",
)


@subcommand(
    "tempocal compare demo-output/predictions.csv --logits logit --label won --time "
    "round --sequence match --calibrator temperature --calibrator platt",
)
@ordered_options
@soft_label
@calibrator_option(multiple=True)
@curve_option
@bins_option
@td_horizon_option
@seed
@as_json
def command(
    options: ColumnOptions,
    *,
    calibrator: tuple[str, ...],
    curve: tuple[str, ...],
    bins: int | None,
    td_horizon: float | str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Compare calibrators and curves on sequences left out.

    By cross-validation with five folds of sequences. --calibrator and --curve, each as often as you
    like, select what to compare; no calibration (Identity) is always among the candidates.
    Differences are taken sequence by sequence. The weights are those of the average that `fit`
    makes of the same candidates. Like that, candidates learn from the forecasts that follow a row,
    unless --td-horizon is inf; what is left out is judged by its outcomes.
    """
    if options.time is None:
        raise click.UsageError("compare needs a time: name its column with --time")
    learns = learns_from_forecasts(options, td_horizon)
    from tempocal.cli.fit import make_comparison
    from tempocal.cli.read_predictions import open_predictions
    from tempocal.cli.terminal import echo, number, show_json, show_table

    with open_predictions(options, "Comparing") as rows:
        pairs = candidates(calibrator, curve, rows.n_classes, bins)
        made = make_comparison(rows, pairs, td_horizon, seed)
        comparison = rows.fit(made, learns=learns).comparison_
    if as_json:
        show_json({"groups": comparison.n_groups, "candidates": comparison.to_dicts()})
        return
    lines = [
        (
            one.name,
            *map(number, (one.nll, one.difference, one.difference_error, one.ece_over_time)),
            number(one.parameters, 1),
            number(one.weight, 2),
            one.verdict,
        )
        for one in comparison
    ]
    units = f"{comparison.n_groups} groups" if rows.has_clusters else "rows taken as independent"
    show_table(f"{rows.n_rows:,} rows, {units}; the best first", HEAD, lines)
    if not rows.has_clusters:
        echo(
            "Note: without --sequence rows are taken as independent; if some share a sequence, "
            "none of this can be trusted.",
            err=True,
        )

"""Calibrators and curves side by side, on sequences left out."""

import click

from tempocal.cli.choices import calibrator_option, candidates, curve_option
from tempocal.cli.options import Named, as_json, rows_of_file, seed, verb

HEAD = ("candidate", "NLL", "to best", "its error", "ECE over time", "parameters", "verdict")


@verb(
    "tempocal compare predictions.csv --logits z --label won --time t --sequence match",
)
@rows_of_file
@calibrator_option(multiple=True)
@curve_option(multiple=True)
@seed
@as_json
def command(
    named: Named,
    *,
    calibrator: tuple[str, ...],
    curve: tuple[str, ...],
    seed: int,
    as_json: bool,
) -> None:
    """Compare calibrators and curves on sequences left out.

    Every candidate is fitted to four fifths of the sequences and judged on the others, five times.
    --calibrator and --curve, each as often as you like, say which to compare; doing nothing
    (Identity) is always among them. Differences are taken sequence by sequence.
    """
    if named.time is None:
        raise click.UsageError("compare needs a time: name its column with --time")
    from tempocal.cli.echo import say
    from tempocal.cli.fit import comparing
    from tempocal.cli.open_rows import opened
    from tempocal.cli.terminal_tables import number, show_json, show_table

    with opened(named, "Comparing") as rows:
        pairs = candidates(calibrator, curve, rows.n_classes)
        comparison = rows.fit(comparing(rows, pairs, seed)).comparison_
    if as_json:
        show_json({"groups": comparison.n_groups, "candidates": comparison.to_dicts()})
        return
    lines = [
        (
            one.name,
            *map(number, (one.nll, one.difference, one.difference_error, one.ece_over_time)),
            number(one.parameters, 1),
            one.verdict,
        )
        for one in comparison
    ]
    units = f"{comparison.n_groups} groups" if rows.has_units else "rows taken as independent"
    show_table(f"{rows.n_rows:,} rows, {units}; the best first", HEAD, lines)
    if not rows.has_units:
        say(
            "Note: without --sequence rows are taken as independent; if some share a sequence, "
            "none of this can be trusted.",
            err=True,
        )

"""How far off predictions are, over all and along time."""

from math import isnan
from typing import Any

import click

from tempocal.cli.failures import AboveLimit
from tempocal.cli.options import Named, as_json, rows_of_file, seed, verb
from tempocal.cli.saying import say
from tempocal.errors import InputError


def _require_number(
    context: click.Context, option: click.Parameter, value: float | None
) -> float | None:
    """Refuse nan, which no error is ever above."""
    if value is not None and isnan(value):
        raise click.BadParameter("nan is not a number.")
    return value


@verb(
    "tempocal evaluate predictions.csv --logits z --label won --time t --sequence match",
    "tempocal evaluate new.csv --logits z --label won --time t --sequence match --model model.json",
)
@rows_of_file
@click.option("--model", metavar="MODEL", help="Model file: evaluate what it makes of them too.")
@click.option(
    "--bins",
    type=click.IntRange(min=1),
    default=20,
    metavar="N",
    help="Stretches of time, of about as many rows each. Default: 20.",
)
@click.option(
    "--max-ece",
    type=click.FloatRange(min=0.0),
    metavar="X",
    callback=_require_number,
    help="Exit with code 4 if the ECE over time (the model's, with --model) is surely above X: the "
    "lower end of its interval is.",
)
@seed
@as_json
def command(
    named: Named,
    *,
    model: str | None,
    bins: int,
    max_ece: float | None,
    seed: int,
    as_json: bool,
) -> None:
    """Measure how far off predictions are, over all and along time.

    Beside each error stands its 95 % interval over sequences, and beside each ECE its floor: what
    perfect probabilities would show on these rows. An error under twice its floor may be all
    noise; then only an upper end is given. "ECE over time" is the mean over stretches of time.
    Without --time no ECE is shown, for over all rows it hides the fault.
    """
    if max_ece is not None and named.time is None:
        raise click.UsageError("--max-ece is about the ECE over time: name its column with --time")
    from tempocal.cli.predictions import read_predictions
    from tempocal.cli.waiting import waiting

    with waiting(f"Reading {named.file}"):
        rows = read_predictions(named)
    with waiting("Measuring"):
        measured = _measured(rows, named, model, bins, seed)
    if as_json:
        _print_json(rows, measured)
    else:
        _print(rows, measured)
    _require_at_most(max_ece, measured[-1])


def _measured(rows: Any, named: Named, model: str | None, bins: int, seed: int) -> list[Any]:
    from tempocal.cli.calibrating import require_goes_with
    from tempocal.cli.measures import measure
    from tempocal.cli.wording import in_words_of_the_command
    from tempocal.fitted import read_model
    from tempocal.inputs import check_scores
    from tempocal.links import proba_from_logits

    with in_words_of_the_command():
        raw = proba_from_logits(check_scores(rows.scores, rows.inputs, name=rows.inputs))
        settings = {"bins": bins, "seed": seed}
        if model is None:
            return [measure("raw", rows, raw, classes=rows.classes, **settings)]
        fitted = read_model(model)
        columns = 1 if rows.scores.ndim == 1 else rows.scores.shape[1]
        clocks = len(fitted.time_kinds)
        if clocks > 1:
            raise InputError(
                "the model has two clocks: apply it first, then evaluate its column with --proba"
            )
        require_goes_with(fitted, named, columns, clocks and int(rows.time is not None))
        classes = _classes(fitted, rows)
        proba = fitted.predict_proba(rows.scores, rows.time if clocks else None)
        found = {"raw": raw, "calibrated": proba}
        return [measure(n, rows, p, classes=classes, **settings) for n, p in found.items()]


def _classes(fitted: Any, rows: Any) -> Any:
    """Return the model's classes, which must be those of the file."""
    known = fitted.classes.tolist()
    if rows.classes is not None and rows.classes != known:
        raise InputError(f"the classes of the model are {known}, but --classes {rows.classes}")
    return fitted.classes


def _print(rows: Any, measured: list[Any]) -> None:
    from tempocal.cli.tables import show_table

    show_table(_facts(rows), ["", *(one.name for one in measured)], _lines(measured))
    _print_class(rows, measured[0])
    if rows.time is not None:
        _print_profile(measured, "sequences" if rows.group is None else "groups")
    else:
        say("Note: for calibration errors, name the column of times with --time.", err=True)
    if rows.groups is None:
        say(
            "Note: without --sequence rows are taken as independent; if some share a sequence, "
            "intervals are too narrow and floors too low.",
            err=True,
        )


def _print_class(rows: Any, raw: Any) -> None:
    """Say whose probabilities one column is taken for, and that it looks like the other's."""
    if rows.scores.ndim > 1 and rows.scores.shape[1] > 1:
        return
    say(f"The predictions are taken as those of class {raw.classes[1]}.\n")
    if raw.reversed:
        say(
            f"Note: they fit class {raw.classes[0]} better. If they are that one's, say --classes "
            f"{raw.classes[1]},{raw.classes[0]}",
            err=True,
        )


def _lines(measured: list[Any]) -> list[list[str]]:
    """One line for each number, a column for each kind of predictions."""
    from tempocal.cli.tables import number

    lines = [
        ["NLL", *(_interval(one.nll) for one in measured)],
        ["Brier", *(_interval(one.brier) for one in measured)],
    ]
    if measured[0].over_time is None:
        return lines
    means = [one.over_time.mean for one in measured]
    return [
        *lines,
        ["ECE of all rows", *(_interval(one.ece) for one in measured)],
        ["  its floor", *(number(one.ece.floor) for one in measured)],
        ["ECE over time", *map(_interval, means)],
        ["  its floor", *(number(mean.floor) for mean in means)],
    ]


def _print_profile(measured: list[Any], units: str) -> None:
    from tempocal.cli.tables import number, show_table
    from tempocal.inputs import time_text

    first = measured[0].over_time
    head = ["from", "to", "rows", units]
    for one in measured:
        head += [f"{one.name} ECE", "floor"]
    lines = []
    for k in range(len(first)):
        line = [time_text(first.time_from[k]), time_text(first.time_to[k])]
        line += [f"{first.rows[k]:,}", f"{first.sequences[k]:,}"]
        for one in measured:
            table = one.over_time
            ends = (table.value[k], table.lower[k], table.upper[k], table.only_upper[k])
            line += [_range(*ends), number(table.floor[k])]
        lines.append(line)
    show_table(f"Along time: {first.estimator}", head, lines)


def _print_json(rows: Any, measured: list[Any]) -> None:
    from tempocal.cli.tables import show_json

    show_json(
        {
            "file": rows.name,
            "rows": len(rows.labels),
            "sequences": None if rows.sequence is None else len(rows.sequence.values),
            "groups": None if rows.group is None else len(rows.group.values),
            "predictions": [one.to_dict() for one in measured],
        }
    )


def _facts(rows: Any) -> str:
    facts = [f"{rows.name}: {len(rows.labels):,} rows"]
    for name, ids in (("sequences", rows.sequence), ("groups", rows.group)):
        if ids is not None:
            facts.append(f"{len(ids.values):,} {name}")
    return ", ".join(facts)


def _interval(estimate: Any) -> str:
    return _range(float(estimate), estimate.lower, estimate.upper, estimate.only_upper)


def _range(value: float, lower: float, upper: float, only_upper: bool) -> str:
    from tempocal.cli.tables import number

    ends = f"up to {number(upper)}" if only_upper else f"{number(lower)} to {number(upper)}"
    return f"{number(value)} ({ends})"


def _require_at_most(max_ece: float | None, judged: Any) -> None:
    if max_ece is not None and judged.over_time.mean.lower > max_ece:
        raise AboveLimit(
            f"the ECE over time of the {judged.name} predictions is "
            f"{_interval(judged.over_time.mean)}, above --max-ece {max_ece:g}"
        )

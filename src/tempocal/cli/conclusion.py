"""What ``tempocal fit`` says at its end: two sentences, and the next command."""

import shlex
from typing import Any

from tempocal.cli.options import ColumnOptions


def conclusion(fitted: Any, rows: Any, options: ColumnOptions, output: str) -> str:
    """Return what was fitted to how many rows, what it gains, and what to run next."""
    summary = fitted.summary()
    count, units = rows.n_sequences, "sequences"
    if rows.n_groups is not None:
        count, units = rows.n_groups, "groups"
    of = "" if count is None else f" of {count:,} {units}"
    return (
        f"Fitted to {rows.n_rows:,} rows{of}: {_name(summary)}. {_gain(summary)}\n"
        f"Saved to {output}. Next, on new predictions:\n\n  {_next(options, output)}\n\n"
        "Details: --verbose."
    )


def _name(summary: Any) -> str:
    name = str(summary.calibrator)
    weights = summary.details.get("weights")
    if isinstance(weights, str):
        name += f", the largest weight on {weights.split('; ')[0].partition(' ')[2]}"
    return name[0].lower() + name[1:] if name.startswith("Average") else name


def _gain(summary: Any) -> str:
    found = summary.details.get("gain_on_new_rows")
    interval = summary.details.get("gain_on_new_rows_interval")
    if found is None or interval is None:
        return (
            f"On these rows the NLL goes from {summary.nll_before:.4f} to {summary.nll_after:.4f}, "
            "which new rows may not: evaluate it on some."
        )
    lower, upper = interval
    told = f"by {found:.4f} (95 % interval {lower:.4f} to {upper:.4f})"
    if lower > 0.0:
        return f"On new rows the NLL is expected to fall {told}."
    if found <= 0.0:
        return "On new rows it is not expected to lower the NLL: it does next to nothing."
    return f"Whether it helps on new rows cannot be told: the NLL is expected to fall {told}."


def _next(options: ColumnOptions, output: str) -> str:
    role = "logits" if options.logits else "proba"
    words = ["tempocal", "apply", output, "new" + _suffix(options)]
    for name in getattr(options, role):
        words += [f"--{role}", name]
    if options.elapsed is not None:
        words += ["--elapsed", options.elapsed, "--sequence", str(options.sequence)]
    elif options.times:
        for name in options.times:
            words += ["--time", name]
    return shlex.join([*words, "-o", "calibrated" + _suffix(options)])


def _suffix(options: ColumnOptions) -> str:
    known = (".parquet", ".pq", ".jsonl", ".ndjson")
    return next((one for one in known if options.file.endswith(one)), ".csv")

"""What an average of candidates is worth on predictions of real models on real sequences.

Of the sequences in a file of ``experiments/results/predictions`` some are drawn; `Weights` averages
the candidates fitted to them, and all other sequences judge the average and every candidate.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tempocal as tc
from tempocal.calibrators.fit_data import check_rows
from tempocal.inputs import check_time
from tempocal.links import log_proba_from_logits
from tempocal.temporal.averaging import Weights
from tempocal.temporal.candidates import default_candidates
from tempocal.temporal.cross_validation import Contender, Trial, cross_validate
from tempocal.temporal.fit_along_time import one_blas_thread
from tempocal.temporal.held_out_folds import held_out_folds
from tempocal.temporal.judging import forecasts_that_judge
from validation import real
from validation.paired import (
    BLOCKS,
    LabeledForecasts,
    apart,
    blocks_of,
    difference,
    mean_nll,
    some_of,
)

Array = NDArray[np.float64]
COUNTS = (50, 150)
# Draws are not those of `real`; of the rows that judge, about so many are taken.
FIRST_SEED, TEST_ROWS = 1000, 8000


def tasks(sets: int) -> list[dict[str, Any]]:
    """Draw sequences of each set."""
    return [
        {"set": name, "sequences": sequences, "seed": FIRST_SEED + seed}
        for seed in range(sets)
        for sequences in COUNTS
        for name in real.SETS
    ]


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Average the candidates fitted to one draw of one set, and judge them."""
    rows = real.read(task["set"])
    drawn = np.isin(rows.sequence, some_of(rows.sequence, task["sequences"], seed=task["seed"]))
    others = apart(rows, drawn)
    test = rows.take(others[:: max(1, len(others) // TEST_ROWS)])
    block = blocks_of(rows.groups)[test.groups]
    trials = _trials(rows.take(drawn))
    n_groups = len(np.unique(rows.groups[drawn]))
    weights = Weights.of(trials, n_groups, identity=0).values
    odds = {one.held_out.name: _odds(one, test) for one in trials if one.fitted is not None}
    average = sum(
        weight * odds[one.held_out.name]
        for weight, one in zip(weights.tolist(), trials, strict=True)
        if weight > 0.0
    )
    losses = {"auto": average, **odds}
    return {
        **task,
        "rows": np.bincount(block, minlength=BLOCKS).tolist(),
        "nll": {name: _losses(each, test, block) for name, each in losses.items()},
    }


def _trials(few: LabeledForecasts) -> list[Trial]:
    times = check_time(few.time, len(few.time), clocks=1)
    settings: dict[str, Any] = {"sample_weight": None, "inputs": "logits", "classes": [0, 1]}
    data = check_rows(
        few.logits,
        few.label,
        groups=few.groups,
        sequence=few.sequence,
        order=np.arange(len(few.label)),
        times=times,
        **settings,
    ).data
    pairs = [(tc.Identity(), tc.Constant()), *default_candidates(2)]
    contenders = [Contender(*pair, "auto") for pair in pairs]
    folds = held_out_folds(data, 5, 0)
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", tc.errors.TempocalWarning)
        return cross_validate(contenders, data, folds, False, forecasts_that_judge(data))


def _odds(trial: Trial, test: LabeledForecasts) -> Array:
    assert trial.fitted is not None
    log_p = log_proba_from_logits(trial.fitted.fitted.map(test.logits, test.time))
    return np.asarray(log_p[:, 1] - log_p[:, 0])


def _losses(odds: Any, test: LabeledForecasts, block: NDArray[np.intp]) -> list[float]:
    loss = np.logaddexp(0.0, np.where(test.label == 1, -odds, odds))
    sums: list[float] = np.bincount(block, loss, minlength=BLOCKS).round(6).tolist()
    return sums


def table(results: list[dict[str, Any]]) -> str:
    """NLL, and differences in thousandths with the upper ends of one-sided 95 % intervals."""
    lines = [
        "| set | sequences | draws | raw | auto | best fixed | auto - raw | +- | upper end "
        "| auto - best fixed | +- | upper end |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for key in sorted({(one["set"], one["sequences"]) for one in results}):
        cell = [one for one in results if (one["set"], one["sequences"]) == key]
        lines.append("| " + " | ".join([*map(str, key), str(len(cell)), *_numbers(cell)]) + " |")
    return "\n".join(lines)


def _numbers(cell: list[dict[str, Any]]) -> list[str]:
    fitted = set.intersection(*(set(one["nll"]) for one in cell)) - {"auto", "Identity"}
    best = min(sorted(fitted), key=lambda name: mean_nll(cell, name))
    levels = [f"{mean_nll(cell, name):.4f}" for name in ("Identity", "auto", best)]
    found = [difference(cell, "auto", other) for other in ("Identity", best)]
    numbers = [
        f"{1000 * value:{sign}.2f}"
        for one in found
        for value, sign in ((one.mean, "+"), (one.error, ""), (one.upper, "+"))
    ]
    return [*levels, *numbers]

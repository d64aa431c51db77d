"""What an average of candidates is worth: its harm to a model that is right, its gain else.

Everything is fitted once for each set: the candidates to outcomes and, beside that, from the
forecasts in between; on these fits the rules are compared. With sequences there are two: judged by
outcomes, as fits to outcomes are, and by the forecasts that follow. Excess is the expected NLL
beyond that of the true probabilities.
"""

import warnings
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

import tempocal as tc
from tempocal.calibrators.fit_data import FitData, check_rows
from tempocal.datasets import simulate_match
from tempocal.inputs import check_time
from tempocal.links import log_proba_from_logits
from tempocal.temporal.averaging import Weights
from tempocal.temporal.candidates import default_candidates
from tempocal.temporal.comparison import compare
from tempocal.temporal.cross_validation import Contender, Trial, cross_validate
from tempocal.temporal.fit_along_time import one_blas_thread
from tempocal.temporal.held_out_folds import held_out_folds
from tempocal.temporal.judging import forecasts_that_judge

Array = NDArray[np.float64]
SIMULATORS = ("matches", "walks")
MODELS = ("calibrated", "distorted")
SIZES = (20, 50, 150, 500)
# Sequences on which predictions are judged, of a seed that no fit has.
TEST_SEQUENCES, TEST_SEED = 300, 10**9
STEPS = 20


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Fit all candidates to one simulated set, and judge what is made of them."""
    warnings.simplefilter("ignore", tc.errors.TempocalWarning)
    simulated = simulate(task["simulator"], task["model"], task["sequences"], task["seed"])
    z, y, time, sequence, _ = simulated
    times = check_time(time, len(z), clocks=1)
    settings: dict[str, Any] = {"sample_weight": None, "inputs": "logits", "classes": [0, 1]}
    data = check_rows(z, y, groups=None, sequence=sequence, times=times, **settings).data
    with one_blas_thread():
        by_outcomes = _trials(data, np.inf)
        from_forecasts = _trials(data, "auto")
    _, chosen = compare([one.held_out for one in by_outcomes], data, identity=0)
    odds, odds_td = _odds(by_outcomes, task), _odds(from_forecasts, task)
    rules = {
        "choose": odds[chosen],
        "average": _weights(by_outcomes, data) @ odds,
        "sequences, judged by outcomes": _weights(_without_ahead(from_forecasts), data) @ odds_td,
        "sequences": _weights(from_forecasts, data) @ odds_td,
    }
    return {
        **task,
        "excess": {name: _excess(each, task) for name, each in rules.items()},
        "fixed": [_excess(each, task) for each in odds],
        "fixed, sequences": [_excess(each, task) for each in odds_td],
    }


def _trials(data: FitData, horizon: Any) -> list[Trial]:
    pairs = [(tc.Identity(), tc.Constant()), *default_candidates(2)]
    contenders = [Contender(*pair, horizon) for pair in pairs]
    judges = forecasts_that_judge(data) if horizon == "auto" else None
    return cross_validate(contenders, data, held_out_folds(data, 5, 0), False, judges)


def _without_ahead(trials: list[Trial]) -> list[Trial]:
    return [replace(one, held_out=replace(one.held_out, ahead=None)) for one in trials]


def _weights(trials: list[Trial], data: FitData) -> Array:
    assert data.groups is not None
    return Weights.of(trials, data.groups.count, identity=0).values


def _odds(trials: list[Trial], task: dict[str, Any]) -> Array:
    """Calibrated log-odds of new rows, one row for each candidate."""
    z, _, time, *_ = _test(task["simulator"], task["model"])
    maps = [one.fitted.fitted.map for one in trials if one.fitted is not None]
    log_p = [log_proba_from_logits(fitted(z, time)) for fitted in maps]
    return np.stack([each[:, 1] - each[:, 0] for each in log_p])


def _excess(odds: Array, task: dict[str, Any]) -> float:
    p = _test(task["simulator"], task["model"])[-1]
    loss = p * np.logaddexp(0.0, -odds) + (1.0 - p) * np.logaddexp(0.0, odds)
    return float((loss + p * np.log(p) + (1.0 - p) * np.log1p(-p)).mean())


@lru_cache(maxsize=4)
def _test(simulator: str, model: str) -> tuple[Any, ...]:
    return simulate(simulator, model, TEST_SEQUENCES, TEST_SEED)


def simulate(simulator: str, model: str, n: int, seed: int) -> tuple[Any, ...]:
    """Return logits, outcomes, times, sequences and the true probabilities."""
    if simulator == "walks":
        return _walks(n, seed, model)
    matches = simulate_match(n, seed=seed)
    p = matches.true_probability
    logits = matches.logits if model == "distorted" else np.log(p) - np.log1p(-p)
    return logits, matches.label, matches.time.astype(float), matches.sequence, p


def _walks(n: int, seed: int, model: str) -> tuple[Any, ...]:
    """Simulate random walks of which the sign at the end is predicted.

    The distorted model is too sure in the middle, and has a bias that swings.
    """
    rng = np.random.default_rng([seed, 20])
    start, steps = 2.0 * rng.normal(size=(n, 1)), rng.normal(size=(n, STEPS))
    position = start + np.cumsum(steps, axis=1) - steps
    t = np.arange(STEPS)
    p = np.clip(norm.cdf(position / np.sqrt(STEPS - t)), 1e-9, 1.0 - 1e-9)
    odds = np.log(p) - np.log1p(-p)
    if model == "distorted":
        odds = (odds - 0.2 * np.sin(t / 3.0)) / (1.0 - 0.5 * np.exp(-0.5 * ((t - 10.0) / 4.0) ** 2))
    won = (start + steps.sum(axis=1, keepdims=True) > 0.0).astype(int)
    sequence = np.repeat(np.arange(n), STEPS)
    time = np.tile(t, n).astype(float)
    return odds.ravel(), np.repeat(won, STEPS), time, sequence, p.ravel()


def table(results: list[dict[str, Any]]) -> str:
    """Mean excess of each rule, in thousandths, beside the best fixed candidate."""
    rules = list(results[0]["excess"])
    names = [
        "raw",
        *rules,
        "95th percentile",
        "sequences - choose",
        "best fixed",
        "best fixed, sequences",
    ]
    lines = [
        "| simulator | model | sequences | sets | " + " | ".join(names) + " |",
        "|---|---|---|---|" + "---|" * len(names),
    ]
    for simulator in SIMULATORS:
        for model in MODELS:
            for n in SIZES:
                wanted = (simulator, model, n)
                sets = [
                    r for r in results if (r["simulator"], r["model"], r["sequences"]) == wanted
                ]
                if sets:
                    cells = " | ".join(_cells(sets, rules))
                    lines.append(f"| {simulator} | {model} | {n} | {len(sets)} | {cells} |")
    return "\n".join(lines)


def _cells(sets: list[dict[str, Any]], rules: list[str]) -> list[str]:
    excess = {rule: 1000 * np.array([one["excess"][rule] for one in sets]) for rule in rules}
    fixed, ahead = (
        1000 * np.array([one[name] for one in sets]).mean(axis=0)
        for name in ("fixed", "fixed, sequences")
    )
    latest = excess[rules[-1]]
    return [
        f"{fixed[0]:.2f}",
        *(_mean(excess[rule]) for rule in rules),
        f"{np.quantile(latest, 0.95):.2f}",
        _mean(latest - excess["choose"]),
        f"{fixed[1:].min():.2f}",
        f"{ahead[1:].min():.2f}",
    ]


def _mean(values: Array) -> str:
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{values.mean():.2f} +- {error:.2f}"

"""Intensive care: a Markov chain estimated from patients, whose true survival is known.

The chain is that of ICU-Sepsis (Choudhary et al., 2024), estimated from MIMIC-III, under the policy
of the clinicians. Its matrix gives the probability of survival in every state. The model predicts
the log-odds of that, too large in the middle of an episode; fits to few episodes recover the truth.
"""

import warnings
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tempocal as tc

Array = NDArray[np.float64]
HORIZONS: dict[str, Any] = {"outcomes": np.inf, "auto": "auto", "0.1": 0.1}
COUNTS = (100,)
# States of the chain: the patients' are the first, then come the ends.
PATIENTS, DEATH, SURVIVAL = 713, 713, 714
# Episodes on which predictions are judged, of a seed that no fit has.
TEST_EPISODES, TEST_SEED = 4000, 10**9
MISSING = (
    "icu: the chain is in the package icu-sepsis, which is not installed: "
    "pip install --no-deps icu-sepsis==2.0.1"
)


def tasks(sets: int) -> list[dict[str, Any]]:
    """Make sets of episodes; none without the package that has the chain."""
    if find_spec("icu_sepsis") is None:
        return []
    return [{"episodes": count, "seed": seed} for seed in range(sets) for count in COUNTS]


@dataclass(frozen=True)
class Chain:
    """Transition probabilities, their sums from the left, the first states, and survival."""

    transitions: Array  # (patients, states)
    first: Array  # (states,)
    survival: Array  # (patients,)


@cache
def _chain() -> Chain:
    spec = find_spec("icu_sepsis")
    assert spec is not None, MISSING
    assert spec.origin is not None
    # Read as data: to import the package would need two libraries of environments.
    found = np.load(Path(spec.origin).parent / "envs" / "assets" / "dynamics.npz")
    by_action = found["tx_mat"][:PATIENTS]
    transitions = np.einsum("sa,sat->st", found["expert_policy"][:PATIENTS], by_action)
    among_patients = np.eye(PATIENTS) - transitions[:, :PATIENTS]
    survival = np.linalg.solve(among_patients, transitions[:, SURVIVAL])
    return Chain(transitions, found["d_0"], survival)


@dataclass(frozen=True)
class Episodes:
    """A row for each state on the way to survival or death."""

    probability: Array  # of survival, the true one
    label: NDArray[np.int64]
    time: Array
    sequence: NDArray[np.int64]

    @property
    def logits(self) -> Array:
        """What the model says: the true log-odds, up to 2.5 times too large around step 5."""
        p = self.probability
        hump = 1.0 + 1.5 * np.exp(-(((self.time - 5.0) / 3.0) ** 2))
        return np.asarray(hump * (np.log(p) - np.log1p(-p)))


def simulate(count: int, seed: int) -> Episodes:
    """Let patients go through the chain to its ends."""
    chain, rng = _chain(), np.random.default_rng(seed)
    reached = chain.transitions.cumsum(axis=1)
    state = rng.choice(len(chain.first), size=count, p=chain.first)
    states, steps, ids = [], [], []
    present = np.arange(count)
    for step in range(10_000):
        present = present[state[present] < PATIENTS]
        if not len(present):
            break
        states.append(state[present])
        steps.append(np.full(len(present), float(step)))
        ids.append(present)
        rows = reached[state[present]]
        drawn = rng.random(len(present)) * rows[:, -1]
        state[present] = (rows <= drawn[:, None]).sum(axis=1)
    sequence = np.concatenate(ids)
    order = np.argsort(sequence, kind="stable")
    sequence = sequence[order]
    return Episodes(
        chain.survival[np.concatenate(states)[order]],
        (state == SURVIVAL).astype(np.int64)[sequence],
        np.concatenate(steps)[order],
        sequence,
    )


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Fit by every horizon to one set of episodes and compare with the truth on others."""
    episodes = simulate(task["episodes"], task["seed"])
    test = _test()
    squared = {"raw": _squared_error(1.0 / (1.0 + np.exp(-test.logits)))}
    taken = {}
    for name, horizon in HORIZONS.items():
        fitted = _fit(episodes, horizon)
        squared[name] = _squared_error(fitted.predict_proba(test.logits, time=test.time)[:, 1])
        taken[name] = fitted.td_horizon_
    horizon = taken["auto"]
    return {
        **task,
        "squared_error": squared,
        "taken": horizon if np.isfinite(horizon) else "outcomes",
    }


def _fit(episodes: Episodes, horizon: Any) -> Any:
    calibrator = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline(), td_horizon=horizon)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tc.errors.TempocalWarning)
        return calibrator.fit(
            episodes.logits, episodes.label, time=episodes.time, sequence=episodes.sequence
        )


@cache
def _test() -> Episodes:
    return simulate(TEST_EPISODES, TEST_SEED)


def _squared_error(probability: Array) -> float:
    return float(((probability - _test().probability) ** 2).mean())


def table(results: list[dict[str, Any]]) -> str:
    """Root mean square error of the probabilities, as a mean over sets."""
    if not results:
        return MISSING
    names = ["raw", *HORIZONS]
    lines = [
        "| episodes | sets | "
        + " | ".join(names)
        + " | auto over outcomes | +- | auto took outcomes |",
        "|---|---|" + "---|" * (len(names) + 3),
    ]
    for count in sorted({one["episodes"] for one in results}):
        sets = [one for one in results if one["episodes"] == count]
        errors = {name: np.array([one["squared_error"][name] for one in sets]) for name in names}
        cells = [f"{np.sqrt(errors[name].mean()):.4f}" for name in names]
        by_outcomes = np.mean([one["taken"] == "outcomes" for one in sets])
        ratio, error = _ratio(errors["auto"], errors["outcomes"])
        lines.append(
            f"| {count} | {len(sets)} | "
            + " | ".join(cells)
            + f" | {ratio:.2f} | {error:.2f} | {100 * by_outcomes:.0f} % |"
        )
    return "\n".join(lines)


def _ratio(one: Array, other: Array) -> tuple[float, float]:
    """Ratio of two root mean square errors over paired sets, and its standard error."""
    ratio = float(np.sqrt(one.mean() / other.mean()))
    residual = one / one.mean() - other / other.mean()
    return ratio, float(ratio / 2 * residual.std(ddof=1) / np.sqrt(len(one)))

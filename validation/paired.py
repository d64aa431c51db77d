"""Two fits to the same few sequences, compared on all others, and what chance does to that."""

import warnings
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tempocal as tc

Array = NDArray[np.float64]
HORIZONS: dict[str, Any] = {"outcomes": np.inf, "auto": "auto"}
# Parts of the test sequences: how much these differ says what other test sequences would change.
BLOCKS = 40
ONE_SIDED_95 = 1.645


@dataclass(frozen=True)
class LabeledForecasts:
    """Forecasts of sequences; the rows of a sequence lie one after the other, in their order."""

    logits: Array
    label: NDArray[Any]
    time: Array
    sequence: NDArray[Any]
    groups: NDArray[Any]

    def take(self, rows: NDArray[Any]) -> "LabeledForecasts":
        """Return some of the rows."""
        return LabeledForecasts(*(getattr(self, field.name)[rows] for field in fields(self)))

    def at_most(self, count: int) -> "LabeledForecasts":
        """Return the rows of so many sequences, always the same."""
        return self.take(np.isin(self.sequence, some_of(self.sequence, count, seed=0)))


def some_of(ids: NDArray[Any], count: int, *, seed: int) -> NDArray[Any]:
    """Draw so many ids."""
    return np.random.default_rng(seed).permutation(np.unique(ids))[:count]


def compare(
    rows: LabeledForecasts,
    make: Any,
    count: int,
    seed: int,
    *,
    horizons: dict[str, Any] | None = None,
    every: int = 1,
) -> dict[str, Any]:
    """Fit to some sequences by each horizon; judge on those that share no group with them.

    One in ``every`` rows is judged on: of long sequences not all are needed.
    """
    drawn = np.isin(rows.sequence, some_of(rows.sequence, count, seed=seed))
    few, test = rows.take(drawn), rows.take(apart(rows, drawn)[::every])
    block = blocks_of(rows.groups)[test.groups]
    raw = _fit(tc.TemporalCalibrator(tc.Identity(), tc.Constant()), few, np.inf)
    fits = {name: _fit(make(), few, by) for name, by in (horizons or HORIZONS).items()}
    return {
        "rows": np.bincount(block, minlength=BLOCKS).tolist(),
        "nll": {name: _losses(one, test, block) for name, one in {"raw": raw, **fits}.items()},
        **_choice(fits["auto"]),
    }


def apart(rows: LabeledForecasts, drawn: NDArray[Any]) -> NDArray[np.intp]:
    """Return the rows of groups that nothing was drawn from."""
    return np.flatnonzero(~np.isin(rows.groups, rows.groups[drawn]))


def _losses(fitted: Any, test: LabeledForecasts, block: NDArray[np.intp]) -> list[float] | None:
    """Sum the NLL of each block."""
    if fitted is None:
        return None
    log_p = fitted.predict_log_proba(test.logits, time=test.time)
    loss = -log_p[np.arange(len(test.label)), test.label]
    sums: list[float] = np.bincount(block, loss, minlength=BLOCKS).round(6).tolist()
    return sums


def _choice(fitted: Any) -> dict[str, Any]:
    """Return the horizon of "auto", and why it was taken."""
    if fitted is None:
        return {}
    taken = fitted.td_horizon_
    return {
        "taken": taken if np.isfinite(taken) else "outcomes",
        "because": fitted.summary().details["td_horizon_because"],
    }


def _fit(calibrator: Any, rows: LabeledForecasts, horizon: Any) -> Any:
    """Return the fit, or None if there is none, or a class has not been drawn."""
    n_classes = 2 if rows.logits.ndim == 1 else rows.logits.shape[1]
    if len(np.unique(rows.label)) < n_classes:
        return None
    calibrator.set_params(td_horizon=horizon)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tc.errors.TempocalWarning)
        try:
            return calibrator.fit(
                rows.logits,
                rows.label,
                time=rows.time,
                sequence=rows.sequence,
                order=np.arange(len(rows.label)),
                groups=rows.groups,
            )
        except tc.errors.NoFiniteOptimumError:
            return None


def blocks_of(groups: NDArray[Any]) -> NDArray[np.intp]:
    """Return the block of each group id."""
    ids = np.unique(groups)
    blocks = np.zeros(int(ids.max()) + 1, dtype=np.intp)
    blocks[np.random.default_rng(1).permutation(ids)] = np.arange(len(ids)) % BLOCKS
    return blocks


@dataclass(frozen=True)
class Difference:
    """Mean difference of NLL between two fits, and its standard error."""

    mean: float
    error: float

    @property
    def upper(self) -> float:
        """Upper end of a one-sided 95 % interval."""
        return self.mean + ONE_SIDED_95 * self.error


def difference(results: list[dict[str, Any]], one: str, other: str) -> Difference:
    """Mean difference over draws; its error is that over draws and over test sequences.

    Draws and blocks of test sequences are crossed: the variance of the mean is that of the means of
    draws plus that of the means of blocks, less that of what neither explains, counted twice.
    """
    cells = np.array(
        [
            (np.array(found["nll"][one]) - found["nll"][other]) / np.mean(found["rows"])
            for found in results
            if found["nll"][one] is not None and found["nll"][other] is not None
        ]
    )
    draws, blocks = cells.mean(axis=1), cells.mean(axis=0)
    rest = cells - draws[:, None] - blocks + cells.mean()
    n, m = cells.shape
    twice = (rest**2).sum() / ((n - 1) * (m - 1)) / (n * m)
    variance = draws.var(ddof=1) / n + blocks.var(ddof=1) / m - twice
    return Difference(float(cells.mean()), float(np.sqrt(max(variance, 0.0))))


def mean_nll(results: list[dict[str, Any]], name: str) -> float:
    """Mean NLL over draws."""
    known = [found for found in results if found["nll"][name] is not None]
    return float(np.mean([np.sum(found["nll"][name]) / np.sum(found["rows"]) for found in known]))

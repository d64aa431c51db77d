"""The metrics that `evaluate` shows, with intervals and floors."""

from dataclasses import dataclass
from typing import Any

from tempocal.formula.nodes import Column
from tempocal.metrics import OverTime, brier, ece, nll
from tempocal.metrics.gain import estimate_gain
from tempocal.metrics.over_time import estimate_over_time, estimate_overall
from tempocal.metrics.scored_rows import ScoredRows
from tempocal.metrics.time_bins import TimeBins

LEVEL = 0.95


@dataclass(frozen=True)
class Measures:
    """The metrics of raw or calibrated predictions."""

    name: str
    nll: Any  # each an IntervalEstimate
    brier: Any
    ece: Any  # None without times
    over_time: OverTime | None
    classes: tuple[str, ...]
    reversed: bool  # whether the other of two classes fits better

    def to_dict(self) -> dict[str, Any]:
        """Return all metrics, ready for JSON."""
        content: dict[str, Any] = {"name": self.name, "nll": _one(self.nll)}
        content["brier"] = _one(self.brier)
        if self.over_time is not None:
            content["ece"] = _one(self.ece)
            content["ece_over_time"] = {
                "mean": _one(self.over_time.mean),
                "stretches": _time_bins_to_dicts(self.over_time),
            }
        return content


def measure(
    name: str, rows: ScoredRows, time_bins: TimeBins | None, classes: Any, seed: int
) -> Measures:
    """Evaluate probabilities, also along time if there are time bins."""
    swapped = [f"p{k}" for k in reversed(range(rows.n_classes))]
    other = rows.with_columns({f"after{k}": Column(p) for k, p in enumerate(swapped)})
    return Measures(
        name,
        estimate_overall(rows, nll, LEVEL, seed),
        estimate_overall(rows, brier, LEVEL, seed),
        None if time_bins is None else estimate_overall(rows, ece, LEVEL, seed),
        None
        if time_bins is None
        else estimate_over_time(rows.in_time_bins(time_bins), ece, LEVEL, seed),
        tuple(str(one) for one in classes),
        rows.n_classes == 2 and estimate_gain(other, nll, LEVEL) > 0.0,
    )


def _one(estimate: Any) -> dict[str, Any]:
    return {
        "value": float(estimate),
        "lower": None if estimate.only_upper else float(estimate.lower),
        "upper": float(estimate.upper),
        "floor": float(estimate.floor),
        "level": float(estimate.level),
        "estimator": estimate.estimator,
    }


def _time_bins_to_dicts(profile: OverTime) -> list[dict[str, Any]]:
    columns = profile.columns()
    only_upper = columns.pop("only_upper").tolist()
    listed = {
        name: [str(v) for v in column] if column.dtype.kind in "mM" else column.tolist()
        for name, column in columns.items()
    }
    rows = [dict(zip(listed, row, strict=True)) for row in zip(*listed.values(), strict=True)]
    return [
        {**row, "lower": None if bound else row["lower"]}
        for row, bound in zip(rows, only_upper, strict=True)
    ]

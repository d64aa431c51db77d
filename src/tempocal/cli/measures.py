"""The metrics that `evaluate` shows, with intervals and floors."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tempocal.cli.read_predictions import FilePredictions
from tempocal.links import Array
from tempocal.metrics import OverTime, brier, ece, nll, over_time, with_interval
from tempocal.metrics.in_tables.estimate import estimate_over_time, estimate_overall
from tempocal.metrics.in_tables.scored_frame import ScoredFrame

LEVEL = 0.95
TIME_COLUMNS = ("time_from", "time_to", "time_middle")


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
    name: str, rows: FilePredictions, proba: Array, *, bins: int, classes: Any, seed: int
) -> Measures:
    """Evaluate probabilities for rows in memory."""
    given = {
        "groups": rows.groups,
        "sample_weight": rows.weight,
        "classes": classes,
        "seed": seed,
    }
    y, time = rows.labels, rows.time
    found = np.unique(y) if classes is None else classes
    rows_only: Any = {"sample_weight": rows.weight, "classes": found}
    return Measures(
        name,
        with_interval(nll, y, proba, **given),
        with_interval(brier, y, proba, **given),
        None if time is None else with_interval(ece, y, proba, **given),
        None if time is None else over_time(ece, y, proba, time, bins=bins, **given),
        tuple(str(one) for one in found),
        len(found) == 2 and nll(y, proba[:, ::-1], **rows_only) < nll(y, proba, **rows_only),
    )


def measure_table(name: str, rows: ScoredFrame, *, bins: int, classes: Any, seed: int) -> Measures:
    """Evaluate probabilities in a table."""
    given: Any = {"level": LEVEL, "seed": seed}
    score = estimate_overall(rows, nll, **given)
    return Measures(
        name,
        score,
        estimate_overall(rows, brier, **given),
        estimate_overall(rows, ece, **given) if rows.rows.time_kind else None,
        estimate_over_time(rows, ece, bins=bins, **given) if rows.rows.time_kind else None,
        tuple(str(one) for one in classes),
        rows.n_classes == 2 and estimate_overall(rows.swapped(), nll, **given) < score,
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

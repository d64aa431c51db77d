"""What a model gains over the predictions as they were, paired by sequence."""

from dataclasses import dataclass
from typing import Any

from tempocal.metrics import GainOverTime, IntervalEstimate, brier, nll
from tempocal.metrics.gain import estimate_gain
from tempocal.metrics.gain_over_time import estimate_gain_over_time
from tempocal.metrics.gain_table import effect_sentences
from tempocal.metrics.scored_rows import ScoredRows
from tempocal.metrics.time_bins import TimeBins

LEVEL = 0.95


@dataclass(frozen=True)
class Gains:
    """Gains over all rows, and of the NLL along time."""

    nll: IntervalEstimate
    brier: IntervalEstimate
    over_time: GainOverTime | None

    def sentences(self) -> list[str]:
        """Say whether the model helps over all, and where it surely helps or hurts."""
        overall = f"Over all rows the model {_overall(self.nll)}."
        if self.over_time is None:
            return [overall]
        along = effect_sentences(self.over_time, "the model")
        return [overall, *(along or ["At no time is it sure to help or to hurt."])]

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers, ready for JSON."""
        content: dict[str, Any] = {"nll": _one(self.nll), "brier": _one(self.brier)}
        if self.over_time is not None:
            columns = self.over_time.columns()
            listed = {
                name: [str(v) for v in column] if column.dtype.kind in "mM" else column.tolist()
                for name, column in columns.items()
            }
            rows = zip(*listed.values(), strict=True)
            content["nll_over_time"] = {
                "mean": _one(self.over_time.mean),
                "stretches": [dict(zip(listed, row, strict=True)) for row in rows],
            }
        return {**content, "sentences": self.sentences()}


def measure_gains(rows: ScoredRows, time_bins: TimeBins | None, seed: int) -> Gains:
    """Measure what the probabilities after gain over those of the rows."""
    along = None
    if time_bins is not None:
        along = estimate_gain_over_time(rows.in_time_bins(time_bins), nll, LEVEL, seed)
    return Gains(estimate_gain(rows, nll, LEVEL), estimate_gain(rows, brier, LEVEL), along)


def _overall(gain: IntervalEstimate) -> str:
    if gain.lower > 0.0:
        return "surely helps"
    return "surely hurts" if gain.upper < 0.0 else "is not sure to help or to hurt"


def _one(estimate: IntervalEstimate) -> dict[str, Any]:
    return {
        "value": float(estimate),
        "lower": float(estimate.lower),
        "upper": float(estimate.upper),
        "level": float(estimate.level),
        "estimator": estimate.estimator,
    }

"""What follows from the evidence, wherever it came from: fits, scores, and the verdict in words."""

from dataclasses import dataclass, replace
from typing import Any

from tempocal.assessment.correction_table import CurveTable, read_curve
from tempocal.assessment.examples import Example
from tempocal.assessment.facts import Facts, thin_stretches
from tempocal.assessment.method_scores import Scores, is_reversed, n_stretches, score
from tempocal.assessment.methods import METHODS, fit_by_stretch, fit_methods
from tempocal.assessment.row_source import Evidence
from tempocal.assessment.verdict import Verdict, judge
from tempocal.metrics import IntervalEstimate, nll


@dataclass(frozen=True, eq=False)
class Assessment:
    """Everything that a report shows, as numbers and words.

    Attributes
    ----------
    verdict : Verdict
        The answer in words.
    scores : dict of Scores
        Of "raw", "global" and "along time", on rows that nothing was fitted to.
    against_global : IntervalEstimate
        What calibration along time gains in NLL over one temperature for all times.
    chosen : str
        The calibrator along time that was chosen.
    candidates : list of dict
        What was compared.
    curve : CurveTable or None
        The chosen correction along time; None where none was chosen.
    examples : tuple of Example
        Single sequences.
    facts : Facts
        What the data are.
    """

    verdict: Verdict
    scores: dict[str, Scores]
    against_global: IntervalEstimate
    chosen: str
    candidates: list[dict[str, Any]]
    curve: CurveTable | None
    examples: tuple[Example, ...]
    facts: Facts

    def __str__(self) -> str:
        return str(self.verdict)

    def __repr__(self) -> str:
        return f"Assessment({self.verdict.headline!r})"


def conclude(evidence: Evidence, seed: int, progress: bool | None) -> Assessment:
    """Fit to one part, judge on the other, and put it into words."""
    fitted = fit_methods(evidence.to_fit, seed, progress)
    judged = evidence.judged(fitted)
    scores = {name: score(judged, name) for name in METHODS}
    against_global = judged.gain(nll, "global", "along time")
    facts = evidence.facts()
    facts = replace(facts, thin=thin_stretches(scores["raw"]))
    chosen = fitted.auto.comparison_.chosen.name
    summary = fitted.auto.summary_
    count = n_stretches(summary.n_rows if summary.n_groups is None else summary.n_groups)
    stretches = fit_by_stretch(fitted.auto, evidence.to_fit, count)
    reverse = len(facts.classes) == 2 and is_reversed(judged)
    return Assessment(
        judge(scores, against_global, chosen, facts, reverse),
        scores,
        against_global,
        chosen,
        fitted.auto.comparison_.to_dicts(),
        None if stretches is None else read_curve(fitted.auto, stretches, evidence.to_fit, count),
        judged.examples(),
        facts,
    )

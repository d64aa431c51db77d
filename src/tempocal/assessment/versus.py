"""Which of two models, or of two sets of predictions, is better."""

from dataclasses import dataclass

from tempocal.assessment.judged import Judged
from tempocal.assessment.row_source import HeldOutRows
from tempocal.assessment.wording import interval_text
from tempocal.metrics import IntervalEstimate, brier, nll


@dataclass(frozen=True, eq=False)
class Versus:
    """The second against what is judged, on the same held-out rows.

    Attributes
    ----------
    before, after : str
        What the two are called.
    nll, brier : IntervalEstimate
        How much lower the NLL and the Brier score of the second are, paired row by row.
    words : str
        Which is better.
    """

    before: str
    after: str
    nll: IntervalEstimate
    brier: IntervalEstimate
    words: str


def compare_versus(rows: HeldOutRows, judged: Judged) -> Versus | None:
    """Compare the second with what is judged; None if there is no second."""
    if "versus" not in judged.methods:
        return None
    before, after = judged.names[judged.subject][0], judged.names["versus"][0]
    gains = [rows.gain(metric, judged.subject, "versus") for metric in (nll, brier)]
    return Versus(before, after, gains[0], gains[1], _words(before, after, gains[0]))


def _words(before: str, after: str, gain: IntervalEstimate) -> str:
    difference = f"by {interval_text(gain, 4)} in NLL, on the same held-out sequences"
    verb = "are" if after.endswith("s") else "is"
    start = after[:1].upper() + after[1:]
    if gain.lower > 0.0:
        return f"{start} {verb} better than {before}, {difference}."
    if gain.upper < 0.0:
        return f"{start} {verb} worse than {before}, {difference}."
    return (
        f"No difference between {before} and {after} was found: the gain of the latter is "
        f"{interval_text(gain, 4)} in NLL, on the same held-out sequences."
    )

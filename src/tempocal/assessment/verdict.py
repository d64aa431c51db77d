"""The verdict in words: size, time and direction of the error, its certainty, and what to do."""

from dataclasses import dataclass
from typing import Literal

from tempocal.assessment.error_spans import ErrorSpan, direction, find_error_spans
from tempocal.assessment.facts import Facts
from tempocal.assessment.method_scores import MethodScores
from tempocal.assessment.wording import interval_text, method_text, points_text, span_text
from tempocal.metrics import GainOverTime, IntervalEstimate

Grade = Literal["fine", "unsure", "off"]

# A calibration error below this is called fine.
SMALL_ERROR = 0.03
# With fewer held-out groups than this, the verdict asks for more data.
FEW_GROUPS = 100


@dataclass(frozen=True, eq=False)
class Verdict:
    """The answer in words."""

    grade: Grade
    headline: str
    how_far: str
    when: str
    how_sure: str
    what_to_do: str
    spells: tuple[ErrorSpan, ...]
    where_it_hurts: str = ""  # empty if the correction surely hurts at no time

    def __str__(self) -> str:
        lines = [self.headline, self.how_far, self.when, self.how_sure, self.what_to_do]
        return "\n".join(lines + [self.where_it_hurts] * bool(self.where_it_hurts))


def make_verdict(
    scores: dict[str, MethodScores],
    against_global: IntervalEstimate,
    chosen: str,
    facts: Facts,
    is_reversed: bool,
) -> Verdict:
    """Put the numbers of an assessment into words."""
    raw = scores["raw"]
    spans = find_error_spans(raw.ece_over_time, raw.overconfidence)
    grade = _grade(scores, spans, is_reversed)
    return Verdict(
        grade,
        _headline(grade, spans, is_reversed),
        _how_far(raw),
        _when(raw, spans),
        _how_sure(raw, facts),
        _check_class_order(facts) if is_reversed else _what_to_do(scores, against_global, chosen),
        spans,
        where_it_hurts(scores["along time"].gain_over_time),
    )


def where_it_hurts(gain: GainOverTime) -> str:
    """Say at which times the correction along time surely makes predictions worse."""
    found = gain.stretches("hurts")
    if not found:
        return ""
    text = "; ".join(
        f"{span_text(one.time_from, one.time_to)} the NLL is higher by {-one.value:.4f}"
        for one in found
    )
    return f"The correction along time surely hurts in some stretch: {text}."


def _grade(
    scores: dict[str, MethodScores], spans: tuple[ErrorSpan, ...], is_reversed: bool
) -> Grade:
    if spans or is_reversed or scores["along time"].gain.lower > 0.0:
        return "off"
    return "fine" if scores["raw"].ece_over_time.mean.upper <= SMALL_ERROR else "unsure"


def _headline(grade: Grade, spans: tuple[ErrorSpan, ...], is_reversed: bool) -> str:
    if is_reversed:
        return "These seem to be the probabilities of the other class."
    if grade == "fine":
        return "These probabilities can be trusted at all times."
    if grade == "unsure":
        return "No error was found, but there are too few sequences to rule one out."
    if not spans:
        return "These probabilities can be improved, but no particular time stands out."
    worst = max(spans, key=lambda span: span.error)
    return f"These probabilities are {worst.direction} {span_text(worst.first, worst.last)}."


def _how_far(raw: MethodScores) -> str:
    mean = raw.ece_over_time.mean
    if mean.only_upper:
        true = f"is at most {mean.upper:.3f}"
    else:
        true = f"lies between {mean.lower:.3f} and {mean.upper:.3f}"
    return (
        f"The calibration error is {mean:.3f} on average over time. Perfect probabilities would "
        f"show {mean.floor:.3f} on as many sequences, by chance alone. The true error {true}."
    )


def _when(raw: MethodScores, spans: tuple[ErrorSpan, ...]) -> str:
    if not spans:
        return "At no time is the error larger than chance alone can explain."
    text = "; ".join(_error_text(span) for span in spans)
    table = raw.ece_over_time
    kinds = (direction(table, raw.overconfidence, k) for k in range(len(table)))
    n_chance = sum(kind is None for kind in kinds)
    chance = f" In {n_chance} of {len(table)} time bins the error may be chance."
    return text[0].upper() + text[1:] + "." + (chance if n_chance else "")


def _error_text(span: ErrorSpan) -> str:
    when = span_text(span.first, span.last)
    if span.direction == "off in both directions":
        return f"{when} they are off by {points_text(span.error)}, some too high and some too low"
    by = points_text(span.overconfidence)
    return f"{when} they are {span.direction}, by {by} on average"


def _how_sure(raw: MethodScores, facts: Facts) -> str:
    n_groups = facts.judged_groups
    units = "sequences" if facts.groups == facts.sequences else "groups"
    rows = int(raw.ece_over_time.rows.sum())
    level = f"{raw.ece_over_time.level:.0%}"
    if n_groups is None:
        return (
            f"Evaluated on {rows:,} rows that were held out from fitting. They were taken as "
            "independent because no sequence was named: if rows share a sequence, the intervals "
            "are too narrow."
        )
    text = (
        f"Evaluated on {n_groups:,} {units} ({rows:,} rows) that were held out from fitting; the "
        f"intervals are {level} intervals over {units}."
    )
    return text + (" That is few: collect more." if n_groups < FEW_GROUPS else "")


def _check_class_order(facts: Facts) -> str:
    first, second = facts.classes
    return (
        f"Check which class they stand for: they were read as those of {second}, against {first}. "
        "Name the classes in the other order, or give the other column."
    )


def _what_to_do(
    scores: dict[str, MethodScores], against_global: IntervalEstimate, chosen: str
) -> str:
    raw, along = scores["raw"], scores["along time"]
    raw_lead = chosen.endswith("Identity")  # alone, or in an average
    if along.gain <= 0.0 or (raw_lead and along.gain.lower <= 0.0):
        return "Leave them as they are: no correction does better on held-out sequences."
    before, after = raw.ece_over_time.mean, along.ece_over_time.mean
    effect = (
        f"On held-out sequences the NLL falls by {interval_text(along.gain, 4)} and the mean error "
        f"over time goes from {before:.3f} to {after:.3f}, where chance alone shows "
        f"{after.floor:.3f}"
    )
    if after.lower > before.upper:
        return (
            f"Look at the predictions themselves. {method_text(chosen)} is the best correction "
            f"that was tried, but it trades one fault for another. {effect}."
        )
    if along.gain.lower <= 0.0:
        return (
            f"Calibration by {method_text(chosen)} probably helps, but that is not certain. "
            f"{effect}. Collect more sequences, or fit it to all of them and monitor the result."
        )
    comparison = _compare_with_global(against_global, scores["global"])
    return f"Calibrate them by {method_text(chosen)}. {effect}. {comparison}"


def _compare_with_global(against_global: IntervalEstimate, global_scaling: MethodScores) -> str:
    if against_global.lower > 0.0:
        return (
            "One temperature for all times is not as good: it leaves an error of "
            f"{global_scaling.ece_over_time.mean:.3f}, and an NLL that is higher by "
            f"{interval_text(against_global, 4)}."
        )
    if against_global.upper < 0.0:
        return "One temperature for all times does better still."
    return "One temperature for all times would do about as well."

"""The verdict in words: size, time and direction of the error, its certainty, and what to do."""

from dataclasses import dataclass
from typing import Literal

from tempocal.assessment.chance import may_be_chance
from tempocal.assessment.error_spans import ErrorSpan, find_error_spans
from tempocal.assessment.facts import Facts
from tempocal.assessment.method_scores import MethodScores
from tempocal.assessment.wording import interval_text, method_text, points_text, span_text
from tempocal.metrics import GainOverTime, IntervalEstimate

Grade = Literal["fine", "unsure", "off"]
# What the verdict is about, and what may help.
_THESE = {"raw": "These", "model": "The model's"}
_ADVICE = {"raw": "Calibrate them", "model": "Fit a new model: calibrate the raw predictions"}

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
    *,
    subject: str,
    is_reversed: bool,
) -> Verdict:
    """Put the numbers of an assessment into words; ``subject`` is the method that is judged."""
    raw = scores[subject]
    spans = find_error_spans(raw.ece_over_time, raw.overconfidence)
    grade = _grade(scores, subject, spans, is_reversed)
    return Verdict(
        grade,
        _headline(grade, spans, is_reversed, facts.time_name).replace("These", _THESE[subject]),
        _how_far(raw),
        _when(raw, spans, facts.time_name),
        _how_sure(raw, facts),
        _check_class_order(facts)
        if is_reversed
        else _what_to_do(scores, subject, against_global, chosen),
        spans,
        where_it_hurts(scores["along time"].gain_over_time, facts.time_name),
    )


def where_it_hurts(gain: GainOverTime, time_name: str = "time") -> str:
    """Say at which times the correction along time surely makes predictions worse."""
    found = gain.stretches("hurts")
    if not found:
        return ""
    text = "; ".join(
        f"{span_text(one.time_from, one.time_to, time_name)} the NLL is higher by {-one.value:.4f}"
        for one in found
    )
    return f"The correction along time surely hurts in some stretch: {text}."


def _grade(
    scores: dict[str, MethodScores], subject: str, spans: tuple[ErrorSpan, ...], is_reversed: bool
) -> Grade:
    if spans or is_reversed or scores["along time"].gain.lower > 0.0:
        return "off"
    return "fine" if scores[subject].ece_over_time.mean.upper <= SMALL_ERROR else "unsure"


def _headline(grade: Grade, spans: tuple[ErrorSpan, ...], is_reversed: bool, time_name: str) -> str:
    if is_reversed:
        return "These seem to be the probabilities of the other class."
    if grade == "fine":
        return "These probabilities can be trusted at all times."
    if grade == "unsure":
        return "No error was found, but there are too few sequences to rule one out."
    if not spans:
        return "These probabilities can be improved, but no particular time stands out."
    worst = max(spans, key=lambda span: span.error)
    when = span_text(worst.first, worst.last, time_name)
    return f"These probabilities are {worst.direction} {when}."


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


def _when(raw: MethodScores, spans: tuple[ErrorSpan, ...], time_name: str) -> str:
    if not spans:
        return "At no time is the error larger than chance alone can explain."
    text = "; ".join(_error_text(span, time_name) for span in spans)
    table = raw.ece_over_time
    n_chance = int(may_be_chance(table).sum())
    chance = f" In {n_chance} of {len(table)} time bins the error may be chance."
    return text[0].upper() + text[1:] + "." + (chance if n_chance else "")


def _error_text(span: ErrorSpan, time_name: str) -> str:
    when = span_text(span.first, span.last, time_name)
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
    scores: dict[str, MethodScores], subject: str, against_global: IntervalEstimate, chosen: str
) -> str:
    raw, along, simple = scores[subject], scores["along time"], scores["global"]
    advice = _ADVICE[subject]
    if against_global.lower <= 0.0 and _is_enough(simple, along):
        if _trades_faults(raw, simple):
            return _look_at_them("one temperature for all times", raw, simple)
        return f"{advice} by one temperature for all times. {_effect(raw, simple)}. " + (
            "Calibration along time does worse."
            if against_global.upper < 0.0
            else f"Calibration along time, by {method_text(chosen)}, would do about as well."
        )
    raw_lead = chosen.endswith("Identity")  # alone, or in an average
    if along.gain <= 0.0 or (raw_lead and along.gain.lower <= 0.0):
        return "Leave them as they are: no correction does better on held-out sequences."
    if _trades_faults(raw, along):
        return _look_at_them(method_text(chosen), raw, along)
    if along.gain.lower <= 0.0:
        return (
            f"Calibration by {method_text(chosen)} probably helps, but that is not certain. "
            f"{_effect(raw, along)}. Collect more sequences, or fit it to all of them and monitor "
            "the result."
        )
    comparison = _compare_with_global(against_global, simple)
    return f"{advice} by {method_text(chosen)}. {_effect(raw, along)}. {comparison}"


def _trades_faults(raw: MethodScores, method: MethodScores) -> bool:
    """Whether a correction that lowers the NLL surely makes the calibration error larger."""
    return method.ece_over_time.mean.lower > raw.ece_over_time.mean.upper


def _look_at_them(name: str, raw: MethodScores, method: MethodScores) -> str:
    return (
        f"Look at the predictions themselves. {_capitalized(name)} is the best correction that was "
        f"tried, but it trades one fault for another. {_effect(raw, method)}."
    )


def _is_enough(simple: MethodScores, along: MethodScores) -> bool:
    """Whether one temperature surely helps, and leaves no more errors than calibration along time.

    Of two methods that are equally good the simpler one is named first.
    """
    found = [int((~may_be_chance(one.ece_over_time)).sum()) for one in (simple, along)]
    return simple.gain.lower > 0.0 and found[0] <= found[1]


def _effect(raw: MethodScores, method: MethodScores) -> str:
    before, after = raw.ece_over_time.mean, method.ece_over_time.mean
    return (
        f"On held-out sequences the NLL falls by {interval_text(method.gain, 4)} and the mean "
        f"error over time goes from {before:.3f} to {after:.3f}, where chance alone shows "
        f"{after.floor:.3f}"
    )


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


def _compare_with_global(against_global: IntervalEstimate, simple: MethodScores) -> str:
    if against_global.lower > 0.0:
        return (
            "One temperature for all times is not as good: it leaves an error of "
            f"{simple.ece_over_time.mean:.3f}, and an NLL that is higher by "
            f"{interval_text(against_global, 4)}."
        )
    return (
        "One temperature for all times has about the same NLL, but leaves errors at some times or "
        "may not help at all."
    )

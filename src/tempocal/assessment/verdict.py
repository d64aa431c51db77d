"""What the numbers mean: how far off, when, in which direction, how sure that is, what to do."""

from dataclasses import dataclass
from typing import Literal

from tempocal.assessment.error_spans import Spell, direction, find_spells
from tempocal.assessment.facts import Facts
from tempocal.assessment.method_scores import Scores
from tempocal.assessment.wording import interval_text, method_text, points_text, span_text
from tempocal.metrics import IntervalEstimate

Grade = Literal["fine", "unsure", "off"]

# An error that nobody would act on.
SMALL = 0.03
# With fewer groups than this to judge on, little can be said.
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
    spells: tuple[Spell, ...]

    def __str__(self) -> str:
        return "\n".join([self.headline, self.how_far, self.when, self.how_sure, self.what_to_do])


def judge(
    scores: dict[str, Scores],
    against_global: IntervalEstimate,
    chosen: str,
    facts: Facts,
    is_reversed: bool,
) -> Verdict:
    """Put the numbers of an assessment into words."""
    raw = scores["raw"]
    spells = find_spells(raw.ece_over_time, raw.overconfidence)
    grade = _grade(scores, spells, is_reversed)
    return Verdict(
        grade,
        _headline(grade, spells, is_reversed),
        _how_far(raw),
        _when(raw, spells),
        _how_sure(raw, facts),
        _turn_around(facts) if is_reversed else _what_to_do(scores, against_global, chosen),
        spells,
    )


def _grade(scores: dict[str, Scores], spells: tuple[Spell, ...], is_reversed: bool) -> Grade:
    if spells or is_reversed or scores["along time"].gain.lower > 0.0:
        return "off"
    return "fine" if scores["raw"].ece_over_time.mean.upper <= SMALL else "unsure"


def _headline(grade: Grade, spells: tuple[Spell, ...], is_reversed: bool) -> str:
    if is_reversed:
        return "These seem to be the probabilities of the other class."
    if grade == "fine":
        return "These probabilities can be trusted at all times."
    if grade == "unsure":
        return "No fault was found, but there are too few sequences to rule one out."
    if not spells:
        return "These probabilities can be bettered, but are off at no time in particular."
    worst = max(spells, key=lambda spell: spell.error)
    return f"These probabilities are {worst.direction} {span_text(worst.first, worst.last)}."


def _how_far(raw: Scores) -> str:
    mean = raw.ece_over_time.mean
    if mean.only_upper:
        true = f"is at most {mean.upper:.3f}"
    else:
        true = f"lies between {mean.lower:.3f} and {mean.upper:.3f}"
    return (
        f"The calibration error is {mean:.3f} on average over time. Perfect probabilities would "
        f"show {mean.floor:.3f} on as many sequences, by chance alone. The true error {true}."
    )


def _when(raw: Scores, spells: tuple[Spell, ...]) -> str:
    if not spells:
        return "At no time is the error surely more than what chance shows."
    told = "; ".join(_spell_text(spell) for spell in spells)
    table = raw.ece_over_time
    kinds = (direction(table, raw.overconfidence, k) for k in range(len(table)))
    quiet = sum(kind is None for kind in kinds)
    chance = f" In {quiet} of {len(table)} stretches of time the error may be chance."
    return told[0].upper() + told[1:] + "." + (chance if quiet else "")


def _spell_text(spell: Spell) -> str:
    when = span_text(spell.first, spell.last)
    if spell.direction == "off in both directions":
        return f"{when} they are off by {points_text(spell.error)}, some too high and some too low"
    by = points_text(spell.overconfidence)
    return f"{when} they are {spell.direction}, by {by} on average"


def _how_sure(raw: Scores, facts: Facts) -> str:
    n_groups = facts.judged_groups
    units = "sequences" if facts.groups == facts.sequences else "groups"
    rows = int(raw.ece_over_time.rows.sum())
    level = f"{raw.ece_over_time.level:.0%}"
    if n_groups is None:
        return (
            f"Judged on {rows:,} rows, which were taken as independent because no sequence was "
            "named: if rows share a sequence, nothing here is as sure as it looks."
        )
    text = (
        f"Judged on {n_groups:,} {units} ({rows:,} rows) that nothing was fitted to; intervals "
        f"are {level}, over {units}."
    )
    return text + (" That is few: collect more." if n_groups < FEW_GROUPS else "")


def _turn_around(facts: Facts) -> str:
    first, second = facts.classes
    return (
        f"Check which class they stand for: they were read as those of {second}, against {first}. "
        "Name the classes in the other order, or give the other column."
    )


def _what_to_do(scores: dict[str, Scores], against_global: IntervalEstimate, chosen: str) -> str:
    raw, along = scores["raw"], scores["along time"]
    if chosen == "Identity" or along.gain <= 0.0:
        return "Leave them as they are: no correction does better on sequences left out."
    before, after = raw.ece_over_time.mean, along.ece_over_time.mean
    does = (
        f"On sequences left out the NLL falls by {interval_text(along.gain, 4)} and the mean error "
        f"over time goes from {before:.3f} to {after:.3f}, where chance shows {after.floor:.3f}"
    )
    if after.lower > before.upper:
        return (
            f"Look at the predictions themselves. {method_text(chosen)} is the best correction "
            f"that was tried, but it trades one fault for another. {does}."
        )
    if along.gain.lower <= 0.0:
        return (
            f"Calibration by {method_text(chosen)} probably helps, but that is not sure. {does}. "
            "Collect more sequences, or fit it to all of them and watch what it does."
        )
    beside = _beside_global(against_global, scores["global"])
    return f"Calibrate them by {method_text(chosen)}. {does}. {beside}"


def _beside_global(against_global: IntervalEstimate, at_once: Scores) -> str:
    if against_global.lower > 0.0:
        return (
            "One temperature for all times is not as good: it leaves an error of "
            f"{at_once.ece_over_time.mean:.3f}, and an NLL that is higher by "
            f"{interval_text(against_global, 4)}."
        )
    if against_global.upper < 0.0:
        return "One temperature for all times does better still."
    return "One temperature for all times would do about as well."

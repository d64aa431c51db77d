"""What the numbers mean: how far off, when, in which direction, how sure that is, what to do."""

from dataclasses import dataclass
from typing import Literal

from tempocal.assessment.scores import Scores
from tempocal.assessment.spells import Spell, find_spells
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
    scores: dict[str, Scores], against_global: IntervalEstimate, chosen: str, n_groups: int | None
) -> Verdict:
    """Put the numbers of an assessment into words."""
    raw, along = scores["raw"], scores["along time"]
    spells = find_spells(raw.ece_over_time, raw.overconfidence)
    grade = _grade(raw, along, spells)
    return Verdict(
        grade,
        _headline(grade, spells),
        _how_far(raw),
        _when(raw, spells),
        _how_sure(raw, n_groups),
        _what_to_do(scores, against_global, chosen, grade),
        spells,
    )


def _grade(raw: Scores, along: Scores, spells: tuple[Spell, ...]) -> Grade:
    if spells or along.gain.lower > 0.0:
        return "off"
    return "fine" if raw.ece_over_time.mean.upper <= SMALL else "unsure"


def _headline(grade: Grade, spells: tuple[Spell, ...]) -> str:
    if grade == "fine":
        return "These probabilities can be trusted at all times."
    if grade == "unsure":
        return "No fault was found, but there are too few sequences to rule one out."
    if not spells:
        return "These probabilities are off by a little, at no time in particular."
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
        return "At no time is the error more than twice what chance shows."
    told = "; ".join(_spell_text(spell) for spell in spells)
    table = raw.ece_over_time
    quiet = int(table.only_upper.sum())
    rest = f" In {quiet} of {len(table)} stretches of time it may be chance." if quiet else ""
    return told[0].upper() + told[1:] + "." + rest


def _spell_text(spell: Spell) -> str:
    when = span_text(spell.first, spell.last)
    if spell.direction == "off in both directions":
        return f"{when} they are off by {points_text(spell.error)}, some too high and some too low"
    by = points_text(spell.overconfidence)
    return f"{when} they are {spell.direction}, by {by} on average"


def _how_sure(raw: Scores, n_groups: int | None) -> str:
    rows = int(raw.ece_over_time.rows.sum())
    level = f"{raw.ece_over_time.level:.0%}"
    if n_groups is None:
        return (
            f"Judged on {rows:,} rows, which were taken as independent because no sequence was "
            "named: if rows share a sequence, nothing here is as sure as it looks."
        )
    text = (
        f"Judged on {n_groups:,} sequences ({rows:,} rows) that nothing was fitted to; intervals "
        f"are {level}, over sequences."
    )
    return text + (" That is few: collect more." if n_groups < FEW_GROUPS else "")


def _what_to_do(
    scores: dict[str, Scores], against_global: IntervalEstimate, chosen: str, grade: Grade
) -> str:
    raw, along = scores["raw"], scores["along time"]
    if along.gain.lower <= 0.0:
        if grade == "off":
            return (
                "No correction that was tried is surely better on sequences left out. Look at the "
                "model itself, or collect more sequences."
            )
        return "Leave them as they are: no correction is surely better on sequences left out."
    before, after = raw.ece_over_time.mean, along.ece_over_time.mean
    return (
        f"Calibrate them by {method_text(chosen)}. On sequences left out it lowers the mean error "
        f"over time from {before:.3f} to {after:.3f}, where chance shows {after.floor:.3f}, and "
        f"the NLL by {interval_text(along.gain, 4)}. "
        f"{_beside_global(against_global, scores['global'])}"
    )


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

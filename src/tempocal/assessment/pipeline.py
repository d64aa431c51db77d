"""The steps of an assessment: fit, score on held-out rows, verdict in words."""

from dataclasses import dataclass, replace
from typing import Any

from tempocal.assessment.correction_table import CurveTable, read_curve
from tempocal.assessment.examples import Example
from tempocal.assessment.facts import Facts, thin_time_bins
from tempocal.assessment.judged import Judged, Names, require_classes
from tempocal.assessment.method_scores import MethodScores, is_reversed, score_method
from tempocal.assessment.methods import FittedMethods, fit_methods, fit_per_time_bin
from tempocal.assessment.row_source import HeldOutRows, RowSource, TrainingRows, n_time_bins
from tempocal.assessment.verdict import Verdict, make_verdict
from tempocal.assessment.versus import Versus, compare_versus
from tempocal.assessment.wording import printable
from tempocal.metrics import IntervalEstimate, nll
from tempocal.notebook import FrameLibrary, HtmlTable, as_frame, render
from tempocal.temporal.progress import Progress

# Steps of an assessment other than measuring each method.
N_OTHER_STEPS = 3


@dataclass(frozen=True, eq=False)
class Assessment:
    """Result of an assessment: all numbers of a report, and the verdict in words.

    Attributes
    ----------
    verdict : Verdict
        The answer in words.
    scores : dict of MethodScores
        Metrics of "raw", "model" and "versus" if these were given, "global" and "along time" on
        held-out rows.
    against_global : IntervalEstimate
        NLL of one temperature for all times minus NLL of calibration along time.
    chosen : str
        What is used along time: the name of a candidate, or of how many the average is and which
        one has the largest weight.
    candidates : list of dict
        The candidates that were compared by cross-validation.
    curve : CurveTable or None
        Parameters of the candidate with the largest weight; None if that is the identity.
    examples : tuple of Example
        Single held-out sequences.
    worst : tuple of Example
        The held-out sequences that what is judged was most wrong about, by their mean Brier score.
    facts : Facts
        Counts that describe the data.
    subject : str
        What the verdict is about: "raw", or "model" if one was given.
    names : dict of tuple of str
        What each method is called on the page, and what it does.
    versus : Versus or None
        The second model, or the second set of predictions, against the first.
    """

    verdict: Verdict
    scores: dict[str, MethodScores]
    against_global: IntervalEstimate
    chosen: str
    candidates: list[dict[str, Any]]
    curve: CurveTable | None
    examples: tuple[Example, ...]
    worst: tuple[Example, ...]
    facts: Facts
    subject: str
    names: Names
    versus: Versus | None

    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """Return a row for each method as a data frame.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            What makes it; by default the first of these that is installed.
        """
        return as_frame(self._columns(), library)

    def _columns(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {"method": list(self.scores)}
        for name in ("nll", "brier", "ece", "ece_over_time", "gain"):
            found = [getattr(one, name) for one in self.scores.values()]
            estimates = [one.mean if name == "ece_over_time" else one for one in found]
            columns[name] = [float(one) for one in estimates]
            for end in ("lower", "upper"):
                columns[f"{name}_{end}"] = [getattr(one, end) for one in estimates]
        return columns

    def _repr_html_(self) -> str:
        columns = self._columns()
        head = ["method", "NLL", "Brier", "ECE of all rows", "ECE over time", "gain in NLL"]
        names = ("nll", "brier", "ece", "ece_over_time", "gain")

        def text(name: str, k: int) -> str:
            ends = (columns[f"{name}_{end}"][k] for end in ("lower", "upper"))
            value, lower, upper = (f"{one:.4f}" for one in (columns[name][k], *ends))
            return f"{value} ({lower} to {upper})"

        rows = [
            [
                method,
                *("-" if (name, method) == ("gain", "raw") else text(name, k) for name in names),
            ]
            for k, method in enumerate(columns["method"])
        ]
        caption = "Metrics on held-out sequences, with 95 % intervals"
        return render(*str(self.verdict).splitlines(), HtmlTable(caption, head, rows))

    def __str__(self) -> str:
        return str(self.verdict)

    def __repr__(self) -> str:
        return f"Assessment({self.verdict.headline!r})"


def run_assessment(
    source: RowSource, judged: Judged, seed: int, progress: bool | None, time_name: str
) -> Assessment:
    """Fit all methods to the training rows and evaluate them on the held-out rows."""
    training_rows = source.training_rows
    require_classes(judged, training_rows.classes)
    with Progress(N_OTHER_STEPS + len(judged.methods), progress) as bar:
        bar.begin("fitting and comparing the candidates")
        fitted = fit_methods(training_rows, judged, seed, progress)
        bar.begin("predicting the held-out rows")
        held_out = source.held_out_rows(fitted)
        facts = replace(source.facts(), time_name=printable(time_name))
        scores: dict[str, MethodScores] = {}
        for name in judged.methods:
            bar.begin(f"measuring {judged.names[name][0]}")
            scores[name] = score_method(held_out, name, judged.subject, facts.shares)
        bar.begin("fitting each stretch of time, and putting it into words")
        facts = replace(facts, thin=thin_time_bins(scores[judged.subject]))
        return _put_together(training_rows, fitted, held_out, scores, facts)


def _put_together(
    training_rows: TrainingRows,
    fitted: FittedMethods,
    held_out: HeldOutRows,
    scores: dict[str, MethodScores],
    facts: Facts,
) -> Assessment:
    judged = fitted.judged
    against_global = held_out.gain(nll, "global", "along time")
    chosen = fitted.auto.comparison_.name
    summary = fitted.auto.summary_
    n_bins = n_time_bins(summary.n_rows if summary.n_groups is None else summary.n_groups)
    per_bin = fit_per_time_bin(fitted.auto, training_rows, n_bins)
    reverse = len(facts.classes) == 2 and is_reversed(held_out)
    return Assessment(
        make_verdict(
            scores, against_global, chosen, facts, subject=judged.subject, is_reversed=reverse
        ),
        scores,
        against_global,
        chosen,
        fitted.auto.comparison_.to_dicts(),
        None if per_bin is None else read_curve(fitted.auto.best_, per_bin, training_rows, n_bins),
        held_out.examples(),
        held_out.worst(judged.subject),
        facts,
        judged.subject,
        judged.names,
        compare_versus(held_out, judged),
    )

"""One answer from past predictions: fit on one part, judge on the other, and put it into words."""

from dataclasses import dataclass
from typing import Any

from tempocal.assessment.curve import CurveTable, read_curve
from tempocal.assessment.examples import Example, pick_examples
from tempocal.assessment.facts import Facts, read_facts
from tempocal.assessment.methods import fit_by_stretch, fit_methods
from tempocal.assessment.predictions import check_past, find_classes, split
from tempocal.assessment.scores import Scores, is_reversed, n_stretches, score
from tempocal.assessment.verdict import Verdict, judge
from tempocal.inputs import Inputs
from tempocal.metrics import IntervalEstimate, gain, nll


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


def assess(
    predictions: Any,
    y: Any,
    *,
    time: Any,
    sequence: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    inputs: Inputs = "logits",
    classes: Any = None,
    seed: int = 0,
    progress: bool | None = None,
) -> Assessment:
    """Say whether predictions can be trusted, when not, and what to do.

    Half of the groups are fitted to, at most about 200,000 rows; the others are judged on.

    Parameters
    ----------
    predictions : array-like of shape (n,) or (n, K)
        Logits, or probabilities with ``inputs="proba"``.
    y : array-like of shape (n,)
        Labels.
    time : array-like of shape (n,)
        How far each sequence had come: numbers, datetimes or timedeltas.
    sequence : array-like of shape (n,), optional
        Which sequence each row belongs to.
    groups : array-like of shape (n,), optional
        Independent clusters, where these are coarser than sequences.
    sample_weight : array-like of shape (n,), optional
        How often each row counts.
    inputs : {"logits", "proba"}
        What the predictions are.
    classes : array-like of shape (K,), optional
        The class of each column.
    seed : int
        Seed of the split, of the folds and of the draws.
    progress : bool, optional
        Whether to show how far it is; None shows it on a terminal.

    Returns
    -------
    Assessment
        Numbers and words.

    Examples
    --------
    >>> import tempocal as tc
    >>> m = tc.datasets.simulate_match(600)
    >>> found = tc.assess(m.logits, m.label, time=m.time, sequence=m.sequence)
    >>> found.verdict.headline
    'These probabilities are too sure from time 0 to 5.'
    >>> found.scores["along time"].nll < found.scores["raw"].nll
    True
    """
    past = check_past(
        predictions, y, time=time, sequence=sequence, groups=groups, sample_weight=sample_weight
    )
    labels = find_classes(past, classes)
    fit_rows, test_rows = split(past, seed)
    fitted = fit_methods(fit_rows, inputs, labels, seed, progress)
    proba = fitted.predict(test_rows)
    scores = {
        name: score(one, proba["raw"], test_rows, labels, seed) for name, one in proba.items()
    }
    against_global = gain(
        nll,
        test_rows.label,
        proba["global"],
        proba["along time"],
        groups=test_rows.group,
        sample_weight=test_rows.weight,
        classes=labels,
    )
    facts = read_facts(past, fit_rows, test_rows, labels, scores["raw"])
    chosen = fitted.auto.comparison_.chosen.name
    count = n_stretches(fit_rows)
    stretches = fit_by_stretch(fitted.auto, fit_rows, count)
    return Assessment(
        judge(scores, against_global, chosen, facts, is_reversed(proba["raw"], test_rows, labels)),
        scores,
        against_global,
        chosen,
        fitted.auto.comparison_.to_dicts(),
        None if stretches is None else read_curve(fitted.auto, stretches, fit_rows, count),
        pick_examples(test_rows, proba, labels, seed),
        facts,
    )

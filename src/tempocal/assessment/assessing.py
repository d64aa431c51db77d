"""One answer from past predictions: fit on one part, judge on the other, and put it into words."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.assessment.curve import CurveTable, read_curve
from tempocal.assessment.examples import Example, pick_examples
from tempocal.assessment.methods import fit_by_stretch, fit_methods
from tempocal.assessment.predictions import PastPredictions, check_past, find_classes, split
from tempocal.assessment.scores import Scores, n_stretches, score
from tempocal.assessment.verdict import Verdict, judge
from tempocal.inputs import Inputs
from tempocal.metrics import IntervalEstimate, gain, nll

# A stretch with fewer independent groups than this is called thin.
THIN = 30


@dataclass(frozen=True, eq=False)
class Facts:
    """What the data are."""

    rows: int
    sequences: int | None
    groups: int | None
    classes: tuple[str, ...]
    shares: tuple[float, ...]  # how often each class came
    time_from: Any
    time_to: Any
    distinct_times: int
    fitted_rows: int
    fitted_groups: int | None
    judged_rows: int
    judged_groups: int | None
    thin: tuple[tuple[Any, Any, int], ...]  # stretches with few groups: from, to, groups


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
    facts = _facts(past, fit_rows, test_rows, labels, scores["raw"])
    chosen = fitted.auto.comparison_.chosen.name
    middles = scores["raw"].ece_over_time.time_middle
    stretches = fit_by_stretch(fitted.auto, fit_rows, n_stretches(test_rows))
    return Assessment(
        judge(scores, against_global, chosen, facts.judged_groups),
        scores,
        against_global,
        chosen,
        fitted.auto.comparison_.to_dicts(),
        None if stretches is None else read_curve(fitted.auto, stretches, fit_rows.time, middles),
        pick_examples(test_rows, proba, labels, seed),
        facts,
    )


def _facts(
    past: PastPredictions,
    fit_rows: PastPredictions,
    test_rows: PastPredictions,
    classes: NDArray[Any],
    raw: Scores,
) -> Facts:
    table = raw.ece_over_time
    few = np.flatnonzero(table.sequences < THIN)
    return Facts(
        rows=len(past),
        sequences=_count(past.sequence),
        groups=_count(past.group),
        classes=tuple(str(one) for one in classes),
        shares=tuple(float(np.mean(past.label == one)) for one in classes),
        time_from=past.time.min(),
        time_to=past.time.max(),
        distinct_times=len(np.unique(past.time)),
        fitted_rows=len(fit_rows),
        fitted_groups=_count(fit_rows.group),
        judged_rows=len(test_rows),
        judged_groups=_count(test_rows.group),
        thin=tuple(
            (table.time_from[k], table.time_to[k], int(table.sequences[k])) for k in few.tolist()
        ),
    )


def _count(ids: NDArray[Any] | None) -> int | None:
    return None if ids is None else len(np.unique(ids))

"""Paired difference of a mean loss between two sets of predictions."""

from typing import Any

from numpy.typing import ArrayLike

from tempocal.errors import InputError
from tempocal.metrics.dispatch import row_loss
from tempocal.metrics.estimates import IntervalEstimate
from tempocal.metrics.jackknife import Metric
from tempocal.metrics.mean_losses import gain_in_loss
from tempocal.metrics.over_time import make_estimate
from tempocal.metrics.predictions import PairedInputs, check_groups_of, check_level, check_pair
from tempocal.metrics.row_losses import LossFormula, row_overconfidence
from tempocal.metrics.scored_arrays import ScoredArrays
from tempocal.metrics.scored_rows import ScoredRows


def gain(
    metric: Metric,
    y: ArrayLike,
    before: ArrayLike,
    after: ArrayLike,
    *,
    sequence: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: PairedInputs = "proba",
) -> IntervalEstimate:
    """Mean loss before minus after, with a confidence interval over groups.

    The difference is paired: both losses are of the same rows, so that it is far more precise than
    either loss.

    Parameters
    ----------
    metric : callable
        `nll`, `brier`, or one of them with settings by ``functools.partial``.
    y, sample_weight, classes
        As in `ece`.
    before, after : array-like of shape (n,), (n, 1) or (n, K)
        Two sets of probabilities for the same rows.
    inputs : {"proba", "logits"} or pair of them, default="proba"
        What ``before`` and ``after`` hold, as in `ece`: ``("logits", "proba")`` if they differ.
    sequence, groups, level
        As in `over_time`.

    Returns
    -------
    IntervalEstimate
        A float, positive if ``after`` is better, with ``lower`` and ``upper``; its ``floor`` is 0.

    Examples
    --------
    >>> import numpy as np
    >>> import tempocal as tc
    >>> m = tc.datasets.simulate_match(1000)
    >>> raw = 1 / (1 + np.exp(-m.logits))
    >>> gained = tc.metrics.gain(
    ...     tc.metrics.nll, m.label, raw, m.true_probability, groups=m.sequence
    ... )
    >>> print(f"{gained:.3f} [{gained.lower:.3f}, {gained.upper:.3f}]")
    0.024 [0.016, 0.033]
    """
    require_mean(metric)
    old, new = check_pair(y, before, after, sample_weight, classes, inputs=inputs)
    check_level(level)
    clusters = check_groups_of(old, groups, sequence)
    rows = ScoredArrays.of(old, clusters).with_proba("after", new)
    return estimate_gain(rows, metric, level)


def estimate_gain(rows: ScoredRows, metric: Metric, level: float) -> IntervalEstimate:
    """Gain of the probabilities ``after0``, ``after1``, ... over those of the rows."""
    loss, name = require_mean(metric)
    found = gain_in_loss(rows, loss, name, level).by_time_bin[0]
    return make_estimate(found, f"gain in {name}", level)


def require_mean(metric: Any) -> tuple[LossFormula, str]:
    """Return the row loss and the name of a metric; refuse one that is not a mean loss."""
    found = row_loss(metric)
    if found is None or found[0] is row_overconfidence:
        raise InputError(
            f"metric must be a mean over rows, nll or brier, but it is {metric!r:.80}: errors such "
            "as the ECE have no difference row by row"
        )
    return found

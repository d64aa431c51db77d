"""Martingale check: test whether forecasts move as much as their uncertainty shrinks."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tempocal.errors import InputError
from tempocal.inputs import (
    Codes,
    Groups,
    Inputs,
    Times,
    check_predicted,
    check_sequence,
    check_sequence_and_groups,
    check_sequence_order,
    check_time,
    order_of_rows,
)
from tempocal.links import Array
from tempocal.metrics.movement import MartingaleCheck, MovementTable
from tempocal.metrics.time_bins import Bins, TimeBins, cut_times

MIN_GROUPS = 2
PURPOSE = "the steps within a sequence are what is looked at"


def martingale_check(
    proba: ArrayLike,
    *,
    sequence: ArrayLike,
    time: ArrayLike | None = None,
    order: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    bins: Bins | None = None,
    inputs: Inputs = "proba",
) -> MartingaleCheck:
    """Test whether forecasts of one outcome move as much as their uncertainty shrinks.

    A forecast that makes full use of its own past is a martingale: the expected next forecast is
    the current one. Then the sum over the successive rows of a sequence of ::

        (p' - p) (1 - 2p)  =  (p' - p)^2  -  [p (1 - p) - p' (1 - p')]
              excess             movement       reduction of uncertainty

    has mean zero (Augenblick and Rabin 2021). No labels are needed. Too much movement: forecasts
    overreact, swing back and forth, or were overconfident before. Too little: they underreact.

    Parameters
    ----------
    proba : array-like of shape (n,), (n, 1) or (n, K)
        Probabilities. With two classes the second column is used; with more, the terms are summed
        over all classes.
    sequence : array-like of shape (n,)
        Id of the sequence of each row: the rows that forecast the same outcome.
    time : array-like of shape (n,), optional
        Time of each row. Without ``order`` it puts the rows of a sequence in order; no two of them
        may have the same time then.
    order : array-like of shape (n,), optional
        Puts the rows of a sequence in order: numbers, datetimes or timedeltas that grow along it.
        By default the time; without both, the rows of a sequence are taken in their given order.
    groups : array-like of shape (n,), optional
        What is independent, if sequences are not, as the maps of one match are: clusters that hold
        whole sequences. By default the sequences.
    bins : int or "steps", optional
        Also compute the excess in this many time bins with about equal numbers of steps, or at each
        distinct time. Needs ``time``; a step belongs to the time of its later row.
    inputs : {"proba", "logits"}, default="proba"
        What ``proba`` holds; never guessed. Logits of one column are read by a sigmoid, of several
        by a softmax.

    Returns
    -------
    MartingaleCheck
        ``excess``, ``error``, ``z``, ``p_value`` and the rest; ``print`` says it in words.

    Notes
    -----
    *What it tests* is calibration given the past forecasts, which is more than calibration at each
    step. A model without memory, one that uses the last row only for instance, can be calibrated
    at every step and fail. Passing is no proof of calibration: a forecast that never moves passes,
    and so does one whose errors cancel in this sum.

    *It does not apply to rows that were selected with knowledge of the future.* A common case are
    rows that stop **just before** the outcome is known, such as matches without the moment at which
    they were won. The last steps are then missing, and these confirm the favorite: perfect
    forecasts seem to move too much. Add a last row to each sequence that holds its outcome, 0 or 1,
    or cut all sequences at a time before which none of them ends.

    The z-score is ``sum S / sqrt(sum S^2)`` over groups, with ``S`` the sum over a group, whose
    mean is zero under the null hypothesis. It cannot exceed the square root of the number of
    groups, so that two or three groups are never significant. In simulations of 5 to 300 matches or
    random walks with true forecasts, 3,000 sets each, 4.5 to 7.2 % had a p-value below 0.05, the
    most at 5 matches. There are no weights: a weight of a row has no meaning for the steps between
    rows.

    With many time bins some are significant by chance: one in twenty has ``abs(z) > 1.96``.

    References
    ----------
    Augenblick and Rabin (2021). Belief movement, uncertainty reduction, and rational updating.

    Examples
    --------
    >>> import numpy as np
    >>> import tempocal as tc
    >>> matches = tc.datasets.simulate_match(500)
    >>> open_to_all = matches.time < 13  # no match is won before round 13
    >>> where = dict(sequence=matches.sequence[open_to_all], time=matches.time[open_to_all])
    >>> true = tc.metrics.martingale_check(matches.true_probability[open_to_all], **where)
    >>> true.verdict, round(true.p_value, 2)
    ('no sign', 0.69)
    >>> model = 1 / (1 + np.exp(-matches.logits[open_to_all]))
    >>> print(tc.metrics.martingale_check(model, **where))
    moves too much: they react too strongly, forget what came before, or were too sure
    excess movement +0.137 a sequence, standard error 0.0085 (z = +16.20, p = 5.1e-59)
    movement 49.47, reduction of uncertainty -19.14
    6000 steps, 500 sequences of two rows or more (0 of one row left out), 500 groups
    """
    checked = check_predicted(proba, inputs).proba
    if checked.shape[1] == 2:
        checked = checked[:, 1:]
    n_rows = len(checked)
    own = check_sequence(sequence, n_rows, PURPOSE)
    clusters = own
    if groups is not None:
        clusters = check_sequence_and_groups(sequence, groups, n_rows) or own
    times = None if time is None else check_time(time, n_rows)
    earlier, later = _steps(own, _permutation(own, times, sequence, order))
    within, cluster = own.codes[later], _renumbered(clusters.codes[later])
    _require_groups(cluster, groups is not None)

    p, moved = checked[earlier], checked[later] - checked[earlier]
    terms = (moved * (1.0 - 2.0 * p)).sum(axis=1)
    excess, error, z = _over_groups(terms, within, cluster)
    n_sequences = len(np.unique(within))
    return MartingaleCheck(
        excess=excess,
        error=error,
        z=z,
        p_value=math.erfc(abs(z) / math.sqrt(2.0)),
        movement=float((moved**2).sum()),
        # p(1 - p) - p'(1 - p') without cancellation.
        reduction=float((moved * (p + checked[later] - 1.0)).sum()),
        n_steps=len(later),
        n_sequences=n_sequences,
        n_single=own.count - n_sequences,
        n_groups=int(cluster.max()) + 1,
        over_time=_over_time(terms, within, cluster, _time_bins(bins, times, later)),
    )


def _steps(own: Groups, order: Codes) -> tuple[Codes, Codes]:
    """Return the indices of the rows before and after each step, sequence by sequence."""
    within = own.codes[order[1:]] == own.codes[order[:-1]]
    earlier, later = order[:-1][within], order[1:][within]
    if not len(later):
        raise InputError(
            f"sequence has {own.count} different ids in {len(own.codes)} rows, so that no sequence "
            "has two rows: it must be the same in all rows that forecast one outcome"
        )
    return earlier, later


def _permutation(own: Groups, times: Times | None, sequence: Any, order: Any) -> Codes:
    """Return the indices of the rows, sequence by sequence, in order."""
    if order is not None:
        found = check_sequence_order(sequence, len(own.codes), order=order)
        assert found is not None
        return found.permutation
    return order_of_rows(own, None if times is None else times.values, sequence, "time")


def _require_groups(cluster: Codes, given: bool) -> None:
    if cluster.max() + 1 < MIN_GROUPS:
        name = "groups" if given else "sequence"
        raise InputError(
            f"{name} has 1 id with steps in it, but the spread between them is what the check "
            f"measures by: at least {MIN_GROUPS} must have a sequence of two rows or more"
        )


def _time_bins(bins: Bins | None, times: Times | None, later: Codes) -> TimeBins | None:
    if bins is None:
        return None
    if times is None:
        raise InputError(f"bins is {bins!r}, which needs time: pass the time of each row")
    return cut_times(Times(times.values[later], times.kinds), None, bins)


def _over_groups(terms: Array, within: Codes, cluster: Codes) -> tuple[float, float, float]:
    """Mean per sequence, its standard error and their ratio, over all steps."""
    one_bin = np.zeros(len(terms), dtype=np.intp)
    sequences = np.array([len(np.unique(within))])
    excess, error, z = _by_code(terms, one_bin, cluster, sequences)
    return float(excess[0]), float(error[0]), float(z[0])


def _over_time(
    terms: Array, within: Codes, cluster: Codes, time_bins: TimeBins | None
) -> MovementTable | None:
    if time_bins is None:
        return None
    sequences = np.bincount(_pairs(time_bins.codes, within)[0])
    excess, error, z = _by_code(terms, time_bins.codes, cluster, sequences)
    steps = np.bincount(time_bins.codes)
    return MovementTable(time_bins.first, time_bins.last, steps, sequences, excess, error, z)


def _by_code(
    terms: Array, codes: Codes, cluster: Codes, sequences: NDArray[np.intp]
) -> tuple[Array, Array, Array]:
    """Mean per sequence, standard error and ratio, for each code."""
    code_of, pair = _pairs(codes, cluster)
    totals = np.bincount(pair, terms)
    # Scaled to about 1, so that squares do not underflow.
    scale = float(np.abs(totals).max()) or 1.0
    sums = np.bincount(code_of, totals / scale)
    error = np.sqrt(np.bincount(code_of, (totals / scale) ** 2))
    error[np.bincount(code_of) < MIN_GROUPS] = np.nan
    z = np.divide(sums, error, out=np.zeros(len(sums)), where=error != 0)
    return scale * sums / sequences, scale * error / sequences, z


def _pairs(codes: Codes, other: Codes) -> tuple[Codes, Codes]:
    """Code of each distinct pair, and the index of the pair of each entry."""
    width = int(other.max()) + 1
    pairs, index = np.unique(codes * width + other, return_inverse=True)
    return pairs // width, index


def _renumbered(codes: Codes) -> Codes:
    return np.asarray(np.unique(codes, return_inverse=True)[1], dtype=np.intp)

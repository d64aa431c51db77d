"""Friedman and Nemenyi tests: compare methods over several data sets by their ranks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tempocal.errors import InputError
from tempocal.inputs import as_array, as_float64
from tempocal.links import Array

MIN_METHODS, MIN_SETS = 2, 2


@dataclass(frozen=True, eq=False)
class FriedmanNemenyi:
    """Result of the Friedman and Nemenyi tests; ``print`` shows a table.

    Attributes
    ----------
    names : tuple of str
        The methods, in the order of the columns.
    mean_ranks : ndarray of shape (k,)
        Mean rank of each method; 1 is best.
    chi_square, p_value : float
        Friedman test, corrected for ties.
    f_statistic, f_p_value : float
        F test of Iman and Davenport, which is less conservative.
    critical_difference : float
        Methods whose mean ranks differ by more than this are significantly different.
    pairwise_p_values : ndarray of shape (k, k)
        Nemenyi test of each pair; 1 on the diagonal.
    best : tuple of str
        The method with the best mean rank and those not significantly different from it, by rank.
    cliques : tuple of tuple of str
        Maximal sets of two or more methods without a significant difference, from the best to the
        worst: the bars of a critical-difference diagram. A method may be in several, or in none.
    n_sets : int
        Number of sets.
    alpha : float
        Level of the Nemenyi test.
    """

    names: tuple[str, ...]
    mean_ranks: Array
    chi_square: float
    p_value: float
    f_statistic: float
    f_p_value: float
    critical_difference: float
    pairwise_p_values: Array
    best: tuple[str, ...]
    cliques: tuple[tuple[str, ...], ...]
    n_sets: int
    alpha: float

    def __str__(self) -> str:
        lines = [
            f"{len(self.names)} methods on {self.n_sets} sets: Friedman chi-square "
            f"{self.chi_square:.2f} (p = {self.p_value:.2g}), "
            f"F {self.f_statistic:.2f} (p = {self.f_p_value:.2g})",
            f"methods differ whose mean ranks differ by more than {self.critical_difference:.3f} "
            f"(Nemenyi, alpha = {self.alpha:g}); • is the best group",
        ]
        if self.p_value >= self.alpha:
            lines.append("the Friedman test finds no difference between the methods")
        width = max(map(len, self.names))
        for k in np.argsort(self.mean_ranks, kind="stable"):
            name = self.names[k]
            mark = " •" if name in self.best else ""
            lines.append(f"  {name:{width}}  {self.mean_ranks[k]:6.3f}{mark}")
        return "\n".join(lines)


def friedman_nemenyi(
    scores: ArrayLike,
    *,
    names: ArrayLike | None = None,
    higher_is_better: bool = False,
    alpha: float = 0.05,
) -> FriedmanNemenyi:
    """Compare methods over several data sets: Friedman test with Nemenyi post-hoc test.

    On each set the methods are ranked, 1 for the best; equal scores share their mean rank. The
    Friedman test asks whether the mean ranks differ at all. The Nemenyi test asks which do: those
    that differ by more than ``q * sqrt(k * (k + 1) / (6 * n))``, with ``n`` sets, ``k`` methods and
    ``q`` from the studentized range.

    Parameters
    ----------
    scores : array-like of shape (n, k)
        One row for each set (or run, or fold), one column for each method.
    names : array-like of shape (k,), optional
        Names of the methods; by default the columns of a table, else "method 1", "method 2", ...
    higher_is_better : bool, default=False
        Whether larger scores are better. Losses and calibration errors are better when smaller.
    alpha : float, default=0.05
        Level of the Nemenyi test.

    Returns
    -------
    FriedmanNemenyi
        ``mean_ranks``, ``p_value``, ``critical_difference``, ``best``, ``cliques`` and the rest;
        ``print`` shows a table.

    Notes
    -----
    The bullets in the tables of the paper mark the best group, ``best``. Its footnote states the
    test the wrong way round: methods differ significantly if their mean ranks differ by **more**
    than the critical difference, which is 1.048 for three methods and ten sets.

    The Nemenyi test is valid after the Friedman test rejects. ``best`` and ``cliques`` are returned
    in any case; the printed table says if it does not reject.

    Sets are taken as independent. Runs of one data set with several seeds are not: they test
    whether the methods differ on that data set only.

    Only exactly equal scores are ties: round them first if needed. Infinite scores are ranked like
    any other. If all methods are tied on every set, both statistics are 0 and both p-values 1. If
    all sets agree on one order without ties, the F statistic is infinite and its p-value 0.

    References
    ----------
    Demšar (2006). Statistical comparisons of classifiers over multiple data sets.

    Examples
    --------
    >>> from tempocal.metrics import friedman_nemenyi
    >>> raw, single = [0.53, 0.61, 0.47, 0.55, 0.58, 0.49], [0.52, 0.62, 0.45, 0.54, 0.57, 0.49]
    >>> temporal = [0.50, 0.58, 0.45, 0.51, 0.55, 0.46]
    >>> nll = list(zip(raw, single, temporal))
    >>> result = friedman_nemenyi(nll, names=["raw", "global", "temporal"])
    >>> result.best
    ('temporal', 'global')
    >>> print(result)
    3 methods on 6 sets: Friedman chi-square 9.36 (p = 0.0093), F 17.76 (p = 0.00051)
    methods differ whose mean ranks differ by more than 1.353 (Nemenyi, alpha = 0.05); • is the best
    group
      temporal   1.083 •
      global     2.167 •
      raw        2.750
    """
    values = _check_scores(scores)
    methods = _check_names(names, scores, values.shape[1])
    _check_settings(higher_is_better, alpha)
    from scipy.stats import rankdata  # noqa: PLC0415 - keeps the import of the metrics fast

    ranks = rankdata(-values if higher_is_better else values, axis=1)
    mean_ranks = ranks.mean(axis=0)
    chi_square, p_value, f_statistic, f_p_value = _friedman(ranks)
    difference, pairwise = _nemenyi(mean_ranks, len(values), alpha)
    order = np.argsort(mean_ranks, kind="stable")
    runs = _cliques(mean_ranks[order], difference)
    in_order = [methods[k] for k in order]
    return FriedmanNemenyi(
        names=methods,
        mean_ranks=mean_ranks,
        chi_square=chi_square,
        p_value=p_value,
        f_statistic=f_statistic,
        f_p_value=f_p_value,
        critical_difference=difference,
        pairwise_p_values=pairwise,
        best=tuple(in_order[runs[0]]),
        cliques=tuple(tuple(in_order[run]) for run in runs if run.stop - run.start > 1),
        n_sets=len(values),
        alpha=float(alpha),
    )


def _friedman(ranks: Array) -> tuple[float, float, float, float]:
    """Chi-square and its p-value, F and its p-value."""
    from scipy.special import chdtrc, fdtrc  # noqa: PLC0415 - as above

    n, k = ranks.shape
    # Twice the distance to the mean rank is an integer, so that the sums are exact.
    doubled = 2.0 * ranks - (k + 1)
    between, total = float((doubled.sum(axis=0) ** 2).sum()), float((doubled**2).sum())
    if total == 0.0:
        return 0.0, 1.0, 0.0, 1.0
    chi_square = (k - 1) * between / total
    within = n * total - between
    f_statistic = (n - 1) * between / within if within else math.inf
    f_p_value = float(fdtrc(k - 1, (k - 1) * (n - 1), f_statistic)) if within else 0.0
    return chi_square, float(chdtrc(k - 1, chi_square)), f_statistic, f_p_value


def _nemenyi(mean_ranks: Array, n_sets: int, alpha: float) -> tuple[float, Array]:
    """Critical difference, and the p-value of each pair."""
    from scipy.stats import studentized_range  # noqa: PLC0415 - as above

    k = len(mean_ranks)
    # The studentized range is in standard errors of one mean, not of a difference of two.
    error = math.sqrt(k * (k + 1) / (12.0 * n_sets))
    upper = np.triu_indices(k, 1)
    distances = np.abs(mean_ranks[upper[0]] - mean_ranks[upper[1]])
    p_values = np.eye(k)
    # Numerical integration may leave [0, 1] by its rounding error.
    p_values[upper] = np.clip(studentized_range.sf(distances / error, k, np.inf), 0.0, 1.0)
    difference = error * float(studentized_range.isf(alpha, k, np.inf))
    return difference, np.maximum(p_values, p_values.T)


def _cliques(ascending: Array, difference: float) -> list[slice]:
    """Maximal runs of ascending mean ranks that are no wider than the critical difference."""
    stops = [int(np.sum(ascending - first <= difference)) for first in ascending]
    # A run that ends where the previous one ends is part of it.
    return [
        slice(start, stop)
        for start, stop in enumerate(stops)
        if start == 0 or stop > stops[start - 1]
    ]


def _check_scores(scores: Any) -> Array:
    values = as_float64(scores, "scores")
    if values.ndim != 2:
        raise InputError(
            "scores must be of shape (sets, methods), a row for each set, but its shape is "
            f"{values.shape}"
        )
    n_sets, n_methods = values.shape
    if n_methods < MIN_METHODS:
        raise InputError(
            f"scores must have a column for each of at least {MIN_METHODS} methods, but it has "
            f"{n_methods}"
        )
    if n_sets < MIN_SETS:
        raise InputError(
            f"scores must have a row for each of at least {MIN_SETS} sets, but it has {n_sets}: "
            "one set says nothing about how ranks vary"
        )
    missing = np.isnan(values)
    if missing.any():
        row, column = np.argwhere(missing)[0]
        raise InputError(
            f"scores contains NaN (first at row {row}, column {column}): every method must have a "
            "score on every set, so leave out the sets or methods that lack one"
        )
    return values


def _check_names(names: Any, scores: Any, n_methods: int) -> tuple[str, ...]:
    if names is None:
        # In pandas and Polars `columns` are the names, in pyarrow the data.
        names = getattr(scores, "column_names", getattr(scores, "columns", None))
    if names is None:
        return tuple(f"method {k + 1}" for k in range(n_methods))
    array: NDArray[Any] = as_array(names, "names")
    if array.shape != (n_methods,):
        raise InputError(
            f"names must be one name for each of the {n_methods} methods, but its shape is "
            f"{array.shape}"
        )
    methods = tuple(map(str, array.tolist()))
    if len(set(methods)) < n_methods:
        raise InputError(f"names must differ, but they are {list(methods)}")
    return methods


def _check_settings(higher_is_better: Any, alpha: Any) -> None:
    if not isinstance(higher_is_better, bool | np.bool_):
        raise InputError(f"higher_is_better must be True or False, but it is {higher_is_better!r}")
    if not isinstance(alpha, float | np.floating) or not 0.0 < alpha < 1.0:
        raise InputError(f"alpha must be a number between 0 and 1, but it is {alpha!r}")

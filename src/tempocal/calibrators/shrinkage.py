"""The ``shrinkage`` argument: its check, the fit with it, and warnings about the solution."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from tempocal.errors import (
    AtBoundWarning,
    InputError,
    NoFiniteOptimumError,
    NotConvergedWarning,
    warn_user,
)
from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.solve import (
    Penalty,
    Problem,
    RegularizedFit,
    Strengths,
    fit,
    fit_by_evidence,
    fit_by_folds,
)

Shrinkage = Literal["auto"] | float | tuple[float, float]


def check_shrinkage(shrinkage: Any, *, pairs: bool = True) -> Strengths | None:
    """Return the requested strengths on slopes and biases, None for "auto".

    ``pairs`` allows a pair of strengths.
    """
    if isinstance(shrinkage, str) and shrinkage == "auto":
        return None
    is_pair = isinstance(shrinkage, tuple | list) and pairs
    pair = shrinkage if is_pair else (shrinkage, shrinkage)
    try:
        slopes, biases = map(float, pair)
    except (TypeError, ValueError):
        slopes = biases = np.nan
    if isinstance(shrinkage, str | bool) or not (0 <= slopes < np.inf and 0 <= biases < np.inf):
        or_pair = ", or a pair of them for slopes and biases" if pairs else ""
        raise InputError(
            f'shrinkage must be "auto" or a number of at least 0{or_pair}, but it is {shrinkage!r}'
        )
    return slopes, biases


def fit_with_shrinkage(
    problem: Problem,
    strengths: Strengths | None,
    groups: Groups | None,
    choose: Literal["evidence", "folds"],
) -> RegularizedFit:
    """Fit with the given strengths, or choose them by evidence or cross-validation."""
    if strengths is not None:
        return RegularizedFit(fit(problem, strengths), strengths)
    return fit_by_folds(problem) if choose == "folds" else fit_by_evidence(problem, groups)


def check_solution(
    problem: Problem, result: RegularizedFit, shrinkage: Any, times: Array | None = None
) -> None:
    """Refuse a solution that diverged; warn if it did not converge or is at its bounds."""
    if result.solution.unbounded:
        raise NoFiniteOptimumError(
            f"at shrinkage={shrinkage!r} the best coefficients are infinite"
            f"{_times_of_divergence(result, times)}: the logits separate the classes, or a class "
            'never occurs. shrinkage="auto" keeps them finite'
        )
    if not result.solution.converged:
        warn_user(
            f"the fit stopped after {result.solution.passes} passes short of its optimum: "
            "look at the scale of the logits",
            NotConvergedWarning,
        )
    at_bound = result.solution.theta <= problem.lower
    if np.count_nonzero(at_bound) and at_bound[np.isfinite(problem.lower)].all():
        warn_user(
            "all slopes stand at their lower bound, so that the logits hardly count: they tell "
            "nothing about the labels, or are reversed",
            AtBoundWarning,
        )


def _times_of_divergence(result: RegularizedFit, times: Array | None) -> str:
    """Name the first times at which coefficients diverged."""
    where = result.solution.where_unbounded
    if where is None or times is None:
        return ""
    found = times[where]
    shown = ", ".join(f"{time:.6g}" for time in found[:3])
    return f" at time {shown}" + (f" and {len(found) - 3} more" if len(found) > 3 else "")


def solver_details(problems: Sequence[Problem], fits: Sequence[RegularizedFit]) -> dict[str, Any]:
    """Return strengths, passes and convergence, of one fit or one per class."""
    strengths = {
        _strength_name(penalty): unwrap_single(
            [
                float(one.strengths[k]) * problem.penalties[k].unit
                for problem, one in zip(problems, fits, strict=True)
            ]
        )
        for k, penalty in enumerate(problems[0].penalties)
        if penalty.is_used
    }
    return {
        **strengths,
        "passes": sum(one.solution.passes for one in fits),
        "converged": all(one.solution.converged for one in fits),
    }


def _strength_name(penalty: Penalty) -> str:
    return penalty.name if penalty.is_smoothing else f"shrinkage_of_{penalty.name}"


def unwrap_single(values: list[Any]) -> Any:
    """Unwrap a list of one value."""
    return values[0] if len(values) == 1 else values

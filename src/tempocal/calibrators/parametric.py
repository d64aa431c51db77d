"""Calibrators that are generalized linear models: how they are fitted and updated."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.fit_data import FitData, FitResult, check_rows
from tempocal.calibrators.linear_model import LinearModel
from tempocal.calibrators.online_state import (
    OnlineState,
    check_first_classes,
    check_keep,
    check_later_classes,
    check_later_groups,
    groups_of_soft_labels,
    mark_for_saving,
    require_online_state,
)
from tempocal.errors import (
    AtBoundWarning,
    InputError,
    NoFiniteOptimumError,
    NotConvergedWarning,
    warn_user,
)
from tempocal.links import Array
from tempocal.maps import Form
from tempocal.solve import (
    N_FOLDS,
    Effects,
    FixedStrengths,
    Posterior,
    Problem,
    RegularizedFit,
    Strengths,
    fit,
    fit_by_evidence,
    fit_by_folds,
    posterior_of,
    update_fit,
)

Shrinkage = Literal["auto"] | float | tuple[float, float]
# Names and numbers of a map that are shown in a summary.
MOST_SHOWN = 100


@dataclass(frozen=True)
class Family:
    """The models of a calibrator, and what their coefficients make.

    Attributes
    ----------
    models : tuple of LinearModel
        One, or one for each class against the rest.
    form : Form
        Which map the coefficients make.
    choose : {"evidence", "folds"}
        How strengths are taken from the data where nothing changes along time.
    loss_is_nll : bool
        Whether the loss of the rows is the negative log likelihood of the map.
    canonicalize : callable
        Of all coefficients of the same map, along the last axis, return the ones to show. The
        second argument is whether shrinkage is 0, where more coefficients give the same map.
    """

    models: tuple[LinearModel, ...]
    form: Form
    choose: Literal["evidence", "folds"] = "evidence"
    loss_is_nll: bool = False
    canonicalize: Callable[[Array, bool], Array] = lambda theta, plain: theta


class ParametricCalibrator(Calibrator, registered=False):
    """Base of the calibrators whose coefficients can follow a curve along time.

    A subclass has `_family`, which says what is fitted, and ``shrinkage`` among its arguments.
    """

    shrinkage: Shrinkage
    _takes_soft_labels = True

    @abstractmethod
    def _family(self, data: FitData) -> Family:
        """Say what is to be fitted to these rows."""

    def partial_fit(
        self,
        logits: Any,
        y: Any,
        *,
        groups: Any = None,
        sample_weight: Any = None,
        classes: Any = None,
        keep: float = 1.0,
        soft_label: bool = False,
    ) -> Self:
        """Learn from more rows, without those that came before.

        The first call is a `fit`, or comes after one. What it learned is kept as a quadratic: the
        posterior of the coefficients to second order. Each call after it adds the rows that it is
        given, by Newton's method. Strengths of the shrinkage that come from the rows follow: those
        of most evidence on all that is known. Those chosen by folds stay until a `fit`.

        Parameters
        ----------
        logits, y, sample_weight
            As in `fit`.
        groups : array-like of shape (n,)
            As in `fit`; in all calls or in none. A sequence belongs in one call, whole.
        classes : array-like, default=None
            All classes, in the first call, where its rows may lack some.
        keep : float, default=1.0
            How much rows of earlier calls count from now on, beside what they counted before:
            with 0.99 those of 69 calls ago count half.
        soft_label : bool, default=False
            As in `fit`. Without ``groups`` each row is a group of its own, also where all labels of
            a call are certain.

        Returns
        -------
        self

        Examples
        --------
        >>> import tempocal as tc
        >>> cal = tc.TemperatureScaling(shrinkage=1.0)
        >>> cal = cal.partial_fit([-1.0, 2.0, 0.5], [0, 1, 0], classes=[0, 1])
        >>> cal = cal.partial_fit([3.0], [0])
        >>> cal.summary().n_rows
        4
        """
        share = check_keep(keep)
        if groups is None:
            groups = groups_of_soft_labels(y, soft_label=soft_label)
        if not hasattr(self, "map_"):
            first = check_first_classes(classes, self.classes)
            self._fit_rows(logits, y, sample_weight, groups, first, soft_label=soft_label)
            self._online_state = mark_for_saving(self._online_state)
            return self
        known = require_online_state(self._online_state).discounted(share)
        check_later_classes(classes, self.classes_)
        checked = check_rows(
            logits,
            y,
            sample_weight=sample_weight,
            groups=groups,
            inputs=self.inputs,
            classes=self.classes_,
            soft_label=soft_label,
        )
        self._check_feature_names(checked.logits)
        data = replace(checked.data, earlier=known)
        check_later_groups(data.groups, self.summary_.n_groups)
        losses = data.nll_before_and_after(self.map_)
        fitted = _update_family(self._family(data), self.shrinkage, known, data)
        self.map_, self._online_state = fitted.map, mark_for_saving(fitted.online_state)
        self.summary_ = data.add_to_summary(self.summary_, losses, fitted.details)
        return self

    def _fit_map(self, data: FitData) -> FitResult:
        family = self._family(data)
        fits = [fit_model(model, family, self.shrinkage, data) for model in family.models]
        result = _result(family, fits, data)
        problem, after = fits[0].problem, fits[0].result.solution.loss
        before, total = problem.loss_at_identity, problem.rows.total_weight
        if before is None or not family.loss_is_nll:
            return result
        return replace(result, nll_before=before / total, nll_after=after / total)


@dataclass(frozen=True)
class ModelFit:
    """One fitted model of a family; ``fixed_strengths`` are those not chosen by evidence."""

    model: LinearModel
    problem: Problem
    result: RegularizedFit
    fixed_strengths: FixedStrengths
    earlier: Posterior | None = None


def fit_model(model: LinearModel, family: Family, shrinkage: Any, data: FitData) -> ModelFit:
    """Fit coefficients that are the same for all rows."""
    strengths = check_shrinkage(shrinkage)
    if strengths is not None:
        problem = model.problem()
        result = RegularizedFit(fit(problem, strengths), strengths)
    elif family.choose == "folds":
        problem = model.problem(data.folds(N_FOLDS), N_FOLDS)
        result = fit_by_folds(problem)
        # Strengths that were chosen by folds are as good as given.
        strengths = result.strengths
    else:
        problem = model.problem()
        result = fit_by_evidence(problem, data.groups)
    check_solution(problem, result, shrinkage)
    return ModelFit(model, problem, result, strengths or (None,) * len(problem.penalties))


def _update_family(family: Family, shrinkage: Any, known: OnlineState, data: FitData) -> FitResult:
    """Fit the same coefficients to rows that came later, beside what is known of earlier ones."""
    fits = []
    for model, earlier in zip(family.models, known.posteriors, strict=True):
        problem = replace(model.problem(), earlier_loss=earlier.quadratic_loss)
        result = update_fit(problem, earlier, data.groups)
        check_solution(problem, result, shrinkage)
        fixed_strengths = earlier.for_penalties(len(problem.penalties)).fixed_strengths
        fits.append(ModelFit(model, problem, result, fixed_strengths, earlier))
    return _result(family, fits, data)


def _result(family: Family, fits: Sequence[ModelFit], data: FitData) -> FitResult:
    """Return the map of the fitted coefficients, the details and the state for later rows."""
    results = [one.result for one in fits]
    thetas = [family.canonicalize(one.solution.theta, one.strengths[0] == 0.0) for one in results]
    numbers = [one.model.numbers(theta) for one, theta in zip(fits, thetas, strict=True)]
    shown = {
        name: value.tolist()
        for name, value in family.form.parameters(numbers).items()
        if value.size <= MOST_SHOWN
    }
    online_state = None
    if all(one.solution.hessian is not None for one in results):
        posteriors = tuple(
            posterior_of(
                one.problem,
                one.result,
                one.fixed_strengths,
                one.result.effects or Effects(1.0),
                one.earlier,
            )
            for one in fits
        )
        standardizations = tuple(one.model.standardization for one in fits)
        online_state = OnlineState(
            posteriors, data.class_weights, standardizations=standardizations
        )
    return FitResult(
        family.form.to_map(numbers),
        {**shown, **solver_details([one.problem for one in fits], results)},
        max((one.design_effect for one in results if one.design_effect is not None), default=None),
        online_state=online_state,
    )


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


def solver_details(
    problems: Sequence[Problem], results: Sequence[RegularizedFit]
) -> dict[str, Any]:
    """Return strengths, passes and convergence, of one fit or one per class."""
    details: dict[str, Any] = {}
    for k, penalty in enumerate(problems[0].penalties):
        if penalty.is_used:
            name = penalty.name if penalty.is_smoothing else f"shrinkage_of_{penalty.name}"
            pairs = zip(problems, results, strict=True)
            values = [float(one.strengths[k]) * of.penalties[k].unit for of, one in pairs]
            details[name] = values[0] if len(values) == 1 else values
    details["passes"] = sum(one.solution.passes for one in results)
    details["converged"] = all(one.solution.converged for one in results)
    return details

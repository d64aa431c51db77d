"""Calibrators that are generalized linear models: their coefficients, and how they are fitted."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.fit_data import FitData, FitResult
from tempocal.calibrators.online_state import (
    OnlineState,
    check_first_classes,
    check_keep,
    check_later_classes,
    check_later_groups,
    mark_for_saving,
    require_online_state,
)
from tempocal.calibrators.shrinkage import (
    Shrinkage,
    check_shrinkage,
    check_solution,
    fit_with_shrinkage,
    solver_details,
)
from tempocal.calibrators.standardization import Standardization, StandardizationCache
from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.maps import Form
from tempocal.rows import Rows
from tempocal.solve import (
    MAX_NEWTON_COEFFICIENTS,
    N_FOLDS,
    FixedStrengths,
    Penalty,
    Problem,
    RegularizedFit,
    posterior_of,
    update_fit,
)

# Of a model that L-BFGS is not for.
NO_MOMENT = np.ones((1, 1))
# Names and numbers of a map that are shown in a summary.
MOST_SHOWN = 100


@dataclass(frozen=True)
class LinearModel:
    """Features of the logits, and what their coefficients may be.

    Attributes
    ----------
    rows : callable
        Makes the rows, from the key of each and the number of keys.
    identity : ndarray of shape (coefficients,)
        The coefficients that change nothing.
    slopes, biases : ndarray of shape (coefficients,)
        Which coefficients are slopes and which biases, as ones and zeros; the others are
        not penalized.
    lower : ndarray of shape (coefficients,)
        Lower bounds.
    baseline_penalty : ndarray of shape (coefficients,)
        Diagonal of a penalty that does not depend on the strengths.
    readout : ndarray of shape (numbers of the map, coefficients)
        From coefficients to the numbers of the map.
    moment, max_newton
        As for `Problem`.
    standardization : Standardization or None
        Centers and scale of the features, if the logits are not of ordinary size.
    """

    rows: Callable[[Codes | None, int], Rows]
    identity: Array
    slopes: Array
    biases: Array
    lower: Array
    baseline_penalty: Array
    readout: Array | None = None
    moment: Array = field(default_factory=lambda: NO_MOMENT)
    max_newton: int = MAX_NEWTON_COEFFICIENTS
    standardization: Standardization | None = None

    @property
    def units(self) -> tuple[float, float]:
        """Strengths of slopes and biases in the units of the map, at strength 1."""
        if self.standardization is None:
            return 1.0, 1.0
        return self.standardization.scale**-2, self.standardization.bias_unit**-2

    def standardized(self, standardization: Standardization | None) -> "LinearModel":
        """Take coefficients in other coordinates, in which ``rows`` are already."""
        if standardization is None:
            return self
        raw = standardization.to_raw(self.biases != 0.0)
        one = raw[: len(self.moment), : len(self.moment)]
        return replace(
            self,
            identity=np.asarray(np.linalg.solve(raw, self.identity), dtype=np.float64),
            biases=self.biases / standardization.bias_unit**2,
            lower=np.where(self.biases == 0.0, self.lower / standardization.scale, self.lower),
            readout=np.asarray(raw if self.readout is None else self.readout @ raw),
            moment=one.T @ self.moment @ one,
            standardization=standardization,
        )

    def problem(self, keys: Codes | None = None, n_keys: int = 1) -> Problem:
        """Make the problem whose coefficients are the same for all rows, whatever their key."""
        return Problem(
            rows=self.rows(keys, n_keys),
            basis=np.zeros(n_keys, dtype=np.intp),
            identity=self.identity,
            penalties=(
                Penalty("slopes", self.slopes, unit=self.units[0]),
                Penalty("biases", self.biases, unit=self.units[1]),
            ),
            lower=self.lower,
            baseline_penalty=self.baseline_penalty,
            moment=self.moment,
            max_newton=self.max_newton,
        )

    def numbers(self, theta: Array) -> Array:
        """From coefficients, along the last axis, to the numbers of the map."""
        return theta if self.readout is None else np.asarray(theta @ self.readout.T)


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
        if not hasattr(self, "map_"):
            first = check_first_classes(classes, self.classes)
            self._fit_rows(logits, y, sample_weight, groups, first)
            self._online_state = mark_for_saving(self._online_state)
            return self
        known = require_online_state(self._online_state).discounted(share)
        check_later_classes(classes, self.classes_)
        checked = self._check_rows(logits, y, sample_weight, groups, self.classes_)
        self._check_feature_names(checked.logits)
        data = replace(
            checked.data,
            earlier_class_weights=known.class_weights,
            standardizations=StandardizationCache(known.standardization_by_model),
        )
        check_later_groups(data.groups, self.summary_.n_groups)
        losses = data.nll_before_and_after(self.map_)
        fitted = update_family(self._family(data), self.shrinkage, known, data)
        self.map_, self._online_state = fitted.map, mark_for_saving(fitted.online_state)
        self.summary_ = data.add_to_summary(self.summary_, losses, fitted.details)
        return self

    def _fit_map(self, data: FitData) -> FitResult:
        return fit_family(self._family(data), self.shrinkage, data)


def linear_model(
    rows: Callable[[Codes | None, int], Rows],
    identity: Any,
    biases: Any,
    *,
    free: Any = False,
    lower: Any = -np.inf,
    baseline_penalty: Any = 0.0,
    **rest: Any,
) -> LinearModel:
    """Make a model whose settings are numbers for all its coefficients or one for each.

    What is neither a bias nor ``free`` is a slope.
    """
    start = np.asarray(identity, dtype=np.float64)
    return LinearModel(
        rows=rows,
        identity=start,
        slopes=np.full(start.shape, np.logical_not(np.logical_or(biases, free)), dtype=np.float64),
        biases=np.full(start.shape, biases, dtype=np.float64),
        lower=np.full(start.shape, lower, dtype=np.float64),
        baseline_penalty=np.full(start.shape, baseline_penalty, dtype=np.float64),
        **rest,
    )


def fit_alone(
    model: LinearModel, family: Family, shrinkage: Any, data: FitData
) -> tuple[Problem, RegularizedFit, FixedStrengths]:
    """Fit coefficients that are the same for all rows; tell also which strengths are given."""
    strengths = check_shrinkage(shrinkage)
    by_folds = family.choose == "folds" and strengths is None
    keys = data.folds(N_FOLDS) if by_folds else None
    problem = model.problem(keys, N_FOLDS if by_folds else 1)
    result = fit_with_shrinkage(problem, strengths, data.groups, family.choose)
    check_solution(problem, result, shrinkage)
    # Strengths that were chosen by folds are as good as given.
    return problem, result, result.strengths if by_folds else strengths or (None, None)


def fit_family(family: Family, shrinkage: Any, data: FitData) -> FitResult:
    """Fit the models of a family, and make their map."""
    problems, fits, fixed_strengths = zip(
        *(fit_alone(model, family, shrinkage, data) for model in family.models), strict=True
    )
    losses: tuple[float | None, float | None] = (None, None)
    before = problems[0].loss_at_identity if family.loss_is_nll else None
    if before is not None:
        total = problems[0].rows.total_weight
        losses = (before / total, fits[0].solution.loss / total)
    return _made(family, problems, fits, data, fixed_strengths=fixed_strengths[0], losses=losses)


def update_family(family: Family, shrinkage: Any, known: OnlineState, data: FitData) -> FitResult:
    """Fit the same coefficients to rows that came later, beside what is known of earlier ones."""
    problems = [
        replace(model.problem(), earlier_loss=before.quadratic_loss)
        for model, before in zip(family.models, known.posteriors, strict=True)
    ]
    fits = [
        update_fit(problem, before, data.groups)
        for problem, before in zip(problems, known.posteriors, strict=True)
    ]
    for problem, result in zip(problems, fits, strict=True):
        check_solution(problem, result, shrinkage)
    return _made(
        family,
        problems,
        fits,
        data,
        fixed_strengths=known.posteriors[0].fixed_strengths,
        before=known,
    )


def _made(
    family: Family,
    problems: Sequence[Problem],
    fits: Sequence[RegularizedFit],
    data: FitData,
    *,
    fixed_strengths: FixedStrengths,
    before: OnlineState | None = None,
    losses: tuple[float | None, float | None] = (None, None),
) -> FitResult:
    """Make the map of fitted coefficients, and what is to be told and to be remembered of them."""
    thetas = [family.canonicalize(one.solution.theta, one.strengths[0] == 0.0) for one in fits]
    numbers = [model.numbers(theta) for model, theta in zip(family.models, thetas, strict=True)]
    fitted = family.form.to_map(numbers)
    effects = [one.design_effect for one in fits if one.design_effect is not None]
    parameters = {
        name: value.tolist()
        for name, value in family.form.parameters(numbers).items()
        if value.size <= MOST_SHOWN
    }
    online_state = None
    if all(one.solution.hessian is not None for one in fits):
        known = [None] * len(fits) if before is None else before.posteriors
        models = [
            posterior_of(problem, fit, fixed_strengths, fit.design_effect or 1.0, one)
            for problem, fit, one in zip(problems, fits, known, strict=True)
        ]
        standardizations = tuple(model.standardization for model in family.models)
        online_state = OnlineState(
            tuple(models), data.class_weights, standardizations=standardizations
        )
    return FitResult(
        fitted,
        {**parameters, **solver_details(problems, fits)},
        max(effects) if effects else None,
        nll_before=losses[0],
        nll_after=losses[1],
        online_state=online_state,
    )

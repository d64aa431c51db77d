"""Fit, refit and update models whose coefficients are ``theta(t) = sum_k basis_k(t) table[k]``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.linear_model import LinearModel
from tempocal.calibrators.parametric import (
    Family,
    Shrinkage,
    check_shrinkage,
    check_solution,
    fit_model,
)
from tempocal.curves.curve import Rates, Shape, Track
from tempocal.errors import NoFiniteOptimumError, TooManyCoefficientsError
from tempocal.inputs import Codes, Groups
from tempocal.lazy import cached
from tempocal.links import Array
from tempocal.maps import Basis, BinBasis, ConstantBasis, Curves, StepBasis, curves_of
from tempocal.solve import (
    FixedStrengths,
    Penalty,
    Posterior,
    Problem,
    ProfileFit,
    RateIterate,
    RegularizedFit,
    fit,
    fit_blockwise,
    fit_by_evidence,
    fit_profile,
    fit_profile_by_evidence,
    update_fit,
)

# A curve has several times as many coefficients, but most of them affect few keys.
MAX_COEFFICIENTS = 2000
# With independent steps the Hessian is block diagonal, which allows more coefficients.
MAX_BLOCKWISE = 10_000


@dataclass(frozen=True)
class CurveFit:
    """One model of a family, fitted along time."""

    model: LinearModel
    track: Track
    problem: Problem
    result: RegularizedFit
    log_rates: tuple[float, ...]
    fixed_strengths: FixedStrengths
    canonicalize: Callable[[Array, bool], Array]

    @cached
    def basis(self) -> Basis:
        """Basis functions at the fitted rates."""
        return self.shape_at(self.log_rates).basis

    @cached
    def table(self) -> Array:
        """Coefficients of the map's parameters: (basis functions, parameters)."""
        theta = self.result.solution.theta.reshape(-1, len(self.model.identity))
        unpenalized = self.result.strengths[0] == 0.0
        return self.model.numbers(self.canonicalize(theta, unpenalized))

    def shape_at(self, log_rates: Sequence[float]) -> Shape:
        """Return the basis and its penalties at these rates."""
        return self.track.shape(np.exp(log_rates).tolist())


def fit_models(family: Family, track: Track, shrinkage: Shrinkage, data: FitData) -> list[CurveFit]:
    """Fit every model of a family along the same track."""
    return [_fit(model, family, track, shrinkage, data) for model in family.models]


def refit_models(family: Family, track: Track, fitted: Sequence[CurveFit]) -> list[CurveFit]:
    """Fit the same models to other rows on the same keys, at the same strengths.

    Coefficients and rates are fitted again, with a warm start.
    """
    pairs = zip(family.models, fitted, strict=True)
    refits = [_refit(model, track, previous) for model, previous in pairs]
    if any(one.result.solution.unbounded for one in refits):
        raise NoFiniteOptimumError("without some of the groups the best coefficients are infinite")
    return refits


def update_models(
    family: Family,
    track: Track,
    known: Sequence[Posterior],
    shrinkage: Shrinkage,
    groups: Groups | None,
) -> list[CurveFit]:
    """Update the posteriors of the models with later rows.

    Rates are kept; the track and the groups are those of the new rows.
    """
    models = []
    for model, previous in zip(family.models, known, strict=True):
        problem, separate = _update_problem(model, track, previous)
        result = update_fit(problem, previous, groups, blockwise=separate)
        check_solution(problem, result, shrinkage, track.grid.times)
        models.append(
            CurveFit(
                model,
                track,
                problem,
                result,
                previous.log_rates,
                previous.fixed_strengths,
                family.canonicalize,
            )
        )
    return models


def to_curves(family: Family, fitted: Sequence[CurveFit]) -> Curves:
    """Combine the fitted models into one map."""
    return curves_of(
        family.form, tuple(one.basis for one in fitted), tuple(one.table for one in fitted)
    )


def _fit(
    model: LinearModel, family: Family, track: Track, shrinkage: Shrinkage, data: FitData
) -> CurveFit:
    if isinstance(track.shape((1.0,) * track.n_rates).basis, ConstantBasis):
        return _fit_constant(model, family, track, shrinkage, data)
    given: FixedStrengths = check_shrinkage(shrinkage) or (None, None)
    # Slopes and biases have separate smoothness penalties.
    fixed_strengths = given + tuple(
        None if one is None else one / unit for one in track.smoothness for unit in model.units
    )
    first = _initial_problem(model, track)
    if first.n_coefficients > first.max_newton:
        raise TooManyCoefficientsError(
            f"the curve has {track.grid.n_keys} times and the calibrator {len(model.identity)} "
            f"coefficients, {first.n_coefficients} together, but at most {first.max_newton} can "
            "be fitted along time: take Spline(), PerStep(bins=20), or a simpler calibrator"
        )

    def at_rates(log_rates: Rates) -> Problem:
        shape = track.shape([np.exp(rate) for rate in log_rates])
        return _with_shape(first, model, track, shape)

    if track.n_rates:
        profiled = fit_profile_by_evidence(at_rates, track.n_rates, data.groups, fixed_strengths)
        problem = at_rates(profiled.log_rates)
    else:
        result = _fit_linear(first, track.shape(()).separate, fixed_strengths, data.groups)
        profiled, problem = ProfileFit((), result), first
    check_solution(problem, profiled.result, shrinkage, track.grid.times)
    return CurveFit(
        model,
        track,
        problem,
        profiled.result,
        profiled.log_rates,
        fixed_strengths,
        family.canonicalize,
    )


def _refit(model: LinearModel, track: Track, previous: CurveFit) -> CurveFit:
    strengths, start = previous.result.strengths, previous.result.solution.theta
    rows = model.rows(track.grid.keys, track.grid.n_keys)
    shape = previous.shape_at(previous.log_rates)
    if isinstance(shape.basis, ConstantBasis):
        problem = replace(previous.problem, rows=rows, basis=np.zeros(rows.n_keys, dtype=np.intp))
        result = RegularizedFit(fit(problem, strengths, start), strengths)
        return CurveFit(
            model,
            track,
            problem,
            result,
            previous.log_rates,
            previous.fixed_strengths,
            previous.canonicalize,
        )

    def at_rates(log_rates: Rates) -> Problem:
        shape = track.shape([np.exp(rate) for rate in log_rates])
        return _with_shape(replace(previous.problem, rows=rows), model, track, shape)

    if track.n_rates:
        iterate = RateIterate(previous.log_rates, previous.result.solution)
        profile = fit_profile(at_rates, track.n_rates, strengths, iterate)
        result = RegularizedFit(profile.solution, strengths)
        problem = at_rates(profile.log_rates)
        return CurveFit(
            model,
            track,
            problem,
            result,
            profile.log_rates,
            previous.fixed_strengths,
            previous.canonicalize,
        )
    problem = at_rates(())
    # No warm start: a step without rows must not keep its earlier value.
    solution = fit_blockwise(problem, strengths) if shape.separate else None
    result = RegularizedFit(solution or fit(problem, strengths, start), strengths)
    return replace(previous, model=model, track=track, problem=problem, result=result)


def _update_problem(model: LinearModel, track: Track, previous: Posterior) -> tuple[Problem, bool]:
    """Return the problem of later rows, and whether its steps are independent."""
    shape = track.shape(np.exp(previous.log_rates).tolist())
    problem = _with_shape(model.problem(track.grid.keys, track.grid.n_keys), model, track, shape)
    problem = replace(problem, earlier_loss=previous.quadratic_loss)
    if not shape.separate:
        # The keys are those of the new rows, not the grid of the first fit.
        problem = replace(problem, basis=shape.basis(track.grid.times))
    return problem, shape.separate


def _fit_constant(
    model: LinearModel, family: Family, track: Track, shrinkage: Shrinkage, data: FitData
) -> CurveFit:
    """Fit as the calibrator would without time."""
    alone = fit_model(model, family, shrinkage, data)
    return CurveFit(
        model,
        track,
        alone.problem,
        alone.result,
        (1.0,) * track.n_rates,
        alone.fixed_strengths,
        family.canonicalize,
    )


def _fit_linear(
    problem: Problem, separate: bool, fixed_strengths: FixedStrengths, groups: Groups | None
) -> RegularizedFit:
    method = fit_blockwise if separate else fit
    given = tuple(one for one in fixed_strengths if one is not None)
    if len(given) == len(fixed_strengths):
        return RegularizedFit(method(problem, given, None), given)
    return fit_by_evidence(problem, groups, fixed_strengths, fit=method)


def _initial_problem(model: LinearModel, track: Track) -> Problem:
    """Return the problem at an arbitrary rate."""
    problem = model.problem(track.grid.keys, track.grid.n_keys)
    shape = track.shape((1.0,) * track.n_rates)
    newton = max(model.max_newton, MAX_BLOCKWISE if shape.separate else MAX_COEFFICIENTS)
    return _with_shape(replace(problem, max_newton=newton), model, track, shape)


def _with_shape(problem: Problem, model: LinearModel, track: Track, shape: Shape) -> Problem:
    """Expand every coefficient of the model in the basis of this shape."""
    changed = replace(
        problem, basis=_basis_at_keys(shape.basis, track), penalties=_penalties(model, shape)
    )
    count = shape.basis.n_functions
    if problem.n_coefficients == count * len(model.identity):
        return changed
    return replace(
        changed,
        identity=np.tile(model.identity, count),
        lower=np.tile(model.lower, count),
        baseline_penalty=np.tile(model.baseline_penalty, count),
    )


def _basis_at_keys(basis: Basis, track: Track) -> Array | Codes:
    if isinstance(basis, StepBasis | BinBasis):
        # Every key is its own step.
        return np.arange(track.grid.n_keys, dtype=np.intp)
    return basis(track.grid.times)


def _penalties(model: LinearModel, shape: Shape) -> tuple[Penalty, ...]:
    biases, width, (of_slopes, of_biases) = model.biases, len(model.identity), model.units
    penalties = [
        Penalty("slopes", _expand_penalty(shape.level, model.slopes), unit=of_slopes),
        Penalty("biases", _expand_penalty(shape.level, biases), unit=of_biases),
    ]
    others = (biases == 0.0).astype(np.float64)
    for index, smooth in enumerate(shape.smooth):
        which = "" if len(shape.smooth) == 1 else f"_along_clock_{index + 1}"
        penalties += [
            Penalty(
                f"smoothness_of_slopes{which}", _expand_penalty(smooth, others), width, of_slopes
            ),
            Penalty(
                f"smoothness_of_biases{which}", _expand_penalty(smooth, biases), width, of_biases
            ),
        ]
    return tuple(penalties)


def _expand_penalty(penalty_matrix: Array, which: Array) -> Array:
    """Apply a penalty on the basis functions to the coefficients in ``which`` (0 or 1 each)."""
    if penalty_matrix.ndim == 1:
        return np.outer(penalty_matrix, which).ravel()
    if len(which) == 1:
        return np.asarray(penalty_matrix * which[0], dtype=np.float64)
    n = penalty_matrix.shape[-1] * len(which)
    # Kronecker product over the last two axes.
    products = penalty_matrix[..., :, None, :, None] * np.diag(which)[:, None, :]
    return products.reshape(*penalty_matrix.shape[:-2], n, n)

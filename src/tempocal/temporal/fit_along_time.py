"""Fit a calibrator along a curve: every coefficient is ``sum_k basis_k(t) table[k]``."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import ThreadpoolController

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.identity import Identity
from tempocal.calibrators.linear_model import LinearModel
from tempocal.calibrators.online_state import OnlineState
from tempocal.calibrators.parametric import (
    Family,
    ParametricCalibrator,
    Shrinkage,
    check_shrinkage,
    check_solution,
    fit_model,
    solver_details,
)
from tempocal.calibrators.summary import Summary
from tempocal.curves.curve import Curve, Rates, Shape, Track
from tempocal.curves.grid import Grid, warn_of_stray_times
from tempocal.errors import AtBoundWarning, TooManyCoefficientsError, warn_user
from tempocal.lazy import cached
from tempocal.links import Array
from tempocal.maps import (
    Band,
    Basis,
    BinBasis,
    ConstantBasis,
    Curves,
    StepBand,
    StepBasis,
    TemporalMap,
    curves_of,
)
from tempocal.solve import (
    FixedStrengths,
    Penalty,
    Problem,
    RegularizedFit,
    fit,
    fit_by_evidence,
    fit_profile_by_evidence,
)
from tempocal.solve.estimating_rates import FASTEST, SLOWEST
from tempocal.solve.penalties import as_matrix
from tempocal.temporal.bands import Inference, effective_coefficients, infer
from tempocal.temporal.gain_interval import compare_losses
from tempocal.temporal.per_step_maps import fit_each_step

if TYPE_CHECKING:
    from tempocal.temporal.horizon import HorizonChoice

# A curve has several times as many coefficients, but most of them affect few keys.
MAX_COEFFICIENTS = 2000
# With independent steps the Hessian is block diagonal, which allows more coefficients.
MAX_BLOCKWISE = 10_000
# Steps with fewer groups than this (rows, without groups) are reported as thin.
THIN = 20
# With more steps time counts as continuous, and no step is reported as thin.
MAX_STEPS = 256


@dataclass(frozen=True)
class CurveFit:
    """One model of a family, fitted along time."""

    model: LinearModel
    family: Family
    track: Track
    problem: Problem
    result: RegularizedFit
    fixed_strengths: FixedStrengths
    log_rates: tuple[float, ...]

    @cached
    def basis(self) -> Basis:
        """Basis functions at the fitted rates."""
        return self.shape_at(self.log_rates).basis

    @cached
    def table(self) -> Array:
        """Coefficients of the map's parameters: (basis functions, parameters)."""
        theta = self.result.solution.theta.reshape(-1, len(self.model.identity))
        unpenalized = self.result.strengths[0] == 0.0
        return self.model.numbers(self.family.canonicalize(theta, unpenalized))

    def shape_at(self, log_rates: Sequence[float]) -> Shape:
        """Return the basis and its penalties at these rates."""
        return self.track.shape(np.exp(log_rates).tolist())


@dataclass(frozen=True)
class TemporalFitResult:
    """The fitted map along time, one band per model, and the summary of the fit."""

    map: TemporalMap
    bands: tuple[Band | StepBand, ...]
    summary: Summary
    n_effective: float | None
    track: Track
    models: tuple[CurveFit, ...]
    online_state: OnlineState | None = None
    horizon: "HorizonChoice | None" = None
    # By how much the choice of strengths lowers the summed loss of rows that had a say in it.
    of_strengths: float = 0.0


@dataclass(frozen=True)
class FittedCurves:
    """A calibrator fitted along a curve, without its bands: all that a comparison needs.

    ``models`` are those of a parametric calibrator; ``data`` has the rows that were fitted.
    """

    calibrator: Calibrator
    curve: Curve
    data: FitData
    track: Track
    map: TemporalMap
    models: tuple[CurveFit, ...] = ()

    @cached
    def n_effective(self) -> float | None:
        """Effective number of coefficients; None if the calibrator has none."""
        if isinstance(self.calibrator, Identity):
            return 0.0
        if not self.models:
            return None
        return sum(effective_coefficients(one, self.data.groups) for one in self.models)

    def with_bands(self) -> TemporalFitResult:
        """Add bands, the summary, and the state that later rows update."""
        details = _step_details(self.track, self.data)
        if isinstance(self.calibrator, Identity):
            band = StepBand(ConstantBasis(), np.zeros((1, 1)))
            return TemporalFitResult(self.map, (band,), self._summarize({}), 0.0, self.track, ())
        if not self.models:
            return TemporalFitResult(self.map, (), self._summarize(details), None, self.track, ())
        inferences = [infer(model, self.data.groups) for model in self.models]
        details |= details_along_time(self.models, inferences)
        return TemporalFitResult(
            self.map,
            tuple(one.band for one in inferences),
            self._summarize(details, inferences, self.track.grid),
            sum(one.n_effective for one in inferences),
            self.track,
            self.models,
            OnlineState(
                tuple(one.posterior for one in inferences),
                self.data.class_weights,
                self.track.grid.times,
                self.track.grid.weights,
                standardizations=tuple(one.model.standardization for one in self.models),
            ),
            of_strengths=sum(one.optimism.of_strengths for one in inferences if one.optimism),
        )

    def _summarize(
        self,
        details: dict[str, Any],
        inferences: Sequence[Inference] = (),
        grid: Grid | None = None,
    ) -> Summary:
        return _summarize(
            self.calibrator,
            self.curve,
            self.data,
            self.map,
            details=details,
            inferences=inferences,
            grid=grid,
        )


def fit_curves(
    calibrator: Calibrator, curve: Curve, shrinkage: Shrinkage | None, data: FitData
) -> FittedCurves:
    """Fit a calibrator along a curve to checked rows, without bands."""
    calibrator = with_shrinkage(calibrator, shrinkage)
    track = data.track(curve)
    if track.bulk is not None:
        warn_of_stray_times(track.bulk, data.total_weight)
    if isinstance(calibrator, Identity):
        unchanged = Curves("scale", (ConstantBasis(),), (np.ones((1, 1)),))
        return FittedCurves(calibrator, curve, data, track, unchanged)
    data = data if track.kept is None else data.take(track.kept)
    if not isinstance(calibrator, ParametricCalibrator):
        maps = fit_each_step(calibrator, curve, track, data)
        return FittedCurves(calibrator, curve, data, track, maps)
    family = calibrator._family(data)
    models = [_fit_curve(one, family, track, calibrator.shrinkage, data) for one in family.models]
    return FittedCurves(calibrator, curve, data, track, to_curves(family, models), tuple(models))


def _fit_curve(
    model: LinearModel, family: Family, track: Track, shrinkage: Shrinkage, data: FitData
) -> CurveFit:
    """Fit one model of a family along a curve."""
    # Where there are rates, at an arbitrary one.
    shape, log_rates = track.shape((1.0,) * track.n_rates), (1.0,) * track.n_rates
    if isinstance(shape.basis, ConstantBasis):
        # As the calibrator would without time.
        alone = fit_model(model, family, shrinkage, data)
        fixed_strengths = alone.fixed_strengths
        return CurveFit(
            model, family, track, alone.problem, alone.result, fixed_strengths, log_rates
        )
    # Slopes and biases have separate smoothness penalties.
    level = check_shrinkage(shrinkage) or (None,) * len(model.penalties())
    fixed_strengths = level + tuple(
        None if one is None else one / unit for one in track.smoothness for unit in model.units
    )
    most = max(model.max_newton, MAX_BLOCKWISE if shape.separate else MAX_COEFFICIENTS)
    problem = replace(model.problem(track.grid.keys, track.grid.n_keys), max_newton=most)
    problem = expand(problem, model, track, shape)
    if problem.n_coefficients > most:
        raise TooManyCoefficientsError(
            f"the curve has {track.grid.n_keys} times and the calibrator {len(model.identity)} "
            f"coefficients, {problem.n_coefficients} together, but at most {most} can "
            "be fitted along time: take Spline(), PerStep(bins=20), or a simpler calibrator"
        )
    given = tuple(one for one in fixed_strengths if one is not None)
    if track.n_rates:
        at_rates = partial(expand_at_rates, problem, model, track)
        profiled = fit_profile_by_evidence(at_rates, track.n_rates, data.groups, fixed_strengths)
        result, log_rates = profiled.result, profiled.log_rates
        problem = at_rates(log_rates)
    elif len(given) == len(fixed_strengths):
        result = RegularizedFit(fit(problem, given), given)
    else:
        result = fit_by_evidence(problem, data.groups, fixed_strengths)
    check_solution(problem, result, shrinkage, track.grid.times)
    return CurveFit(model, family, track, problem, result, fixed_strengths, log_rates)


def expand_at_rates(
    problem: Problem, model: LinearModel, track: Track, log_rates: Rates
) -> Problem:
    """Expand every coefficient of the model in the basis of the curve at these rates."""
    return expand(problem, model, track, track.shape([np.exp(rate) for rate in log_rates]))


def expand(problem: Problem, model: LinearModel, track: Track, shape: Shape) -> Problem:
    """Expand every coefficient of the model in the basis of this shape."""
    # Of steps each key is its own.
    is_step = isinstance(shape.basis, StepBasis | BinBasis)
    keys = np.arange(track.grid.n_keys, dtype=np.intp)
    basis = keys if is_step else shape.basis(track.grid.times)
    trend = None
    if shape.trend is not None:
        trend = np.asarray(np.kron(shape.trend, np.eye(len(model.identity))), dtype=np.float64)
    problem = replace(problem, basis=basis, penalties=_penalties(model, shape), trend=trend)
    count = shape.basis.n_functions
    if problem.n_coefficients == count * len(model.identity):
        return problem
    return replace(
        problem,
        identity=np.tile(model.identity, count),
        lower=np.tile(model.lower, count),
        baseline_penalty=np.tile(model.baseline_penalty, count),
    )


def _penalties(model: LinearModel, shape: Shape) -> tuple[Penalty, ...]:
    biases, width, (of_slopes, of_biases) = model.biases, len(model.identity), model.units
    penalties = list(model.penalties(partial(_expand_level, shape)))
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


def _expand_level(shape: Shape, which: Array) -> Array:
    """Apply the penalty of level of a curve to coefficients, by a matrix or its diagonal."""
    if which.ndim == 2 and shape.separate:
        return np.asarray(shape.level[:, None, None] * which, dtype=np.float64)
    level = np.diag(shape.level) if shape.level.ndim < which.ndim else shape.level
    return _expand_penalty(level, which)


def _expand_penalty(penalty_matrix: Array, which: Array) -> Array:
    """Apply a penalty on the basis functions to coefficients, by a matrix or its diagonal."""
    if penalty_matrix.ndim == 1:
        return np.outer(penalty_matrix, which).ravel()
    if len(which) == 1:
        return np.asarray(penalty_matrix * which[0], dtype=np.float64)
    n = penalty_matrix.shape[-1] * len(which)
    # Kronecker product over the last two axes.
    products = penalty_matrix[..., :, None, :, None] * as_matrix(which)[:, None, :]
    return products.reshape(*penalty_matrix.shape[:-2], n, n)


def to_curves(family: Family, fitted: Sequence[CurveFit]) -> Curves:
    """Combine the fitted models into one map."""
    return curves_of(
        family.form, tuple(one.basis for one in fitted), tuple(one.table for one in fitted)
    )


def details_along_time(
    models: Sequence[CurveFit], inferences: Sequence[Inference]
) -> dict[str, Any]:
    """Return the summary details of the models; warn of rates at their bounds."""
    for rate in (rate for one in models if one.track.n_rates for rate in one.log_rates):
        if rate <= SLOWEST or rate >= FASTEST:
            shape = "a straight line" if rate <= SLOWEST else "a step after the first time"
            warn_user(
                f"the rate of the exponential stands at the end of its range: the curve is "
                f"{shape}, or there is none. Compare with Constant() and Spline()",
                AtBoundWarning,
            )
    return {
        **solver_details([one.problem for one in models], [one.result for one in models]),
        "effective_coefficients": sum(one.n_effective for one in inferences),
    }


def _step_details(track: Track, data: FitData) -> dict[str, Any]:
    """Return the number of steps and the thin ones."""
    grid = track.grid
    facts: dict[str, Any] = {"times": grid.n_keys}
    if 1 < grid.n_keys <= MAX_STEPS and grid.times.ndim == 1:
        found = data.groups_by_key(grid.keys, grid.n_keys)
        counts = grid.weights if found is None else found
        facts["thin_steps"] = grid.times[counts < THIN].tolist()
    return facts


def _summarize(
    calibrator: Calibrator,
    curve: Curve,
    data: FitData,
    fitted: TemporalMap,
    *,
    details: dict[str, Any],
    inferences: Sequence[Inference] = (),
    grid: Grid | None = None,
) -> Summary:
    comparison = compare_losses(data, fitted, grid)
    gain = comparison.gain
    facts = {**details, "gain": gain.mean}
    if inferences:
        facts["gain_interval"] = [gain.lower, gain.upper]
    optimism = inferences[0].optimism if len(inferences) == 1 else None
    if optimism is not None:
        # Those of one-vs-rest models would not add up to that of the multiclass loss.
        total = data.total_weight
        new = gain.lowered(optimism.mean / total, np.sqrt(optimism.variance) / total, data)
        facts["gain_on_new_rows"] = new.mean
        facts["gain_on_new_rows_interval"] = [new.lower, new.upper]
    effects = [one.design_effect for one in inferences]
    total = data.total_weight
    return Summary(
        calibrator=f"{type(calibrator).__name__} along {curve!r}",
        n_rows=data.n_given_rows,
        total_weight=total,
        n_groups=None if data.groups is None else data.groups.count,
        effective_number=total / max(effects) if effects else None,
        nll_before=comparison.before,
        nll_after=comparison.after,
        details=facts,
    )


def with_shrinkage(calibrator: Calibrator, shrinkage: Shrinkage | None) -> Calibrator:
    """Return the calibrator with its shrinkage replaced, if one is given."""
    if shrinkage is None or isinstance(calibrator, Identity):
        return calibrator
    check_shrinkage(shrinkage)
    # A shallow copy suffices: a fit reads only the settings, no fitted attributes.
    changed: Calibrator = copy(calibrator).set_params(shrinkage=shrinkage)
    return changed


def one_blas_thread() -> AbstractContextManager[Any]:
    """Keep matrix products on one thread: matrices this small lose more by waiting.

    On a busy machine with two cores, fits took up to a hundred times as long without it.
    """
    limited: AbstractContextManager[Any] = _blas_controller().limit(limits=1, user_api="blas")
    return limited


@lru_cache(maxsize=1)
def _blas_controller() -> ThreadpoolController:
    return ThreadpoolController()

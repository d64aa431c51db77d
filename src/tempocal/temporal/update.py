"""Update a fit along time with later rows, without the earlier ones."""

from dataclasses import replace

import numpy as np

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.online_state import OnlineState
from tempocal.calibrators.parametric import (
    Family,
    ParametricCalibrator,
    Shrinkage,
    check_solution,
)
from tempocal.calibrators.summary import Summary
from tempocal.curves.constant import Constant
from tempocal.curves.curve import Curve, Shape, Track
from tempocal.curves.grid import Grid, fine, pairs
from tempocal.curves.per_step import PerStep
from tempocal.errors import InputError
from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.maps import BinBasis, ConstantBasis, Curves, StepBasis, TemporalMap
from tempocal.solve import update_fit
from tempocal.temporal.bands import infer
from tempocal.temporal.fit_along_time import (
    CurveFit,
    TemporalFitResult,
    details_along_time,
    expand,
    to_curves,
)
from tempocal.temporal.gain_interval import compare_losses
from tempocal.temporal.horizon import kept_details


def update_along_time(
    calibrator: Calibrator,
    curve: Curve,
    *,
    state: OnlineState,
    fitted: TemporalMap,
    summary: Summary,
    data: FitData,
) -> TemporalFitResult:
    """Update a fit; the summary evaluates the new rows with the model before the update.

    Rows that learn from forecasts must lie sequence by sequence.
    """
    assert isinstance(calibrator, ParametricCalibrator)
    assert isinstance(fitted, Curves)
    comparison = compare_losses(data, _with_nearest_steps(fitted))
    state, track = _place_rows(curve, state, fitted, data)
    data = replace(data, earlier=state)
    family = calibrator._family(data)
    if family.form.name != fitted.form:
        raise InputError("the calibrator is not the one of the first call: fit again to change it")
    models = _update_models(family, track, calibrator.shrinkage, state, data)
    inferences = [
        infer(model, data.groups, before)
        for model, before in zip(models, state.posteriors, strict=True)
    ]
    online_state = replace(
        state,
        posteriors=tuple(one.posterior for one in inferences),
        class_weights=data.class_weights,
    )
    return TemporalFitResult(
        to_curves(family, models),
        tuple(one.band for one in inferences),
        data.add_to_summary(
            summary,
            (comparison.before, comparison.after),
            {**kept_details(summary), **details_along_time(models, inferences)},
        ),
        sum(one.n_effective for one in inferences),
        track,
        tuple(models),
        online_state,
    )


def _update_models(
    family: Family, track: Track, shrinkage: Shrinkage, state: OnlineState, data: FitData
) -> list[CurveFit]:
    """Update the posteriors of the models with later rows; rates are kept."""
    models = []
    for model, previous in zip(family.models, state.posteriors, strict=True):
        shape = track.shape(np.exp(previous.log_rates).tolist())
        problem = expand(model.problem(track.grid.keys, track.grid.n_keys), model, track, shape)
        problem = replace(problem, earlier_loss=previous.quadratic_loss)
        if not shape.separate:
            # The keys are those of the new rows, not the grid of the first fit.
            problem = replace(problem, basis=shape.basis(track.grid.times))
        result = update_fit(problem, previous, data.groups)
        check_solution(problem, result, shrinkage, track.grid.times)
        fixed_strengths = previous.for_penalties(len(problem.penalties)).fixed_strengths
        log_rates = previous.log_rates
        models.append(CurveFit(model, family, track, problem, result, fixed_strengths, log_rates))
    return models


def _with_nearest_steps(fitted: Curves) -> Curves:
    """Use the nearest step for times that are not among the steps."""
    bases = [
        replace(basis, unseen="nearest")
        if isinstance(basis, StepBasis) and basis.unseen == "error"
        else basis
        for basis in fitted.bases
    ]
    return replace(fitted, bases=tuple(bases))


def _place_rows(
    curve: Curve, state: OnlineState, fitted: Curves, data: FitData
) -> tuple[OnlineState, Track]:
    """Return the track of the first call with the new rows on it, and the state on its grid."""
    times, weights, basis = data.times, data.weights, fitted.bases[0]
    assert times is not None
    if isinstance(curve, PerStep) and isinstance(basis, BinBasis):
        shape = Shape(basis, np.ones(len(state.times)), separate=True)
        return state, Track(
            _grid_of_steps(basis.codes(times), state.times, weights), lambda _: shape
        )
    if isinstance(curve, PerStep) and isinstance(basis, StepBasis) and curve.bins is None:
        return _with_new_steps(curve, state, data)
    track = curve.track(state.times, state.time_weights)
    _require_same_curve(track, state, fitted)
    if isinstance(basis, ConstantBasis) and not isinstance(curve, Constant):
        raise InputError(
            f"there was one time only in the first call, along which {curve!r} could not be laid: "
            "fit again, to rows of several times"
        )
    grid = fine(times, weights) if times.ndim == 1 else _grid_of_two_clocks(times, weights)
    return state, replace(track, grid=grid)


def _require_same_curve(track: Track, state: OnlineState, fitted: Curves) -> None:
    """Refuse a curve that was changed after the first call."""
    before, rates = fitted.bases[0], state.posteriors[0].log_rates
    same = len(rates) == track.n_rates
    if same:
        basis = track.shape(np.exp(rates).tolist()).basis
        same = type(basis) is type(before) and basis.n_functions == before.n_functions
        same = same and np.allclose(basis(state.times), before(state.times))
    if not same:
        raise InputError("the curve is not the one of the first call: fit again to change it")


def _with_new_steps(curve: PerStep, state: OnlineState, data: FitData) -> tuple[OnlineState, Track]:
    """Add steps for new times, each with its own coefficients."""
    times = data.times
    assert times is not None
    steps = np.union1d(state.times, times)
    shape = replace(curve, min_rows=1).track(steps, None).shape(())
    indices = np.searchsorted(steps, state.times)
    posteriors = tuple(one.expanded(indices, len(steps)) for one in state.posteriors)
    grid = _grid_of_steps(np.searchsorted(steps, times), steps, data.weights)
    expanded = replace(state, posteriors=posteriors, times=steps, time_weights=np.ones(len(steps)))
    return expanded, Track(grid, lambda _: shape)


def _grid_of_two_clocks(times: Array, weights: Array | None) -> Grid:
    one, other = (fine(clock, weights) for clock in times.T)
    return pairs(one, other, weights)


def _grid_of_steps(keys: Codes, times: Array, weights: Array | None) -> Grid:
    """Return the grid of rows on given steps, some of which may have no rows."""
    totals = np.bincount(keys, weights, minlength=len(times))
    return Grid(keys, times, totals.astype(np.float64))

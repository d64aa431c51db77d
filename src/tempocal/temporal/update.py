"""Go on from a fit along time with rows that came later, without those that it had."""

from dataclasses import replace

import numpy as np

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.online_state import OnlineState
from tempocal.calibrators.parametric import ParametricCalibrator
from tempocal.calibrators.standardization import StandardizationCache
from tempocal.calibrators.summary import Summary
from tempocal.curves import Constant, Curve, PerStep, Shape, Track
from tempocal.curves.grid import Grid, fine, pairs
from tempocal.errors import InputError
from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.maps import BinBasis, ConstantBasis, Curves, StepBasis, TemporalMap
from tempocal.temporal.bands import infer
from tempocal.temporal.curve_models import to_curves, update_models
from tempocal.temporal.fit_along_time import TemporalFitResult, details_along_time
from tempocal.temporal.gain_interval import compare_losses


def update_along_time(
    calibrator: Calibrator,
    curve: Curve,
    *,
    known: OnlineState,
    fitted: TemporalMap,
    summary: Summary,
    data: FitData,
) -> TemporalFitResult:
    """Update a fit; new rows are scored before it knows them."""
    assert isinstance(calibrator, ParametricCalibrator)
    assert isinstance(fitted, Curves)
    scored = compare_losses(data, _lenient(fitted))
    known, track = _laid(curve, known, fitted, data)
    data = replace(
        data,
        earlier_class_weights=known.class_weights,
        standardizations=StandardizationCache(known.standardization_by_model),
    )
    family = calibrator._family(data)
    if family.form != fitted.form:
        raise InputError("the calibrator is not the one of the first call: fit again to change it")
    models = update_models(family, track, known.posteriors, calibrator.shrinkage, data.groups)
    inferences = [
        infer(model, data.groups, before)
        for model, before in zip(models, known.posteriors, strict=True)
    ]
    online_state = replace(
        known,
        posteriors=tuple(one.posterior for one in inferences),
        class_weights=data.class_weights,
    )
    return TemporalFitResult(
        to_curves(family, models),
        tuple(one.band for one in inferences),
        data.add_to_summary(
            summary, (scored.before, scored.after), details_along_time(models, inferences)
        ),
        sum(one.n_effective for one in inferences),
        track,
        tuple(models),
        online_state,
    )


def _lenient(fitted: Curves) -> Curves:
    """Let the nearest step stand for one that has not been seen."""
    bases = [
        replace(basis, unseen="nearest")
        if isinstance(basis, StepBasis) and basis.unseen == "error"
        else basis
        for basis in fitted.bases
    ]
    return replace(fitted, bases=tuple(bases))


def _laid(
    curve: Curve, known: OnlineState, fitted: Curves, data: FitData
) -> tuple[OnlineState, Track]:
    """Lay the curve as it was laid along the first rows, with these rows on it."""
    times, weights, basis = data.times, data.weights, fitted.bases[0]
    assert times is not None
    if isinstance(curve, PerStep) and isinstance(basis, BinBasis):
        shape = Shape(basis, np.ones(len(known.times)), separate=True)
        return known, Track(_at_steps(basis.codes(times), known.times, weights), lambda _: shape)
    if isinstance(curve, PerStep) and isinstance(basis, StepBasis) and curve.bins is None:
        return _with_new_steps(curve, known, data)
    track = curve.track(known.times, known.time_weights)
    _require_same(track, known, fitted)
    if isinstance(basis, ConstantBasis) and not isinstance(curve, Constant):
        raise InputError(
            f"there was one time only in the first call, along which {curve!r} could not be laid: "
            "fit again, to rows of several times"
        )
    grid = fine(times, weights) if times.ndim == 1 else _of_two_clocks(times, weights)
    return known, replace(track, grid=grid)


def _require_same(track: Track, known: OnlineState, fitted: Curves) -> None:
    """Refuse a curve that was changed after the first call."""
    before, rates = fitted.bases[0], known.posteriors[0].log_rates
    same = len(rates) == track.n_rates
    if same:
        basis = track.shape(np.exp(rates).tolist()).basis
        same = type(basis) is type(before) and basis.n_functions == before.n_functions
        same = same and np.allclose(basis(known.times), before(known.times))
    if not same:
        raise InputError("the curve is not the one of the first call: fit again to change it")


def _with_new_steps(curve: PerStep, known: OnlineState, data: FitData) -> tuple[OnlineState, Track]:
    """Let steps that were not there before have coefficients, from their first row on."""
    times = data.times
    assert times is not None
    steps = np.union1d(known.times, times)
    shape = replace(curve, min_rows=1).track(steps, None).shape(())
    places = np.searchsorted(steps, known.times)
    posteriors = tuple(one.expanded(places, len(steps)) for one in known.posteriors)
    grid = _at_steps(np.searchsorted(steps, times), steps, data.weights)
    grown = replace(known, posteriors=posteriors, times=steps, time_weights=np.ones(len(steps)))
    return grown, Track(grid, lambda _: shape)


def _of_two_clocks(times: Array, weights: Array | None) -> Grid:
    one, other = (fine(clock, weights) for clock in times.T)
    return pairs(one, other, weights)


def _at_steps(keys: Codes, times: Array, weights: Array | None) -> Grid:
    """Put rows under the keys of steps, of which some may have none."""
    totals = np.bincount(keys, weights, minlength=len(times))
    return Grid(keys, times, totals.astype(np.float64))

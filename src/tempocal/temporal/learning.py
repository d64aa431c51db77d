"""Go on from a fit along time with rows that came later, without those that it had."""

from dataclasses import replace

import numpy as np

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.learned import Learned
from tempocal.calibrators.parametric import ParametricCalibrator
from tempocal.calibrators.summary import Summary
from tempocal.calibrators.training import Training
from tempocal.curves import Curve, PerStep, Shape, Track
from tempocal.curves.grid import Grid, distinct, fine, pairs
from tempocal.errors import InputError
from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.maps import BinBasis, Curves, StepBasis, TemporalMap
from tempocal.temporal.bands import infer
from tempocal.temporal.fitting import FittedAlongTime, details_along_time
from tempocal.temporal.gain import score_rows
from tempocal.temporal.models import to_curves, update_models


def learn_along_time(
    calibrator: Calibrator,
    curve: Curve,
    *,
    known: Learned,
    fitted: TemporalMap,
    summary: Summary,
    training: Training,
) -> FittedAlongTime:
    """Update a fit; new rows are scored before it knows them."""
    assert isinstance(calibrator, ParametricCalibrator)
    assert isinstance(fitted, Curves)
    scored = score_rows(training, _lenient(fitted))
    known, track = _laid(curve, known, fitted, training)
    kept = training if track.kept is None else training.take(track.kept)
    kept = replace(kept, earlier=known.class_weights)
    family = calibrator._family(kept)
    models = update_models(family, track, known.models, calibrator.shrinkage)
    inferences = [
        infer(model, kept.groups, before)
        for model, before in zip(models, known.models, strict=True)
    ]
    learned = replace(
        known,
        models=tuple(one.memory for one in inferences),
        class_weights=kept.class_weights,
    )
    return FittedAlongTime(
        to_curves(family, models),
        tuple(one.band for one in inferences),
        training.added_to(
            summary, (scored.before, scored.after), details_along_time(models, inferences)
        ),
        sum(one.n_determined for one in inferences),
        track,
        tuple(models),
        learned,
    )


def _lenient(fitted: Curves) -> Curves:
    """Let the nearest step stand for one that has not been seen."""
    bases = [
        replace(basis, unseen="nearest") if isinstance(basis, StepBasis) else basis
        for basis in fitted.bases
    ]
    return replace(fitted, bases=tuple(bases))


def _laid(
    curve: Curve, known: Learned, fitted: Curves, training: Training
) -> tuple[Learned, Track]:
    """Lay the curve as it was laid along the first rows, with these rows on it."""
    times, weights, basis = training.times, training.weights, fitted.bases[0]
    assert times is not None
    if isinstance(basis, BinBasis):
        shape = Shape(basis, np.ones(len(known.times)), separate=True)
        return known, Track(_at_steps(basis.codes(times), known.times, weights), lambda _: shape)
    if isinstance(curve, PerStep):
        return _with_new_steps(curve, known, training)
    track = curve.track(known.times, known.weights)
    grid = fine(times, weights) if times.ndim == 1 else _of_two_clocks(times, weights)
    return known, replace(track, grid=grid)


def _with_new_steps(curve: PerStep, known: Learned, training: Training) -> tuple[Learned, Track]:
    """Let steps that were not there before have coefficients, once they have enough rows."""
    times = training.times
    assert times is not None
    here = distinct(times, training.weights)
    steps = np.union1d(known.times, here.times[here.weights >= curve.min_rows])
    shape = replace(curve, min_rows=1).track(steps, None).shape(())
    places = np.searchsorted(steps, known.times)
    models = tuple(one.among(places, len(steps)) for one in known.models)
    kept = np.isin(times, steps)
    if not kept.any():
        raise InputError(
            f"min_rows is {curve.min_rows}, but no step of these rows was seen before or has as "
            "many of them: there is nothing to learn from"
        )
    own = training.weights if training.weights is None else training.weights[kept]
    grid = _at_steps(np.searchsorted(steps, times[kept]), steps, own)
    track = Track(grid, lambda _: shape, kept=None if kept.all() else kept)
    return replace(known, models=models, times=steps, weights=np.ones(len(steps))), track


def _of_two_clocks(times: Array, weights: Array | None) -> Grid:
    one, other = (fine(clock, weights) for clock in times.T)
    return pairs(one, other, weights)


def _at_steps(keys: Codes, times: Array, weights: Array | None) -> Grid:
    """Put rows under the keys of steps, of which some may have none."""
    totals = np.bincount(keys, weights, minlength=len(times))
    return Grid(keys, times, totals.astype(np.float64))

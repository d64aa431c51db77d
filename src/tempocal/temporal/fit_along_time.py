"""Fit a calibrator along a curve, with bands and a summary."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.identity import Identity
from tempocal.calibrators.online_state import OnlineState
from tempocal.calibrators.parametric import (
    ParametricCalibrator,
    Shrinkage,
    check_shrinkage,
    solver_details,
)
from tempocal.calibrators.summary import Summary
from tempocal.curves.curve import Curve, Track
from tempocal.curves.grid import Grid, warn_of_stray_times
from tempocal.errors import AtBoundWarning, warn_user
from tempocal.inputs import Codes
from tempocal.maps import Band, ConstantBasis, Curves, StepBand, TemporalMap
from tempocal.solve.profile import FASTEST, SLOWEST
from tempocal.temporal.bands import Inference, infer
from tempocal.temporal.curve_models import CurveFit, fit_models, refit_models, to_curves
from tempocal.temporal.gain_interval import compare_losses
from tempocal.temporal.per_step_maps import fit_each_step

# Steps with fewer groups than this (rows, without groups) are reported as thin.
THIN = 20
# With more steps time counts as continuous, and no step is reported as thin.
MAX_STEPS = 256


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


def fit_along_time(
    calibrator: Calibrator, curve: Curve, shrinkage: Shrinkage | None, data: FitData
) -> TemporalFitResult:
    """Fit a calibrator along a curve to checked rows."""
    assert data.times is not None
    calibrator = with_shrinkage(calibrator, shrinkage)
    track = data.track(curve)
    if track.bulk is not None:
        warn_of_stray_times(track.bulk, data.total_weight)
    kept = data if track.kept is None else data.take(track.kept)
    if isinstance(calibrator, Identity):
        return _identity_result(calibrator, curve, track, data)
    if not isinstance(calibrator, ParametricCalibrator):
        fitted = fit_each_step(calibrator, curve, track, kept)
        summary = _summarize(calibrator, curve, kept, fitted, details=_step_details(track, kept))
        return TemporalFitResult(fitted, (), summary, None, track, ())
    family = calibrator._family(kept)
    models = fit_models(family, track, calibrator.shrinkage, kept)
    inferences = [infer(model, kept.groups) for model in models]
    curves = to_curves(family, models)
    summary = _summarize(
        calibrator,
        curve,
        kept,
        curves,
        details={**_step_details(track, kept), **details_along_time(models, inferences)},
        inferences=inferences,
        grid=track.grid,
    )
    return TemporalFitResult(
        curves,
        tuple(one.band for one in inferences),
        summary,
        sum(one.n_effective for one in inferences),
        track,
        tuple(models),
        OnlineState(
            tuple(one.posterior for one in inferences),
            kept.class_weights,
            track.grid.times,
            track.grid.weights,
            standardizations=tuple(model.standardization for model in family.models),
        ),
    )


def refit_along_time(
    calibrator: Calibrator, curve: Curve, fitted: TemporalFitResult, data: FitData, rows: Codes
) -> TemporalMap:
    """Refit to some of the rows, at the strengths that the fit to all rows chose.

    Grid and basis are those of the fit to all rows, even for times that these rows lack.
    """
    track = fitted.track
    if isinstance(calibrator, Identity):
        return fitted.map
    # Which steps have too few rows depends on the rows: fit from scratch.
    changes_steps = track.kept is not None and track.bulk is None
    if not isinstance(calibrator, ParametricCalibrator) or changes_steps:
        return fit_along_time(calibrator, curve, None, data.for_refit(rows)).map
    keys = track.grid.keys[rows] if track.kept is None else _keys_of_rows(track, rows)
    rows = rows if track.kept is None else rows[track.kept[rows]]
    family = calibrator._family(data.for_refit(rows))
    grid = replace(track.grid, keys=keys)
    return to_curves(family, refit_models(family, replace(track, grid=grid), fitted.models))


def _keys_of_rows(track: Track, rows: Codes) -> Codes:
    """Keys of the given rows, without those that the fit left out."""
    assert track.kept is not None
    fitted_index = np.cumsum(track.kept) - 1
    return np.asarray(track.grid.keys[fitted_index[rows[track.kept[rows]]]])


def with_shrinkage(calibrator: Calibrator, shrinkage: Shrinkage | None) -> Calibrator:
    """Return the calibrator with its shrinkage replaced, if one is given."""
    if shrinkage is None or isinstance(calibrator, Identity):
        return calibrator
    check_shrinkage(shrinkage)
    # A shallow copy suffices: a fit reads only the settings, no fitted attributes.
    changed: Calibrator = copy(calibrator).set_params(shrinkage=shrinkage)
    return changed


def _identity_result(
    calibrator: Calibrator, curve: Curve, track: Track, data: FitData
) -> TemporalFitResult:
    basis, one = ConstantBasis(), np.ones((1, 1))
    fitted = Curves("scale", (basis,), (one,))
    summary = _summarize(calibrator, curve, data, fitted, details={})
    band = StepBand(basis, np.zeros((1, 1)))
    return TemporalFitResult(fitted, (band,), summary, 0.0, track, ())


def details_along_time(
    models: Sequence[CurveFit], inferences: Sequence[Inference]
) -> dict[str, Any]:
    """Return the summary details of the models; warn of rates at their bounds."""
    _warn_of_rates_at_bounds(models)
    return {
        **solver_details([one.problem for one in models], [one.result for one in models]),
        "effective_coefficients": sum(one.n_effective for one in inferences),
    }


def _warn_of_rates_at_bounds(models: Sequence[CurveFit]) -> None:
    for one in models:
        for rate in one.log_rates if one.track.n_rates else ():
            if rate <= SLOWEST or rate >= FASTEST:
                shape = "a straight line" if rate <= SLOWEST else "a step after the first time"
                warn_user(
                    f"the rate of the exponential stands at the end of its range: the curve is "
                    f"{shape}, or there is none. Compare with Constant() and Spline()",
                    AtBoundWarning,
                )


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
    if len(inferences) == 1:
        # The training loss is optimistic. One-vs-rest models are excluded, because their losses do
        # not add up to the multiclass loss.
        optimism = sum(one.optimism for one in inferences)
        new = gain.shifted_down(optimism / data.total_weight)
        facts["gain_on_new_rows"] = new.mean
        facts["gain_on_new_rows_interval"] = [new.lower, new.upper]
    effects = [one.design_effect for one in inferences]
    total = data.total_weight
    return Summary(
        calibrator=f"{type(calibrator).__name__} along {curve!r}",
        n_rows=data.n_rows,
        total_weight=total,
        n_groups=None if data.groups is None else data.groups.count,
        effective_number=total / max(effects) if effects else None,
        nll_before=comparison.before,
        nll_after=comparison.after,
        details=facts,
    )


def one_blas_thread() -> AbstractContextManager[Any]:
    """Keep matrix products on one thread: matrices this small lose more by waiting.

    On a busy machine with two cores, fits took up to a hundred times as long without it.
    """
    limited: AbstractContextManager[Any] = _blas_controller().limit(limits=1, user_api="blas")
    return limited


@lru_cache(maxsize=1)
def _blas_controller() -> ThreadpoolController:
    return ThreadpoolController()

"""Refit a calibrator along a curve to some of the rows, as cross-validation does."""

from dataclasses import replace
from functools import partial

import numpy as np

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.identity import Identity
from tempocal.calibrators.linear_model import LinearModel
from tempocal.calibrators.parametric import ParametricCalibrator
from tempocal.curves.curve import Curve, Track
from tempocal.errors import NoFiniteOptimumError
from tempocal.inputs import Codes
from tempocal.maps import ConstantBasis, TemporalMap
from tempocal.solve import RateIterate, RegularizedFit, fit, fit_profile
from tempocal.temporal.fit_along_time import (
    CurveFit,
    FittedCurves,
    expand,
    expand_at_rates,
    fit_curves,
    to_curves,
)


def refit_along_time(
    calibrator: Calibrator, curve: Curve, fitted: FittedCurves, data: FitData, rows: Codes
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
        return fit_curves(calibrator, curve, None, data.for_refit(rows)).map
    if track.kept is None:
        keys = track.grid.keys[rows]
    else:
        rows = rows[track.kept[rows]]
        keys = track.grid.keys[(np.cumsum(track.kept) - 1)[rows]]
    family = calibrator._family(data.for_refit(rows))
    track = replace(track, grid=replace(track.grid, keys=keys))
    pairs = zip(family.models, fitted.models, strict=True)
    refits = [_refit(model, track, previous) for model, previous in pairs]
    if any(one.result.solution.unbounded for one in refits):
        raise NoFiniteOptimumError("without some of the groups the best coefficients are infinite")
    return to_curves(family, refits)


def _refit(model: LinearModel, track: Track, previous: CurveFit) -> CurveFit:
    """Fit coefficients and rates again, with a warm start."""
    strengths, start = previous.result.strengths, previous.result.solution.theta
    rows = model.rows(track.grid.keys, track.grid.n_keys)
    log_rates, problem = previous.log_rates, replace(previous.problem, rows=rows)
    shape = previous.shape_at(log_rates)
    if isinstance(shape.basis, ConstantBasis):
        problem = replace(problem, basis=np.zeros(rows.n_keys, dtype=np.intp))
        solution = fit(problem, strengths, start)
    elif track.n_rates:
        at_rates = partial(expand_at_rates, problem, model, track)
        iterate = RateIterate(log_rates, previous.result.solution)
        profile = fit_profile(at_rates, track.n_rates, strengths, iterate)
        solution, log_rates = profile.solution, profile.log_rates
        problem = at_rates(log_rates)
    else:
        problem = expand(problem, model, track, shape)
        # No warm start of separate steps: one without rows must not keep its earlier value.
        solution = fit(problem, strengths, None if shape.separate else start)
    return replace(
        previous,
        model=model,
        track=track,
        problem=problem,
        result=RegularizedFit(solution, strengths),
        log_rates=log_rates,
    )

"""The candidates of `AutoTemporalCalibrator`: those given, and the usual ones."""

from collections.abc import Sequence
from math import inf
from typing import Any

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.beta import BetaCalibration
from tempocal.calibrators.dirichlet import DirichletCalibration
from tempocal.calibrators.parametric import ParametricCalibrator
from tempocal.calibrators.platt import PlattScaling
from tempocal.calibrators.temperature import TemperatureScaling
from tempocal.calibrators.vector import VectorScaling
from tempocal.curves.constant import Constant
from tempocal.curves.curve import Curve
from tempocal.curves.exponential import ExponentialDecay
from tempocal.curves.random_walk import RandomWalk
from tempocal.curves.spline import Spline
from tempocal.errors import InputError
from tempocal.inputs import Inputs
from tempocal.temporal.calibrator import TemporalCalibrator
from tempocal.temporal.cross_validation import Contender
from tempocal.temporal.fit_along_time import with_shrinkage
from tempocal.temporal.horizon import check_horizon

# With more classes a matrix of coefficients along time takes seconds, and is seldom the best.
MAX_CLASSES_ALONG_TIME = 3


def default_candidates(n_classes: int) -> list[tuple[Calibrator, Curve]]:
    """Return the candidates to compare if none are given."""
    smooth: tuple[Curve, ...] = (Constant(), ExponentialDecay(), Spline())
    every: tuple[Curve, ...] = (*smooth, RandomWalk())
    kinds: list[tuple[type[Calibrator], tuple[Curve, ...]]] = [(TemperatureScaling, every)]
    if n_classes == 2:
        kinds += [(PlattScaling, every), (BetaCalibration, every)]
    else:
        of_matrices = smooth if n_classes <= MAX_CLASSES_ALONG_TIME else (Constant(),)
        kinds += [(VectorScaling, smooth), (DirichletCalibration, of_matrices)]
    return [(kind(), curve) for kind, curves in kinds for curve in curves]


def candidates_at(
    td_horizon: Any, pairs: Sequence[tuple[Calibrator, Curve]] | None, n_classes: int
) -> Sequence[Any] | None:
    """Return pairs, by default the usual ones, as candidates with a horizon.

    Those without coefficients learn from outcomes at any horizon. None stands for the usual ones.
    """
    if check_horizon(td_horizon) is None:
        return pairs
    return [
        TemporalCalibrator(
            calibrator,
            curve,
            td_horizon=td_horizon if isinstance(calibrator, ParametricCalibrator) else inf,
        )
        for calibrator, curve in pairs or default_candidates(n_classes)
    ]


def read_candidates(given: Sequence[Any], inputs: Inputs) -> list[Contender]:
    """Return the given candidates; their horizon is "auto" where they do not say another."""
    found = [_read(one, inputs) for one in given]
    if not found:
        raise InputError("candidates is empty: give some, or None for the usual ones")
    return found


def by_outcomes(contenders: Sequence[Contender]) -> list[Contender]:
    """Let all candidates learn from outcomes only; refuse those that were to do otherwise."""
    for one in contenders:
        if one.td_horizon not in ("auto", inf):
            raise InputError(
                f'a candidate has td_horizon={one.td_horizon!r}, but with combine="choose" '
                "candidates learn from outcomes only: leave it out, or say "
                'td_horizon=float("inf")'
            )
    return [one._replace(td_horizon=inf) for one in contenders]


def count_clocks(contenders: Sequence[Contender]) -> int:
    """Return the number of time columns, which must be the same for all candidates."""
    counts = {one.curve.n_clocks for one in contenders if one.curve != Constant()}
    if len(counts) > 1:
        raise InputError("candidates must all go along one clock, or all along two")
    return counts.pop() if counts else 1


def _read(candidate: Any, inputs: Inputs) -> Contender:
    horizon: Any = "auto"
    if isinstance(candidate, TemporalCalibrator):
        if candidate.time_column is not None:
            raise InputError("say time_column of AutoTemporalCalibrator itself, not of a candidate")
        if candidate.sequence_column is not None:
            raise InputError("a candidate has sequence_column: pass sequence= to fit instead")
        check_horizon(candidate.td_horizon)
        calibrator, curve = candidate._calibrator_and_curve()
        calibrator, horizon = with_shrinkage(calibrator, candidate.shrinkage), candidate.td_horizon
    elif isinstance(candidate, tuple) and len(candidate) == 2:
        calibrator, curve = candidate
    else:
        calibrator, curve = candidate, Constant()
    if not isinstance(calibrator, Calibrator) or not isinstance(curve, Curve):
        raise InputError(
            "candidates must be TemporalCalibrator ones, or pairs of a calibrator and a curve, but "
            f"one is {candidate!r}"
        )
    if calibrator.inputs not in ("logits", inputs):
        raise InputError(
            f"a candidate has inputs={calibrator.inputs!r}: say so of AutoTemporalCalibrator "
            "itself, once for all candidates"
        )
    if calibrator.classes is not None:
        raise InputError("say classes of AutoTemporalCalibrator itself, not of a candidate")
    return Contender(calibrator, curve, horizon)

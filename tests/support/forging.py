"""Model files that somebody has altered, with a checksum that is right again."""

import copy
import random
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

import tempocal as tc

HOSTILE: tuple[Any, ...] = (
    1e308,
    -1e308,
    1e300,
    1e200,
    1e17,
    5e-324,
    1e-300,
    0,
    0.0,
    -0.0,
    -1,
    -1.5,
    0.5,
    2,
    2**31,
    2**63,
    10**400,
    True,
    None,
    "",
    "NaN",
    "1.5",
    [],
    {},
    [0.5],
    [[1e308]],
    {"float": "nan"},
)


def models() -> dict[str, Any]:
    """Return one fitted model of each kind; strengths are given, so that fits are fast."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _fitted()


def _fitted() -> dict[str, Any]:
    made: dict[str, Any] = {}
    for shape, rows in _ROWS.items():
        for cal in (*_parametric(), *_BARE):
            made[f"{type(cal).__name__}, {shape}"] = clone(cal).fit(**rows)
    for curve in _CURVES:
        for cal in _parametric()[:: 1 if curve is _CURVES[0] else 2]:
            for shape in ("two", "three"):
                along = tc.TemporalCalibrator(clone(cal), curve)
                made[f"{type(cal).__name__}, {curve}, {shape}"] = along.fit(
                    **_ROWS[shape], **_TIMES
                )
    rows = {**_ROWS["two"], **_TIMES}
    for name, cal in {
        "bare, per step": tc.TemporalCalibrator(tc.IsotonicCalibration(), tc.PerStep()),
        "identity": tc.TemporalCalibrator(tc.Identity(), tc.Constant()),
        "auto": tc.AutoTemporalCalibrator(
            [(tc.PlattScaling(shrinkage=1.0), tc.ExponentialDecay())], folds=3, progress=False
        ),
    }.items():
        made[name] = cal.fit(**rows)
    surface = tc.Surface(tc.ExponentialDecay(), tc.PerStep())
    both = {**rows, "time": (_TIMES["time"], np.arange(N) % 5)}
    platt = tc.PlattScaling(shrinkage=1.0)
    made["surface"] = tc.TemporalCalibrator(clone(platt), surface).fit(**both)
    made["learned"] = tc.TemporalCalibrator(clone(platt), _CURVES[0]).partial_fit(**rows)
    made["learned at all times"] = clone(platt).partial_fit(**_ROWS["two"])
    of_proba = tc.PlattScaling(shrinkage=1.0, inputs="proba")
    proba = {**rows, "logits": 1 / (1 + np.exp(-rows["logits"]))}
    made["proba"] = tc.TemporalCalibrator(of_proba, tc.PerStep()).fit(**proba)
    return made


def _parametric() -> tuple[Any, ...]:
    kinds = (
        tc.TemperatureScaling,
        tc.PlattScaling,
        tc.BetaCalibration,
        tc.VectorScaling,
        tc.DirichletCalibration,
        tc.MatrixScaling,
    )
    return tuple(kind(shrinkage=1.0) for kind in kinds)


N = 120
_RNG = np.random.default_rng(0)
_ONE, _THREE = _RNG.normal(size=N), _RNG.normal(size=(N, 3))
_WON = (_RNG.random(N) < 1 / (1 + np.exp(-0.7 * _ONE))).astype(int)
_ROWS: dict[str, Any] = {
    "two": {"logits": _ONE, "y": _WON},
    "three": {"logits": _THREE, "y": (_THREE + _RNG.normal(size=(N, 3))).argmax(axis=1)},
    "two columns": {"logits": np.stack([-_ONE, _ONE / 2], axis=1), "y": _WON},
}
_TIMES = {"time": np.arange(N) % 6, "groups": np.arange(N) // 6}
_BARE = (
    tc.Identity(),
    tc.HistogramBinning(bins=4),
    tc.IsotonicCalibration(),
    tc.BayesianBinning(),
    tc.NearIsotonicEnsemble(),
)
_CURVES = (
    tc.Spline(intervals=2, smoothness=1.0),
    tc.Constant(),
    tc.PerStep(),
    tc.PerStep(unseen="interpolate"),
    tc.PerStep(unseen="error"),
    tc.PerStep(bins=2),
    tc.ExponentialDecay(),
    tc.Logarithmic(),
    tc.RandomWalk(smoothness=1.0),
    tc.Spline(intervals=2, smoothness=1.0, clock="time"),
)


@dataclass(frozen=True)
class Alteration:
    """One entry of a document that is replaced, or removed."""

    path: tuple[Any, ...]
    value: Any = None
    is_removed: bool = False

    def __str__(self) -> str:
        return f"{self.path} " + ("removed" if self.is_removed else f"= {self.value!r:.40}")

    def of(self, content: Any) -> Any:
        """Return a document with this alteration alone."""
        altered = copy.deepcopy(content)
        part = _at(altered, self.path[:-1])
        if self.is_removed:
            del part[self.path[-1]]
        else:
            part[self.path[-1]] = self.value
        return altered


def alterations(content: Any) -> Iterator[Alteration]:
    """Yield all alterations of a document."""
    for path in _paths(content):
        value = _at(content, path)
        values = list(HOSTILE)
        if isinstance(value, list):
            values += [value[:-1], [*value, *value[-1:]], value[::-1], [*value, *value], [value]]
        elif isinstance(value, int | float) and not isinstance(value, bool):
            values += [-value, value + 1, value * 1e10, str(value)]
        for other in values:
            if type(other) is not type(value) or other != value:
                yield Alteration(path, other)
        yield Alteration(path, is_removed=True)


def sample(content: Any, count: int, seed: int = 0) -> list[Alteration]:
    """Return some alterations, the same ones each time, half of them of the map."""
    found = list(alterations(content))
    if len(found) <= count:
        return found
    rng = random.Random(seed)
    of_map = [one for one in found if "map" in one.path]
    return rng.sample(of_map, min(len(of_map), count // 2)) + rng.sample(found, count // 2)


def _paths(content: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    keys = content if isinstance(content, dict) else range(len(content))
    for key in keys:
        yield (*before, key)
        if isinstance(content[key], dict | list):
            yield from _paths(content[key], (*before, key))


def _at(content: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        content = content[key]
    return content

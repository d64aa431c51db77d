"""Calibrators and curves by their names on the command line, and what to fit given some of them."""

from collections.abc import Callable
from typing import Any

import click

from tempocal.cli.options import Command

CALIBRATORS = {
    "identity": "Identity",
    "temperature": "TemperatureScaling",
    "platt": "PlattScaling",
    "vector": "VectorScaling",
    "matrix": "MatrixScaling",
    "beta": "BetaCalibration",
    "dirichlet": "DirichletCalibration",
    "histogram": "HistogramBinning",
    "bayesian": "BayesianBinning",
    "isotonic": "IsotonicCalibration",
    "near-isotonic": "NearIsotonicEnsemble",
}
CURVES = {
    "constant": "Constant",
    "per-step": "PerStep",
    "exponential": "ExponentialDecay",
    "spline": "Spline",
    "random-walk": "RandomWalk",
}
# Bare curves of the logits have no parameters that could follow a curve of time.
_WITHOUT_PARAMETERS = ("histogram", "bayesian", "isotonic", "near-isotonic")
_COMPARED = ("constant", "exponential", "spline", "random-walk")


def candidates(calibrators: tuple[str, ...], curves: tuple[str, ...], n_classes: int) -> Any:
    """Return what Auto is to compare: all pairs of what was named; None for its own list."""
    if not calibrators and not curves:
        return None
    second = "platt" if n_classes == 2 else "vector"
    return [
        (make(CALIBRATORS, name), make(CURVES, curve))
        for name in calibrators or ("temperature", second, "beta")
        for curve in curves or _curves_for(name)
    ]


def single(calibrator: str | None, curve: str | None, settings: dict[str, Any]) -> Any:
    """Return the one calibrator along time that was named, or None if that leaves a choice."""
    if calibrator in _WITHOUT_PARAMETERS and curve is None:
        curve = "per-step"
    if calibrator is None or curve is None:
        return None
    import tempocal as tc

    return tc.TemporalCalibrator(make(CALIBRATORS, calibrator, settings), make(CURVES, curve))


def make(kinds: dict[str, str], name: str, settings: dict[str, Any] | None = None) -> Any:
    """Return the calibrator or curve of a name."""
    import tempocal as tc

    return getattr(tc, kinds[name])(**settings or {})


def _curves_for(calibrator: str) -> tuple[str, ...]:
    return ("per-step",) if calibrator in _WITHOUT_PARAMETERS else _COMPARED


def calibrator_option(*, multiple: bool = False) -> Callable[[Command], Command]:
    """Return the option that names a calibrator, or some."""
    return click.option(
        "--calibrator",
        type=click.Choice(list(CALIBRATORS)),
        metavar="NAME",
        multiple=multiple,
        help=f"What is fitted: {_words(CALIBRATORS)}.",
    )


def curve_option(*, multiple: bool = False) -> Callable[[Command], Command]:
    """Return the option that names a curve, or some."""
    return click.option(
        "--curve",
        type=click.Choice(list(CURVES)),
        metavar="NAME",
        multiple=multiple,
        help=f"How the calibrator changes along time: {_words(CURVES)}.",
    )


def _words(kinds: dict[str, str]) -> str:
    *others, last = kinds
    return f"{', '.join(others)} or {last}"

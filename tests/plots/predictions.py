"""Predictions that the tests of plots share."""

from functools import cache
from typing import Any

import numpy as np

import tempocal as tc

MATCHES = tc.datasets.simulate_match(300, seed=1)
RAW = 1.0 / (1.0 + np.exp(-MATCHES.logits))
METHODS = {"raw": RAW, "truth": MATCHES.true_probability}


def three_classes() -> tuple[Any, Any, Any, Any]:
    """Return probabilities, labels, times and groups."""
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(900, 3))
    labels = (0.6 * logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return proba, np.array(["a", "b", "c"])[labels], np.arange(900) % 9, np.arange(900) // 9


@cache
def fitted(calibrator: str = "TemperatureScaling", curve: str = "ExponentialDecay") -> Any:
    """Return a calibrator fitted to the matches."""
    cal = tc.TemporalCalibrator(getattr(tc, calibrator)(), getattr(tc, curve)())
    groups = MATCHES.sequence
    return cal.fit(MATCHES.logits, MATCHES.label, time=MATCHES.time, groups=groups)


def boxes_meet(figure: Any, one: Any, other: Any) -> bool:
    """Whether two things that were drawn lie over each other."""
    first = _box(figure, one).padded(-1.0)
    return bool(first.overlaps(_box(figure, other)))


def is_within_figure(figure: Any, thing: Any) -> bool:
    """Whether nothing of it is cut off."""
    box, (width, height) = _box(figure, thing), figure.bbox.size
    return bool(min(box.x0, box.y0, width - box.x1, height - box.y1) > -1.0)


def _box(figure: Any, thing: Any) -> Any:
    if figure.stale:
        figure.canvas.draw()
    return thing.get_window_extent()

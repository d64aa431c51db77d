"""Short matches along one clock or two, as arrays and as a table."""

from typing import Any

import numpy as np
import pandas as pd

import tempocal as tc


def rows(n_classes: int = 2, clocks: int = 1) -> tuple[Any, Any, Any, Any]:
    """Return logits, labels, times and groups."""
    matches = tc.datasets.simulate_match(60, wins=4)
    z: Any = matches.logits
    y: Any = matches.label
    time: Any = matches.time.astype(float)
    if n_classes > 2:
        rng = np.random.default_rng(0)
        z = np.column_stack([z, rng.normal(size=(len(z), n_classes - 1))])
        y = (0.6 * z + rng.gumbel(size=z.shape)).argmax(axis=1)
    if clocks == 2:
        time = np.column_stack([time, matches.sequence % 3])
    return z, y, time, matches.sequence


def table(n_classes: int = 2, clocks: int = 1) -> tuple[pd.DataFrame, Any]:
    """Return logits and times as columns of a table, and labels."""
    z, y, time, _ = rows(n_classes, clocks)
    frame = pd.DataFrame(z.reshape(len(z), -1)).add_prefix("class ")
    frame.insert(1, "round", time if clocks == 1 else time[:, 0])
    if clocks == 2:
        frame.insert(0, "kind", time[:, 1])
    return frame, y


def fitted(calibrator: Any, curve: Any, n_classes: int = 2) -> tc.TemporalCalibrator:
    """Return a calibrator fitted to them."""
    z, y, time, groups = rows(n_classes, 1 if curve is None else curve.n_clocks)
    return tc.TemporalCalibrator(calibrator, curve).fit(z, y, time=time, groups=groups)

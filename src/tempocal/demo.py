"""Fit the global calibrators to simulated matches and compare them with the truth.

Run it with ``python -m tempocal.demo``. It shows what calibration without a time axis can and
cannot do: the error over all rows goes away, the error at each moment is only moved around.
(Vector and matrix scaling of one column of logits are Platt scaling, and are left out.)
"""

import argparse
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tempocal as tc
from tempocal.datasets import Matches, simulate_match
from tempocal.links import Array
from tempocal.metrics import brier, ece, nll, sampling_floor

CALIBRATORS: tuple[Any, ...] = (
    tc.Identity,
    tc.TemperatureScaling,
    tc.PlattScaling,
    tc.BetaCalibration,
    tc.DirichletCalibration,
    tc.HistogramBinning,
    tc.BayesianBinning,
    tc.IsotonicCalibration,
    tc.NearIsotonicEnsemble,
)
COLUMNS = ("method", "NLL", "Brier", "ECE", "ECE early", "ECE middle", "ECE late")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the demo."""
    options = _parser().parse_args(arguments)
    matches = simulate_match(options.matches, seed=options.seed)
    calibrate = matches.sequence % 2 == 0
    print(f"{options.matches} simulated matches, {len(matches.label)} predictions during them.")
    print("Fitted to one half of the matches, judged on the other:\n")
    rows = _compare(matches, calibrate)
    table = _as_text(rows)
    print(table)
    print(
        "\nThe model is far too sure early and right late. Calibration over all rows brings the"
        "\nerror over all rows near what chance shows, by taking away half of the early error and"
        "\nspoiling the late predictions. No single map can do better: it does not know the time."
    )
    folder = Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "comparison.txt").write_text(table + "\n")
    (folder / "comparison.json").write_text(json.dumps(rows, indent=2) + "\n")
    print(f"\nThe table is in {folder / 'comparison.txt'} and {folder / 'comparison.json'}.")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tempocal.demo",
        description=__doc__.split("\n")[0] if __doc__ else None,
        epilog="Example: python -m tempocal.demo --matches 1000 --output demo-output",
    )
    parser.add_argument("--matches", type=int, default=4000, help="how many matches (4000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the simulation (0)")
    parser.add_argument("--output", default="demo-output", help="folder to write to (demo-output)")
    return parser


def _compare(matches: Matches, calibrate: NDArray[np.bool_]) -> list[dict[str, Any]]:
    """Score each calibrator, the truth and the sampling floor on the rows not fitted to."""
    test = ~calibrate
    y, time = matches.label[test], matches.time[test]
    rows = []
    for kind in CALIBRATORS:
        calibrator = kind().fit(
            matches.logits[calibrate],
            matches.label[calibrate],
            groups=matches.sequence[calibrate],
        )
        proba = calibrator.predict_proba(matches.logits[test])[:, 1]
        rows.append(_score(kind.__name__, y, proba, time))
    truth = matches.true_probability[test]
    rows.append(_score("the true probabilities", y, truth, time))
    rows.append(_floor(truth, time, matches.sequence[test]))
    return rows


def _moments(time: NDArray[np.int64]) -> list[NDArray[np.bool_]]:
    """All rows, then the early, middle and late third of the rounds."""
    first, second = np.quantile(time, [1 / 3, 2 / 3])
    return [time >= 0, time <= first, (time > first) & (time <= second), time > second]


def _score(
    method: str, y: NDArray[np.int64], proba: Array, time: NDArray[np.int64]
) -> dict[str, Any]:
    errors = [float(ece(y[rows], proba[rows], of="positive_class")) for rows in _moments(time)]
    return dict(
        zip(COLUMNS, [method, float(nll(y, proba)), float(brier(y, proba)), *errors], strict=True)
    )


def _floor(proba: Array, time: NDArray[np.int64], groups: NDArray[np.int64]) -> dict[str, Any]:
    """Calibration error that chance alone shows on these rows."""
    error = partial(ece, of="positive_class")
    errors = [
        float(sampling_floor(proba[rows], groups=groups[rows], metric=error))
        for rows in _moments(time)
    ]
    return dict(zip(COLUMNS, ["(what chance alone shows)", None, None, *errors], strict=True))


def _as_text(rows: list[dict[str, Any]]) -> str:
    lines = [f"{COLUMNS[0]:28}" + "".join(f"{name:>11}" for name in COLUMNS[1:])]
    for row in rows:
        numbers = ["" if row[name] is None else f"{row[name]:.4f}" for name in COLUMNS[1:]]
        lines.append(f"{row['method']:28}" + "".join(f"{number:>11}" for number in numbers))
    return "\n".join(lines)


if __name__ == "__main__":
    main()

"""Calibrate simulated matches, without a time axis and along time, and compare with the truth.

Run it with ``python -m tempocal.demo``. Without a time axis the error over all rows goes away, and
the error at each moment is only moved around; along time it goes away at each moment.
"""

import argparse
import json
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tempocal as tc
from tempocal.datasets import Matches, simulate_match
from tempocal.links import Array
from tempocal.metrics import brier, ece, nll, sampling_floor

GLOBAL: dict[str, Any] = {
    "raw": tc.Identity,
    "temperature scaling": tc.TemperatureScaling,
    "Platt scaling": tc.PlattScaling,
    "beta calibration": tc.BetaCalibration,
    "histogram binning": tc.HistogramBinning,
    "isotonic regression": tc.IsotonicCalibration,
}
ALONG_TIME: dict[str, Any] = {
    "temperature per step": lambda: tc.TemporalCalibrator(curve=tc.PerStep()),
    "temperature, exponential": lambda: tc.TemporalCalibrator(curve=tc.ExponentialDecay()),
    "temperature, spline": lambda: tc.TemporalCalibrator(curve=tc.Spline()),
    "temperature, random walk": lambda: tc.TemporalCalibrator(curve=tc.RandomWalk()),
    "slope and bias, spline": lambda: tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline()),
    "averaged by Auto": tc.AutoTemporalCalibrator,
}
# With fewer matches sampling noise may hide the effect.
MIN_MATCHES_FOR_CONCLUSION = 1000
CONCLUSION = """
The model is far too sure early and right late. Calibration over all rows brings the
error over all rows near what chance shows, by taking away half of the early error and
spoiling the late predictions. Along time the error is near chance at every moment."""
COLUMNS = ("method", "NLL", "Brier", "off truth", "ECE", "ECE early", "ECE middle", "ECE late")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the demo."""
    options = _parser().parse_args(arguments)
    _require_report()
    matches = simulate_match(options.matches, seed=options.seed)
    calibrate = matches.sequence % 2 == 0
    print(f"{options.matches} simulated matches, {len(matches.label)} predictions during them.")
    print(
        "Fitted to one half of the matches, judged on the other; 'off truth' is the mean distance"
    )
    print("to the true probabilities, which only a simulation knows:\n")
    rows, auto = _compare(matches, calibrate)
    table = _as_text(rows)
    print(table)
    if options.matches >= MIN_MATCHES_FOR_CONCLUSION:
        print(CONCLUSION)
    print("\nWhat Auto compared, on matches left out of each fit:\n")
    print(auto.comparison_)
    print(f"\n{_curve_as_text(auto.best_)}")
    folder = Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "comparison.txt").write_text(table + "\n")
    (folder / "comparison.json").write_text(json.dumps(rows, indent=2) + "\n")
    auto.save(folder / "model.json")
    _write_predictions(matches, folder / "predictions.csv")
    _write_report(matches, folder / "report.html", options.seed)
    print(
        f"\nThe first table is in {folder / 'comparison.txt'} and {folder / 'comparison.json'},"
        f"\nthe averaged model in {folder / 'model.json'}, the predictions in "
        f"{folder / 'predictions.csv'}."
        f"\n\nThe report: open {folder / 'report.html'}"
    )


def _write_predictions(matches: Matches, path: Path) -> None:
    """Write the predictions as a file for the command line."""
    columns = (matches.sequence, matches.time, matches.logits, matches.label)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    lines = [",".join(map(repr, row)) for row in rows]
    path.write_text("\n".join(["match,round,logit,won", *lines]) + "\n")


def _require_report() -> None:
    """Fail at the start, not at the end, if the package for the report is missing."""
    if find_spec("jinja2") is None:
        raise ImportError(
            "the demo ends with a report, which needs jinja2, which is not installed: "
            'pip install "tempocal[report]"'
        )


def _write_report(matches: Matches, path: Path, seed: int) -> None:
    assessment = tc.assess(
        matches.logits,
        matches.label,
        time=matches.time,
        sequence=matches.sequence,
        seed=seed,
        time_name="round",
    )
    command = (
        "tempocal report predictions.csv --logits logit --label won --time round "
        "--sequence match -o report.html"
    )
    tc.report.write_report(assessment, path, command=command)
    print(f"\nThe report, which splits the matches by itself:\n\n{assessment.verdict}")


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


def _compare(matches: Matches, calibrate: NDArray[np.bool_]) -> tuple[list[dict[str, Any]], Any]:
    """Score each method, the truth and the sampling floor on the rows not fitted to."""
    test = ~calibrate
    y, time = matches.label[test], matches.time[test]
    logits, label = matches.logits[calibrate], matches.label[calibrate]
    groups, truth = matches.sequence[calibrate], matches.true_probability[test]
    rows = []
    for name, make in GLOBAL.items():
        calibrator = make().fit(logits, label, groups=groups)
        proba = calibrator.predict_proba(matches.logits[test])[:, 1]
        rows.append(_score(name, y, proba, time, truth))
    for name, make in ALONG_TIME.items():
        calibrator = make().fit(logits, label, time=matches.time[calibrate], groups=groups)
        proba = calibrator.predict_proba(matches.logits[test], time=time)[:, 1]
        rows.append(_score(name, y, proba, time, truth))
    rows.append(_score("the true probabilities", y, truth, time, truth))
    rows.append(_floor(truth, time, matches.sequence[test]))
    return rows, calibrator


def _curve_as_text(best: Any) -> str:
    """First parameter of the leading candidate along the rounds, with its band."""
    rounds = [0, 2, 5, 10, 15, 20]
    parameters = best.parameters_at(rounds)
    name = next(iter(parameters))
    band = best.interval_at(rounds)[name]
    lines = [
        f"{name.replace('_', ' ')} along the rounds of the candidate with the largest weight, with"
        " its 95 % band and the truth:"
    ]
    for k, played in enumerate(rounds):
        true = 1.0 - 0.7 * np.exp(-played / 6.0)
        lines.append(
            f"  after {played:2d} rounds {np.ravel(parameters[name])[k]:6.2f}   "
            f"[{np.ravel(band.lower)[k]:.2f}, {np.ravel(band.upper)[k]:.2f}]   {true:.2f}"
        )
    return "\n".join(lines)


def _time_masks(time: NDArray[np.int64]) -> list[NDArray[np.bool_]]:
    """All rows, then the early, middle and late third of the rounds."""
    first, second = np.quantile(time, [1 / 3, 2 / 3])
    return [time >= 0, time <= first, (time > first) & (time <= second), time > second]


def _score(
    method: str, y: NDArray[np.int64], proba: Array, time: NDArray[np.int64], truth: Array
) -> dict[str, Any]:
    errors = [float(ece(y[rows], proba[rows], of="positive_class")) for rows in _time_masks(time)]
    off_truth = float(np.mean(np.abs(proba - truth)))
    numbers = [float(nll(y, proba)), float(brier(y, proba)), off_truth, *errors]
    return dict(zip(COLUMNS, [method, *numbers], strict=True))


def _floor(proba: Array, time: NDArray[np.int64], groups: NDArray[np.int64]) -> dict[str, Any]:
    """Calibration error of calibrated probabilities on these rows, by sampling noise alone."""
    error = partial(ece, of="positive_class")
    errors = [
        float(sampling_floor(proba[rows], groups=groups[rows], metric=error))
        for rows in _time_masks(time)
    ]
    return dict(zip(COLUMNS, ["(what chance alone shows)", None, None, None, *errors], strict=True))


def _as_text(rows: list[dict[str, Any]]) -> str:
    lines = [f"{COLUMNS[0]:28}" + "".join(f"{name:>11}" for name in COLUMNS[1:])]
    for row in rows:
        numbers = ["" if row[name] is None else f"{row[name]:.4f}" for name in COLUMNS[1:]]
        lines.append(f"{row['method']:28}" + "".join(f"{number:>11}" for number in numbers))
    return "\n".join(lines)


if __name__ == "__main__":
    main()

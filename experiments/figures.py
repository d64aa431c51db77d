"""The five figures of the paper, drawn from our results, with the paper's own lines beside them."""

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

from experiments.cache import write_text
from experiments.methods import BY_ROUND, EXPONENTIAL, NONE, calibrate
from experiments.predictions import Predictions, read_predictions
from experiments.results import PAPER, Result
from tempocal.plots import ReliabilityOverTimeDisplay

# Names of files and dates would make each drawing another one.
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "tempocal",
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.grid": True,
}
STYLE |= {"grid.alpha": 0.3, "axes.spines.top": False, "axes.spines.right": False}
COLORS = ("#c0392b", "#8a6d3b", "#1f5fa8", "#2a8c55", "#7b3fa0", "#d17c00", "#555555", "#0b7f86")
MARKERS = "osD^vPX*"
# gamma, alpha and beta of g(t) = gamma - alpha * exp(-beta * t) in the paper's examples.
EXAMPLES = ((0.5, -1.0, 0.16), (0.5, -1.81, 0.08), (2.0, 0.67, 0.12), (3.0, 1.341, 0.4))
TEXT_MODELS = ("dan", "gru", "encoder")
ROUNDS_SHOWN = range(2, 31, 4)


def draw_all(results: dict[str, Result], predictions: Path, folder: Path) -> None:
    """Draw every figure that there are results for."""
    drawn: dict[str, Any] = {"exponentials": draw_exponentials}
    texts = [results[f"imdb-{m}"] for m in TEXT_MODELS if f"imdb-{m}" in results]
    if texts:
        drawn["raw-over-length"] = lambda: draw_raw(texts)
        drawn["imdb-over-length"] = lambda: draw_over_length(texts, paper=True)
        drawn["imdb-beyond"] = lambda: draw_over_length(texts, paper=False)
    samples = [results[f"amazon-{m}"] for m in TEXT_MODELS if f"amazon-{m}" in results]
    if samples:
        drawn["amazon-over-length"] = lambda: draw_over_length(samples, paper=True)
    if "rounds" in results:
        drawn["rounds-over-time"] = lambda: draw_rounds(results["rounds"])
        rows = read_predictions(predictions / "rounds.parquet")
        drawn["rounds-reliability"] = lambda: draw_reliability(results["rounds"], rows)
    for name, draw in drawn.items():
        _save(draw, folder / f"{name}.svg")


def draw_raw(results: Sequence[Result]) -> Any:
    """Figure 1: the ECE of each model along the length of texts, without calibration."""
    figure, ax = plt.subplots(figsize=(5, 3.6), layout="constrained")
    for number, result in enumerate(results):
        errors = np.nanmean(result.along("No calibration", "ece"), axis=0)
        style: dict[str, Any] = {
            "color": COLORS[number],
            "marker": MARKERS[number],
            "markersize": 3,
        }
        ax.plot(result.lengths, errors, label=result.experiment.model_title, **style)
        _paper_line(ax, result, "No calibration", COLORS[number])
    ax.plot([], [], color="gray", linestyle=":", label="in the paper")
    _log_lengths(ax, "length (words; of the encoder, word pieces)")
    ax.set_ylabel("ECE without calibration")
    ax.legend(frameon=False)
    return figure


def draw_exponentials() -> Any:
    """Figure 2: examples of the exponential."""
    figure, ax = plt.subplots(figsize=(5, 3.4), layout="constrained")
    time = np.linspace(0, 24, 200)
    for number, (gamma, alpha, beta) in enumerate(EXAMPLES):
        curve = gamma - alpha * np.exp(-beta * time)
        ax.plot(time, curve, color=COLORS[number])
        text = rf"$\gamma={gamma:g}$, $\alpha={alpha:g}$, $\beta={beta:g}$"
        ax.annotate(text, (time[120], curve[120]), (0, 8), textcoords="offset points", fontsize=8)
    ax.set_xlabel("sequence length")
    ax.set_ylabel(r"inverse temperature $\gamma-\alpha e^{-\beta t}$")
    ax.set_ylim(0.35, 3.3)
    return figure


def draw_over_length(results: Sequence[Result], *, paper: bool) -> Any:
    """Figure 3: ECE along the length of texts; the paper's methods, or ours beside its best."""
    figure, axes = plt.subplots(
        1, len(results), figsize=(3.6 * len(results), 3.4), layout="constrained", squeeze=False
    )
    for ax, result in zip(axes[0], results, strict=True):
        methods = result.experiment.methods
        chosen = [m for m in methods if m.paper == paper or m == EXPONENTIAL]
        for method in chosen:
            number = methods.index(method)
            _error_line(ax, result, method.name, number)
            if paper:
                _paper_line(ax, result, method.name, COLORS[number])
        _floor_line(ax, result, chosen[-1].name)
        if paper:
            ax.plot([], [], color="gray", linestyle=":", label="in the paper")
        is_pieces = result.experiment.model == "encoder"
        _log_lengths(ax, f"length ({'word pieces' if is_pieces else 'words'})")
        ax.set_title(result.experiment.model_title)
        ax.set_ylim(bottom=0)
    axes[0][0].set_ylabel(f"ECE ({results[0].data_title})")
    _explain_bars(axes[0][-1])
    handles, labels = axes[0][-1].get_legend_handles_labels()
    columns = 2 if len(results) == 1 else 3
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)
    return figure


def draw_rounds(result: Result) -> Any:
    """Figure 4: ECE at each round, a panel for each way to calibrate beside doing nothing."""
    methods = result.experiment.methods[1:]
    columns = 4
    rows = -(-len(methods) // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(12, 2.9 * rows), layout="constrained", sharex=True, sharey=True
    )
    for number, (ax, method) in enumerate(zip(axes.flat, methods, strict=False), start=1):
        _error_line(ax, result, "No calibration", 0)
        _error_line(ax, result, method.name, number)
        if method.paper:
            _paper_line(ax, result, method.name, COLORS[number])
        _floor_line(ax, result, method.name)
        ax.set_title(method.name + (" (the paper's)" if method.paper else ""), fontsize=9)
    for ax in axes.flat[len(methods) :]:
        ax.set_axis_off()
    # The last panel of each column, whatever row it is in.
    for ax in axes.flat[len(methods) - columns : len(methods)]:
        ax.tick_params(labelbottom=True)
        ax.set_xlabel("round")
    for ax in axes[:, 0]:
        ax.set_ylabel("ECE (logarithmic)")
    # Few games last to the end, and their floor is far above that of all others.
    axes.flat[0].set_yscale("log")
    axes.flat[0].set_yticks([0.01, 0.02, 0.05, 0.1, 0.2], minor=False)
    axes.flat[0].yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.flat[0].yaxis.set_minor_formatter(lambda value, _: "")
    axes.flat[0].set_ylim(0.004, 0.25)
    axes.flat[0].plot([], [], color="gray", linestyle=":", label="in the paper (CS:GO)")
    _explain_bars(axes.flat[0])
    handles, labels = axes.flat[0].get_legend_handles_labels()
    pairs = [(h, t) for h, t in zip(handles, labels, strict=True) if t != methods[0].name]
    figure.legend(*zip(*pairs, strict=True), loc="outside lower center", ncols=4, frameon=False)
    return figure


def draw_reliability(result: Result, rows: Predictions) -> Any:
    """Figure 5: reliability at some rounds, before and after calibration by round."""
    (_, raw), (fitted, calibrated) = (calibrate(method, rows) for method in (NONE, BY_ROUND))
    test = rows.part(calibration=False)
    steps = [step for step in ROUNDS_SHOWN if step in test.length]
    display = ReliabilityOverTimeDisplay.from_predictions(
        test.label,
        {NONE.name: expit(raw), BY_ROUND.name: expit(calibrated)},
        test.length,
        steps=steps,
        values=fitted,
        groups=test.groups,
        of="positive_class",
    )
    figure = display.plot(time_name="round", columns=3, band=False).figure_
    for ax in figure.axes:
        ax.set_xticks([0.0, 0.5, 1.0])
    figure.supxlabel("predicted probability that team 1 wins, first seed", fontsize=9)
    return figure


def _error_line(ax: Any, result: Result, method: str, number: int) -> None:
    """Draw the mean over seeds and the deviation between them."""
    errors = result.along(method, "ece")
    ax.errorbar(
        result.lengths,
        np.nanmean(errors, axis=0),
        np.nanstd(errors, axis=0),
        color=COLORS[number],
        marker=MARKERS[number],
        markersize=3,
        linewidth=1.2,
        elinewidth=0.7,
        label=method,
    )


def _paper_line(ax: Any, result: Result, method: str, color: str) -> None:
    paper = PAPER[result.experiment.name]["over_length"]
    ax.plot(paper["length"], paper[method]["ece"], color=color, linestyle=":", linewidth=1)


def _floor_line(ax: Any, result: Result, method: str) -> None:
    floor = np.nanmean(result.along(method, "floor"), axis=0)
    ax.plot(result.lengths, floor, color="gray", linestyle="--", linewidth=1, label="floor")


def _explain_bars(ax: Any) -> None:
    ax.errorbar([], [], [], fmt="none", color="gray", elinewidth=0.7, label="± over seeds")


def _log_lengths(ax: Any, name: str) -> None:
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.set_xlabel(name)


def _save(draw: Callable[[], Any], path: Path) -> None:
    with mpl.rc_context(STYLE):
        figure = draw()
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
        plt.close(figure)
    write_text(path, text.getvalue())

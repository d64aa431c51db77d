"""Draw what a row learns from: ``python docs/pictures/forecasts_between.py`` (needs matplotlib)."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from tempocal.datasets import simulate_match

SEED, MATCH, ROW, HORIZON, MEAN_LENGTH = 3, 0, 5, 0.1, 21
LINE, ACCENT, PALE = "#777777", "#0072b2", "#bbbbbb"


def weights_after(row: int, n_rows: int) -> np.ndarray[Any, Any]:
    """Weights of the forecasts after a row, and of the outcome."""
    decay = np.exp(-1.0 / (HORIZON * MEAN_LENGTH))
    later = decay ** np.arange(n_rows - row)
    later[:-1] *= 1.0 - decay
    return np.asarray(later)


def draw_forecasts(axis: Any, p: np.ndarray[Any, Any], outcome: int) -> None:
    """Draw the forecasts, the outcome and the row that learns."""
    rows = np.arange(len(p))
    axis.plot(rows, p, "-", color=PALE, lw=1.2, zorder=1)
    axis.plot(rows, p, "o", color=LINE, ms=3, zorder=2)
    axis.plot(len(p), outcome, "*", color="black", ms=12, zorder=4, clip_on=False)
    axis.annotate("outcome: won", (len(p), outcome), (len(p) - 0.7, 0.955), ha="right", va="center")
    axis.plot(ROW, p[ROW], "s", color="black", ms=7, zorder=5)
    axis.annotate("this row", (ROW, p[ROW]), (0, -16), textcoords="offset points", ha="center")
    axis.set_ylim(0.0, 1.04)
    axis.set_xlim(-0.7, len(p) + 0.9)
    axis.set_yticks([0, 0.5, 1], ["0", ".5", "1"])
    axis.set_ylabel("forecast")


def draw_target(axis: Any, p: np.ndarray[Any, Any], target: float) -> None:
    """Draw the target of the row, and its distance from the forecast."""
    axis.plot([ROW, ROW], [p[ROW], target], ":", color=ACCENT, lw=1.8, zorder=3)
    axis.plot(ROW, target, "D", color="white", mec=ACCENT, mew=1.8, ms=8, zorder=6, clip_on=False)


def main() -> None:
    """Draw one match: a row that learns from the outcome, and from the forecasts in between."""
    mpl.rcParams.update({"svg.hashsalt": "tempocal", "font.size": 12})
    matches = simulate_match(MATCH + 1, seed=SEED)
    own = matches.sequence == MATCH
    p, outcome = matches.true_probability[own], int(matches.label[own][0])
    figure, axes = plt.subplots(2, 1, figsize=(5, 6.2), sharex=True, layout="constrained")
    for axis in axes:
        draw_forecasts(axis, p, outcome)
    end = (len(p), outcome)
    axes[0].set_title("by outcomes only", fontsize=13)
    draw_target(axes[0], p, outcome)
    arrow = {"arrowstyle": "->", "color": ACCENT, "lw": 1.6, "connectionstyle": "arc3,rad=0.15"}
    axes[0].annotate("", (ROW + 0.5, outcome - 0.03), end, arrowprops=arrow)
    axes[0].annotate("its target", (ROW - 0.8, outcome - 0.01), ha="right", va="center", color=ACCENT)

    weights = weights_after(ROW, len(p))
    values = np.append(p[ROW + 1 :], outcome)
    target = float(weights @ values)
    axes[1].set_title("from the forecasts in between", fontsize=13)
    draw_target(axes[1], p, target)
    axes[1].scatter(
        np.arange(ROW + 1, len(p) + 1),
        values,
        s=900 * weights,
        facecolor="none",
        edgecolor=ACCENT,
        lw=1.6,
        zorder=4,
        clip_on=False,
    )
    axes[1].annotate("its target", (ROW - 0.8, target), ha="right", va="center", color=ACCENT)
    axes[1].set_xlabel("rounds played")
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()

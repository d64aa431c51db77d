"""Draw what a row learns from: ``python docs/pictures/forecasts_between.py`` (needs matplotlib)."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from tempocal.datasets import simulate_match

Array = np.ndarray[Any, Any]

# The match, the row of it that learns, the horizon and the rows of a typical match.
SEED, MATCH, ROW, HORIZON, MEAN_LENGTH = 10, 1, 8, 0.1, 21
DOTS, LINE, TARGET = "#666666", "#bbbbbb", "#0072b2"
AREA = 900.0  # of a circle of weight 1


def weights_of_horizon(n_later: int) -> Array:
    """Weights of the forecasts that follow, and last that of the outcome."""
    decay = np.exp(-1.0 / (HORIZON * MEAN_LENGTH))
    weights = decay ** np.arange(n_later)
    weights[:-1] *= 1.0 - decay
    return np.asarray(weights)


def draw(axis: Any, p: Array, outcome: int, weights: Array) -> None:
    """Draw a sequence, and what one row of it learns from."""
    values, last = np.append(p, outcome), len(p)
    axis.plot(range(last), p, "-", color=LINE, lw=1.2, zorder=1)
    axis.plot(range(last), p, "o", color=DOTS, ms=3, zorder=2)
    axis.plot(last, outcome, "*", color="black", ms=11, zorder=4)
    axis.text(last - 1.3, outcome + 0.01, "outcome: won", ha="right", va="center")
    target = float(weights @ values[ROW + 1 :])
    axis.scatter(
        range(ROW + 1, last + 1),
        values[ROW + 1 :],
        s=AREA * weights,
        facecolor="none",
        edgecolor=TARGET,
        lw=1.6,
        zorder=3,
    )
    axis.plot([ROW, ROW], [p[ROW], target], ":", color=TARGET, lw=2, zorder=3)
    axis.plot(ROW, target, "D", color="white", mec=TARGET, mew=1.8, ms=8, zorder=6)
    axis.text(ROW - 0.8, target, "its target", ha="right", va="center", color=TARGET)
    axis.plot(ROW, p[ROW], "s", color="black", ms=7, zorder=5)
    axis.text(ROW + 0.4, p[ROW] - 0.085, "this row", ha="left", va="center")


def main() -> None:
    """Draw one match: a row that learns from the outcome, and from the forecasts in between."""
    mpl.rcParams.update({"svg.hashsalt": "tempocal", "font.size": 12})
    matches = simulate_match(MATCH + 1, seed=SEED)
    own = matches.sequence == MATCH
    p, outcome = matches.true_probability[own], int(matches.label[own][0])
    n_later = len(p) - ROW
    between = weights_of_horizon(n_later)
    ways = {
        "by outcomes only": (np.eye(n_later)[-1], "weight of the outcome: 100 %"),
        "from the forecasts in between": (
            between,
            "weights: " + ", ".join(f"{100 * weight:.0f} %" for weight in between[:3]) + ", ...",
        ),
    }
    figure, axes = plt.subplots(2, 1, figsize=(5, 6), sharex=True, layout="constrained")
    for axis, (title, (weights, text)) in zip(axes, ways.items(), strict=True):
        draw(axis, p, outcome, weights)
        axis.set_title(title, fontsize=13)
        axis.text(len(p) + 0.9, 0.06, text, ha="right", va="center", color=TARGET)
        axis.set(xlim=(-0.7, len(p) + 1.4), ylim=(0.0, 1.12), ylabel="forecast")
        axis.set_yticks([0.0, 0.5, 1.0], ["0", "0.5", "1"])
    axes[1].set_xlabel("rounds played")
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()

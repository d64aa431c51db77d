"""Draw curves beside the truth: ``python docs/pictures/curve.py`` (needs matplotlib)."""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

import tempocal as tc
from tempocal.datasets import simulate_match

CURVES = {
    "one for each step": tc.PerStep(),
    "exponential": tc.ExponentialDecay(),
    "spline": tc.Spline(),
    "random walk": tc.RandomWalk(),
}


def main() -> None:
    """Fit 500 matches with every curve and draw it with its band."""
    matches = simulate_match(500, seed=3)
    steps = np.arange(24)
    truth = 1.0 - 0.7 * np.exp(-steps / 6.0)
    mpl.rcParams["svg.hashsalt"] = "tempocal"
    figure, axes = plt.subplots(
        1, 4, figsize=(11, 3.2), sharex=True, sharey=True, layout="constrained"
    )
    for axis, (name, curve) in zip(axes, CURVES.items(), strict=True):
        cal = tc.TemporalCalibrator(tc.TemperatureScaling(), curve).fit(
            matches.logits, matches.label, time=matches.time, groups=matches.sequence
        )
        band = cal.interval_at(steps)["inverse_temperature"]
        fitted = cal.parameters_at(steps)["inverse_temperature"]
        axis.fill_between(steps, band.lower, band.upper, color="#9ecae1", label="95 % band")
        axis.plot(steps, fitted, color="#0072b2", lw=1.6, label="fitted to 500 matches")
        axis.plot(steps, truth, color="black", lw=1.2, ls="--", label="truth")
        axis.set_title(name, fontsize=11)
        axis.set_xlabel("rounds played")
    axes[0].set_ylabel("inverse temperature")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()

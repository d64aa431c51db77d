"""Draw the picture of the README: ``python docs/pictures/problem.py`` (needs matplotlib)."""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

import tempocal as tc
from tempocal.datasets import simulate_match

STAGES = {
    "all rounds": (0, 99),
    "rounds 1 to 4": (0, 3),
    "rounds 18 and later": (17, 99),
}


def main() -> None:
    """Compare predictions raw, calibrated globally and along time, in all rows and two stages."""
    matches = simulate_match(20_000)
    fitted = matches.sequence % 2 == 0
    cal = tc.TemperatureScaling().fit(
        matches.logits[fitted], matches.label[fitted], groups=matches.sequence[fitted]
    )
    along = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.ExponentialDecay()).fit(
        matches.logits[fitted],
        matches.label[fitted],
        time=matches.time[fitted],
        groups=matches.sequence[fitted],
    )
    raw = tc.Identity().fit(matches.logits[fitted], matches.label[fitted])
    methods = {
        "raw": (lambda rows: raw.predict_proba(matches.logits[rows]), "o-", "#d55e00"),
        "temperature scaling": (
            lambda rows: cal.predict_proba(matches.logits[rows]),
            "s--",
            "#0072b2",
        ),
        "temperature along time": (
            lambda rows: along.predict_proba(matches.logits[rows], time=matches.time[rows]),
            "^:",
            "#000000",
        ),
    }
    mpl.rcParams["svg.hashsalt"] = "tempocal"
    figure, axes = plt.subplots(
        1, 3, figsize=(9, 3.7), sharex=True, sharey=True, layout="constrained"
    )
    for axis, (title, (first, last)) in zip(axes, STAGES.items(), strict=True):
        rows = ~fitted & (matches.time >= first) & (matches.time <= last)
        axis.plot([0, 1], [0, 1], color="#bbbbbb", lw=1)
        for name, (predict, style, color) in methods.items():
            proba = predict(rows)[:, 1]
            curve = tc.metrics.reliability_curve(
                matches.label[rows], proba, of="positive_class", bins=10
            )
            axis.plot(
                curve.confidence, curve.frequency, style, color=color, ms=4, lw=1.2, label=name
            )
        axis.set_title(title, fontsize=11)
        axis.set_xlabel("predicted probability")
        axis.set_aspect("equal")
    axes[0].set_ylabel("how often it happened")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()

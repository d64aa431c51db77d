"""The figures of a report, drawn by the displays of `tempocal.plots`."""

from functools import partial
from typing import TYPE_CHECKING

from tempocal.assessment import METHODS, Assessment
from tempocal.assessment.examples import Example
from tempocal.plots import CurveDisplay, ErrorOverTimeDisplay, ReliabilityDisplay
from tempocal.plots.drawing import line_style
from tempocal.plots.legends import LegendPosition
from tempocal.plots.time_axis import time_scale
from tempocal.report.svg import draw_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Methods in a reliability diagram; the bands of three would hide each other.
DRAWN = ("raw", "along time")
# A method has the same style in every figure.
STYLES = {name: line_style(k) for k, name in enumerate(METHODS)}


def error_picture(assessment: Assessment, time_name: str) -> str:
    """Draw the calibration error of every method over time."""
    display = ErrorOverTimeDisplay(
        {name: scores.ece_over_time for name, scores in assessment.scores.items()}
    )

    def draw(figure: "Figure") -> None:
        display.plot(figure.subplots(), time_name=time_name)

    return draw_svg("error", 3.6, draw)


def reliability_pictures(assessment: Assessment) -> list[str]:
    """Draw a reliability diagram for each time bin."""
    count = len(assessment.scores["raw"].reliability_over_time)
    return [_reliability(assessment, time_bin) for time_bin in range(count)]


def _reliability(assessment: Assessment, time_bin: int) -> str:
    classes = assessment.facts.classes
    binary = len(classes) == 2

    def draw(figure: "Figure") -> None:
        ax = figure.subplots()
        for name in DRAWN:
            # Add the legend once, after the last line: each one computes a layout, which is slow.
            legend: LegendPosition = "above" if name == DRAWN[-1] else "none"
            table = assessment.scores[name].reliability_over_time[time_bin]
            ReliabilityDisplay(
                table,
                of="positive_class" if binary else "top_label",
                positive_label=classes[1] if binary else None,
                grouped=assessment.facts.groups is not None,
                name=name,
            ).plot(ax, legend=legend, **STYLES[name])
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))

    return draw_svg(f"reliability-{time_bin}", 4.2, draw)


def curve_picture(assessment: Assessment, time_name: str) -> str | None:
    """Draw the parameters of the leading candidate along time; None for the identity."""
    curve = assessment.curve
    if curve is None:
        return None
    display = CurveDisplay(
        curve.time,
        curve.values,
        lower=curve.lower,
        upper=curve.upper,
        level=curve.level,
        grouped=assessment.facts.groups is not None,
        points=CurveDisplay(curve.point_time, curve.points),
        points_name="separate fit for each time bin",
        classes=assessment.facts.classes,
    )

    def draw(figure: "Figure") -> None:
        axes = figure.subplots(len(curve.values), 1, squeeze=False)[:, 0]
        display.plot(list(axes), time_name=time_name)

    return draw_svg("curve", 1.2 + 2.3 * len(curve.values), draw)


def example_pictures(assessment: Assessment, time_name: str) -> list[str]:
    """Draw the predictions along single sequences, before and after calibration."""
    return [
        draw_svg(f"example-{k}", 2.6, partial(_draw_example, one, time_name))
        for k, one in enumerate(assessment.examples)
    ]


def _draw_example(example: Example, time_name: str, figure: "Figure") -> None:
    ax = figure.subplots()
    scale = time_scale(example.time)
    for name in DRAWN:
        ax.plot(scale.numbers(example.time), example.proba[name], label=name, **STYLES[name])
    ax.set_ylim(-0.02, 1.02)
    ax.set_ylabel(f"probability of {example.followed}")
    ax.set_xlabel(scale.label(time_name))
    scale.format(ax, example.time, log=False)
    figure.legend(loc="outside upper left", ncols=2)

"""The pictures of a report, drawn by the same displays that users have."""

from functools import partial
from typing import TYPE_CHECKING

from tempocal.assessment import METHODS, Assessment
from tempocal.assessment.examples import Example
from tempocal.plots import CurveDisplay, ErrorOverTimeDisplay, ReliabilityDisplay
from tempocal.plots.drawing import line_style
from tempocal.plots.legends import Where
from tempocal.plots.time_axis import time_scale
from tempocal.report.svg import draw_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Methods of a reliability diagram; with a third the bands hide each other.
DRAWN = ("raw", "along time")
# A method looks the same in every picture.
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
    """Draw a reliability diagram for each stretch of time."""
    count = len(assessment.scores["raw"].reliability_over_time)
    return [_reliability(assessment, stretch) for stretch in range(count)]


def _reliability(assessment: Assessment, stretch: int) -> str:
    classes = assessment.facts.classes
    binary = len(classes) == 2

    def draw(figure: "Figure") -> None:
        ax = figure.subplots()
        for name in DRAWN:
            # The legend holds all lines once the last is drawn; a layout for each takes its time.
            legend: Where = "above" if name == DRAWN[-1] else "none"
            table = assessment.scores[name].reliability_over_time[stretch]
            ReliabilityDisplay(
                table,
                of="positive_class" if binary else "top_label",
                positive_label=classes[1] if binary else None,
                grouped=assessment.facts.groups is not None,
                name=name,
            ).plot(ax, legend=legend, **STYLES[name])
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))

    return draw_svg(f"reliability-{stretch}", 4.2, draw)


def curve_picture(assessment: Assessment, time_name: str) -> str | None:
    """Draw the correction that was chosen along time; None where there is none."""
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
        points_name="each stretch on its own",
        classes=assessment.facts.classes,
    )

    def draw(figure: "Figure") -> None:
        axes = figure.subplots(len(curve.values), 1, squeeze=False)[:, 0]
        display.plot(list(axes), time_name=time_name)

    return draw_svg("curve", 1.2 + 2.3 * len(curve.values), draw)


def example_pictures(assessment: Assessment, time_name: str) -> list[str]:
    """Draw how the predictions of single sequences move, before and after."""
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

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from plots.predictions import (
    MATCHES,
    METHODS,
    RAW,
    boxes_meet,
    fitted,
    is_within_figure,
    three_classes,
)
from tempocal.errors import InputError
from tempocal.metrics import reliability_curve
from tempocal.plots import ReliabilityOverTimeDisplay


def display(proba=METHODS, time=MATCHES.time, **settings):
    settings = {"groups": MATCHES.sequence, "of": "positive_class", "bins": 5, **settings}
    return ReliabilityOverTimeDisplay.from_predictions(MATCHES.label, proba, time, **settings)


def test_its_numbers_are_those_of_the_metric_on_the_rows_of_each_panel():
    made = display(stretches=4)
    for k, (first, last) in enumerate(zip(made.time_from, made.time_to, strict=True)):
        rows = (MATCHES.time >= first) & (MATCHES.time <= last)
        for name, proba in METHODS.items():
            table = reliability_curve(
                MATCHES.label[rows],
                proba[rows],
                bins=5,
                of="positive_class",
                groups=MATCHES.sequence[rows],
            )
            for column, values in vars(table).items():
                assert_array_equal(getattr(made.tables[name][k], column), values)
    assert sum(table.count.sum() for table in made.tables["raw"]) == len(RAW)


def test_sequences_are_what_is_independent_unless_groups_are():
    by_group, by_sequence = display(RAW), display(RAW, groups=None, sequence=MATCHES.sequence)
    pairs = zip(by_group.tables["predictions"], by_sequence.tables["predictions"], strict=True)
    for wanted, found in pairs:
        assert_array_equal(found.lower_frequency, wanted.lower_frequency)
    assert by_sequence.grouped


def test_chosen_steps_hold_their_own_rows():
    made = display(RAW, steps=[0, 5, 20])
    assert_array_equal(made.time_from, [0, 5, 20])
    counts = [table.count.sum() for table in made.tables["predictions"]]
    assert counts == [int((MATCHES.time == step).sum()) for step in (0, 5, 20)]


def test_the_lines_are_the_numbers():
    made = display(stretches=4).plot()
    for k, ax in enumerate(made.axes_):
        _, raw, truth = ax.lines
        assert_array_equal(raw.get_ydata(), made.tables["raw"][k].frequency)
        assert_array_equal(truth.get_xdata(), made.tables["truth"][k].confidence)


def test_temperatures_are_read_off_a_calibrator():
    cal = fitted()
    made = display(stretches=3, values=cal).plot(time_name="round")
    assert made.values.shape == (3,)
    middle = [
        MATCHES.time[(MATCHES.time >= a) & (MATCHES.time <= b)].mean()
        for a, b in zip(made.time_from, made.time_to, strict=True)
    ]
    assert_allclose(made.values, 1.0 / cal.parameters_at(middle)["inverse_temperature"])
    assert made.axes_[0].texts[0].get_text() == f"τ = {made.values[0]:.3g}"
    assert made.axes_[0].get_title() == f"round 0 to {made.time_to[0]:g}"


def test_slopes_and_numbers_can_stand_in_the_corners():
    assert display(stretches=2, values=fitted("PlattScaling", "Spline")).value_name == "slope"
    made = display(stretches=2, values=[1.5, 2.5]).plot()
    assert [ax.texts[0].get_text() for ax in made.axes_] == ["τ = 1.5", "τ = 2.5"]


@pytest.mark.parametrize("width", [3.2, 7.0])
def test_text_in_a_corner_does_not_meet_the_lines(width):
    figure = plt.figure(figsize=(width, 6.0), layout="constrained")
    made = display(stretches=6, values=fitted()).plot(ax=figure.subplots())
    figure.canvas.draw()
    for ax in made.axes_:
        for text in ax.texts:
            box = text.get_window_extent()
            for line in ax.lines[1:]:
                assert not box.count_contains(ax.transData.transform(line.get_xydata()))


def test_where_no_corner_is_free_the_number_is_in_the_title():
    made = display(stretches=2, values=[1.5, 2.5])
    for tables in made.tables.values():
        for table in tables:
            table.confidence[:], table.frequency[:] = np.linspace(0, 1, 5), [0, 1, 0.5, 0, 1]
    made.plot()
    assert made.axes_[0].get_title().endswith("\nτ = 1.5")
    assert not made.axes_[0].texts


def test_one_axes_are_divided_and_no_figure_is_opened():
    figure = Figure(layout="constrained")
    left, right = figure.subplots(1, 2)
    made = display(stretches=4).plot(ax=right)
    assert len(made.axes_) == 4
    assert plt.get_fignums() == []
    figure.draw_without_rendering()
    edge = figure.bbox.width / 2
    assert all(ax.get_window_extent().x0 > edge for ax in made.axes_)
    assert not left.lines


def test_several_axes_are_the_panels():
    figure = Figure()
    axes = figure.subplots(2, 2)
    made = display(stretches=4).plot(ax=axes)
    assert made.axes_ == list(axes.ravel())
    assert axes[1, 1].get_xlabel() == "predicted probability of class 1"
    with pytest.raises(InputError, match="ax has 3 axes, but 4 panels"):
        display(stretches=4).plot(ax=axes.ravel()[:3])


def test_axes_outside_a_grid_cannot_be_divided():
    ax = Figure().add_axes((0.1, 0.1, 0.8, 0.8))
    with pytest.raises(InputError, match="list of 2 axes"):
        display(stretches=2).plot(ax=ax)


def test_the_legend_is_above_all_panels():
    made = display(stretches=5).plot()
    (legend,) = made.figure_.legends
    assert not any(boxes_meet(made.figure_, legend, ax) for ax in made.axes_)
    assert is_within_figure(made.figure_, legend)


def test_panels_have_the_same_limits():
    made = display(stretches=5).plot()
    assert len({ax.get_xlim() for ax in made.axes_}) == 1
    assert len({ax.get_ylim() for ax in made.axes_}) == 1


@pytest.mark.parametrize("size", [(4.0, 4.0), (9.0, 6.0)])
def test_without_a_layout_engine_the_legend_is_above_all_panels_too(size):
    figure = plt.figure(figsize=size)
    made = display(stretches=4).plot(ax=figure.subplots())
    (legend,) = made.figure_.legends
    assert not any(boxes_meet(figure, legend, ax) for ax in made.axes_)
    assert not any(boxes_meet(figure, legend, ax.title) for ax in made.axes_)
    assert is_within_figure(figure, legend)


@pytest.mark.parametrize("kind", ["M8[h]", "m8[m]"])
def test_datetimes_and_timedeltas(kind):
    time = MATCHES.time.astype("m8[h]")
    time = np.datetime64("2024-03-01T00") + time if kind == "M8[h]" else time.astype(kind)
    made = display(RAW, time, stretches=3).plot(time_name="")
    assert made.time_from.dtype.kind == kind[0]
    title = made.axes_[0].get_title().replace("\n", " ")
    assert title.startswith("2024-03-01 00:00 to" if kind == "M8[h]" else "0 to 6 hours")
    steps = display(RAW, time, steps=np.unique(time)[:2])
    assert_array_equal(steps.time_from, np.unique(time)[:2])


def test_three_classes_one_of_which_is_missing_in_a_time_bin():
    proba, labels, time, groups = three_classes()
    kept = (time > 2) | (labels != "c")
    made = ReliabilityOverTimeDisplay.from_predictions(
        labels[kept], proba[kept], time[kept], groups=groups[kept], stretches="steps", bins=3
    )
    assert len(made.plot().axes_) == 9
    assert_array_equal(made.time_from, np.arange(9))


def test_weights_of_two_are_the_rows_twice():
    weighted = display(RAW, stretches=3, sample_weight=np.full(len(RAW), 2.0), groups=None)
    assert_array_equal(
        weighted.tables["predictions"][1].weight, 2 * weighted.tables["predictions"][1].count
    )


def test_what_does_not_fit_together_is_refused():
    with pytest.raises(InputError, match="no row has this time"):
        display(RAW, steps=[0, 99])
    with pytest.raises(InputError, match="one entry for each panel"):
        display(RAW, stretches=3, values=[1.0, 2.0])
    with pytest.raises(InputError, match="one temperature or slope"):
        display(RAW, stretches=3, values=fitted("BetaCalibration", "Constant"))

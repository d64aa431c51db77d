from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.dates import date2num
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from plots.predictions import MATCHES, METHODS, RAW, boxes_meet, is_within_figure, three_classes
from tempocal.errors import InputError
from tempocal.metrics import brier, ece, nll, over_time
from tempocal.plots import ErrorOverTimeDisplay
from tempocal.plots.drawing import DODGE
from tempocal.plots.error_lines import BOUND, FLOOR


def display(proba=METHODS, time=MATCHES.time, **settings):
    settings = {"groups": MATCHES.sequence, "bins": 6, **settings}
    return ErrorOverTimeDisplay.from_predictions(MATCHES.label, proba, time=time, **settings)


def collection(ax, label):
    (found,) = [each for each in ax.collections if each.get_label() == label]
    return found


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_whiskers_of_methods_at_the_same_time_stand_side_by_side():
    """Their data is that of the tables; they are moved aside by points, on any axis."""
    made = display(METHODS, bins=3).plot()
    weak = {name: table.only_upper for name, table in made.tables.items()}
    both = weak["raw"] & weak["truth"]
    assert both.any()
    lines = [each for each in made.ax_.collections if isinstance(each, LineCollection)]
    whiskers = [each for each in lines if each.get_linewidth()[0] < 1.0]
    assert len(whiskers) == 2
    made.figure_.canvas.draw()
    places = []
    for each, table in zip(whiskers, made.tables.values(), strict=True):
        segments = np.array(each.get_segments())
        assert_allclose(segments[:, 0, 0], table.time_middle[table.only_upper])
        assert_allclose(segments[:, 1, 1], table.upper[table.only_upper])
        places.append(each.get_transform().transform([[20.0, 0.1]])[0])
    across, up = places[1] - places[0]
    assert across == pytest.approx(DODGE * made.figure_.dpi / 72)
    assert up == pytest.approx(0.0)


@pytest.mark.parametrize("metric", [ece, brier])
def test_its_numbers_are_those_of_the_metric(metric):
    made = display(metric=metric, level=0.9)
    for name, proba in METHODS.items():
        table = over_time(
            metric,
            MATCHES.label,
            proba,
            MATCHES.time,
            bins=6,
            groups=MATCHES.sequence,
            level=0.9,
        )
        for column, values in table.columns().items():
            assert_array_equal(made.tables[name].columns()[column], values)


def test_sequences_are_what_is_independent_unless_groups_are():
    by_group, by_sequence = display(RAW), display(RAW, groups=None, sequence=MATCHES.sequence)
    (wanted,), (found,) = by_group.tables.values(), by_sequence.tables.values()
    assert_array_equal(found.upper, wanted.upper)
    assert found.n_groups == wanted.n_groups


def test_the_lines_are_the_numbers():
    made = display().plot()
    for name, table in made.tables.items():
        assert_array_equal(made.lines_[name].get_xdata(), table.time_middle)
        assert_array_equal(made.lines_[name].get_ydata(), table.value)


def test_bands_are_drawn_where_both_ends_mean_something_and_bounds_elsewhere():
    made = display().plot()
    table = made.tables["raw"]
    assert table.only_upper.any()
    assert not table.only_upper.all()
    shaded = np.concatenate(
        [path.vertices for path in collection(made.ax_, "95 % interval").get_paths()]
    )
    strong = ~table.only_upper
    assert set(table.lower[strong]) | set(table.upper[strong]) <= set(shaded[:, 1])
    assert not set(table.time_middle[table.only_upper]) & set(shaded[:, 0])
    hollow = [line for line in made.ax_.lines if line.get_mfc() == (1, 1, 1, 1)]
    drawn = np.concatenate([line.get_ydata() for line in hollow])
    assert set(table.value[table.only_upper]) <= set(drawn)
    ends = [
        seg[1, 1]
        for each in made.ax_.collections
        if hasattr(each, "get_segments")
        for seg in each.get_segments()
    ]
    assert set(table.upper[table.only_upper]) <= set(ends)


def test_the_floor_is_shaded_up_to_the_highest_of_the_methods():
    made = display().plot()
    vertices = collection(made.ax_, FLOOR).get_paths()[0].vertices
    highest = np.max([table.floor for table in made.tables.values()], axis=0)
    assert set(highest) <= set(vertices[:, 1])
    assert vertices[:, 1].max() == highest.max()
    assert vertices[:, 1].min() == 0.0
    assert FLOOR not in labels(made.plot(floor=False).ax_)


def test_methods_on_other_time_bins_have_floors_of_their_own():
    one, other = display(RAW), display(RAW, bins=3)
    tables = {"six": one.tables["predictions"], "three": other.tables["predictions"]}
    made = ErrorOverTimeDisplay(tables).plot()
    highest = [
        path.vertices[:, 1].max()
        for each in made.ax_.collections
        if each.get_hatch()
        for path in each.get_paths()
    ]
    assert highest == [table.floor.max() for table in tables.values()]


def test_scores_have_no_floor_and_need_not_begin_at_zero():
    made = display(metric=nll).plot()
    assert FLOOR not in labels(made.ax_)
    assert BOUND not in labels(made.ax_)
    assert made.ax_.get_ylabel() == "NLL"
    assert made.ax_.get_ylim()[0] > 0.0
    assert display().plot().ax_.get_ylim()[0] == 0.0


def test_the_axes_say_which_metric_it_is():
    made = display().plot(time_name="rounds played")
    assert made.ax_.get_xlabel() == "rounds played"
    assert made.ax_.get_ylabel().replace("\n", ", ") == made.tables["raw"].estimator


def test_it_draws_into_the_axes_it_is_given_and_opens_no_figure():
    figure = Figure()
    left, right = figure.subplots(1, 2)
    made = display().plot(ax=left)
    assert (made.ax_, made.figure_) == (left, figure)
    assert not right.lines
    assert plt.get_fignums() == []


@pytest.mark.parametrize("width", [3.2, 6.0])
def test_the_legend_is_above_the_axes_and_not_cut(width):
    figure = plt.figure(figsize=(width, 4.0), layout="constrained")
    made = display().plot(ax=figure.subplots())
    assert labels(made.ax_)[:2] == ["raw", "truth"]
    assert not boxes_meet(figure, made.ax_.get_legend(), made.ax_)
    assert is_within_figure(figure, made.ax_.get_legend())
    assert is_within_figure(figure, made.ax_.yaxis.label)


def test_a_logarithmic_axis_has_room_for_zero():
    made = display(bins="steps").plot(log_time=True)
    assert made.ax_.get_xscale() == "symlog"
    made.figure_.canvas.draw()
    ticks = [text.get_text() for text in made.ax_.get_xticklabels()]
    assert {"0", "1", "2", "4", "8", "16"} <= set(ticks)
    later = display(time=MATCHES.time + 3.0).plot(log_time=True)
    assert later.ax_.get_xscale() == "log"
    with pytest.raises(InputError, match="times above 0"):
        display(time=MATCHES.time - 30).plot(log_time=True)


def test_datetimes():
    when = np.datetime64("2024-01-31") + MATCHES.time.astype("m8[D]")
    made = display(RAW, when).plot()
    drawn = made.ax_.convert_xunits(made.lines_["predictions"].get_xdata())
    assert_allclose(drawn, date2num(made.tables["predictions"].time_middle))
    made.figure_.canvas.draw()
    with pytest.raises(InputError, match="datetimes"):
        made.plot(log_time=True)


def test_timedeltas_are_drawn_in_a_unit_that_suits_them():
    made = display(RAW, (60 * MATCHES.time).astype("m8[m]")).plot(time_name="since the start")
    assert made.ax_.get_xlabel() == "since the start (hours)"
    middle = made.tables["predictions"].time_middle / np.timedelta64(1, "h")
    assert_allclose(made.lines_["predictions"].get_xdata(), middle)


def test_three_classes():
    proba, y, time, groups = three_classes()
    made = ErrorOverTimeDisplay.from_predictions(y, proba, time=time, groups=groups, bins=3)
    assert len(made.plot().lines_["predictions"].get_xdata()) == 3


def test_one_time_bin_is_a_point():
    made = display(RAW, bins=1).plot()
    assert_array_equal(made.lines_["predictions"].get_ydata(), made.tables["predictions"].value)


def test_time_bins_without_a_value_are_left_out():
    table = display(RAW).tables["predictions"]
    gaps = np.where(np.arange(len(table)) == 2, np.nan, table.value)
    made = ErrorOverTimeDisplay({"raw": replace(table, value=gaps, floor=gaps)}).plot()
    assert_array_equal(made.lines_["raw"].get_ydata(), np.delete(table.value, 2))


def test_no_method_and_times_of_two_kinds_are_refused():
    with pytest.raises(InputError, match="tables is empty"):
        ErrorOverTimeDisplay({})
    number = display(RAW).tables["predictions"]
    span = display(RAW, MATCHES.time.astype("m8[s]")).tables["predictions"]
    with pytest.raises(InputError, match="all times of a plot"):
        ErrorOverTimeDisplay({"a": number, "b": span}).plot()


def test_lines_can_be_seen_in_a_dark_style():
    with plt.style.context("dark_background"):
        made = display().plot()
        colors = {line.get_color() for line in made.lines_.values()}
    assert "black" not in colors
    assert "#000000" not in colors

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_array_equal

from plots.predictions import MATCHES, RAW, boxes_meet, is_within_figure
from tempocal.errors import InputError
from tempocal.metrics import brier, gain_over_time, nll
from tempocal.plots import GainOverTimeDisplay
from tempocal.plots.gain_display import SURE, ZERO

TIMID = 1.0 / (1.0 + np.exp(-0.3 * MATCHES.logits))
AFTER = {"along time": MATCHES.true_probability, "timid": TIMID}


def display(after=AFTER, **settings):
    settings = {"sequence": MATCHES.sequence, "bins": 6, **settings}
    return GainOverTimeDisplay.from_predictions(
        MATCHES.label, RAW, after, time=MATCHES.time, **settings
    )


@pytest.mark.parametrize("metric", [nll, brier])
def test_its_numbers_are_those_of_the_metric(metric):
    made = display(metric=metric, level=0.9)
    for name, after in AFTER.items():
        table = gain_over_time(
            metric,
            MATCHES.label,
            RAW,
            after,
            MATCHES.time,
            bins=6,
            sequence=MATCHES.sequence,
            level=0.9,
        )
        for column, values in table.columns().items():
            assert_array_equal(made.tables[name].columns()[column], values)


def test_lines_bands_and_the_zero_line_are_the_numbers():
    made = display(TIMID).plot(time_name="rounds")
    (table,) = made.tables.values()
    line = made.lines_["gain"]
    assert_array_equal(line.get_xdata(), table.time_middle)
    assert_array_equal(line.get_ydata(), table.value)
    (band,) = made.ax_.collections
    corners = band.get_paths()[0].vertices
    for limit in (table.lower, table.upper):
        assert np.isin(limit, corners[:, 1]).all()
    zero = next(each for each in made.ax_.lines if each.get_label() == ZERO)
    assert_array_equal(zero.get_ydata(), [0.0, 0.0])
    assert made.ax_.get_ylabel().startswith("gain in NLL")


def test_what_is_sure_has_a_marker_of_its_own():
    made = display().plot()
    table = made.tables["timid"]
    drawn = {
        (each.get_marker(), tuple(each.get_xdata()))
        for each in made.ax_.lines
        if each.get_linestyle() == "None" and len(each.get_xdata())
    }
    for one in made.tables.values():
        hurts = tuple(one.time_middle[one.effect == "hurts"])
        helps = tuple(one.time_middle[one.effect == "helps"])
        assert not hurts or ("X", hurts) in drawn
        assert not helps or any(times == helps and marker != "X" for marker, times in drawn)
    assert (table.effect == "hurts").any()
    texts = [text.get_text().replace("\n", " ") for text in made.ax_.get_legend().get_texts()]
    assert SURE["hurts"] in texts


@pytest.mark.parametrize("where", ["above", "right"])
def test_the_legend_is_beside_the_axes_and_nothing_is_cut(where):
    figure = plt.figure(figsize=(6.0, 4.0), layout="constrained")
    made = display().plot(ax=figure.subplots(), legend=where)
    assert not boxes_meet(figure, made.ax_.get_legend(), made.ax_)
    assert is_within_figure(figure, made.ax_.get_legend())
    assert is_within_figure(figure, made.ax_.yaxis.label)


def test_it_draws_into_the_axes_it_is_given_and_opens_no_figure():
    left, right = Figure().subplots(1, 2)
    assert display().plot(ax=right, band=False).ax_ is right
    assert not right.collections
    assert not left.lines
    assert plt.get_fignums() == []


def test_no_table_is_refused():
    with pytest.raises(InputError, match="tables is empty"):
        GainOverTimeDisplay({})

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_array_equal

from plots.predictions import (
    MATCHES,
    METHODS,
    RAW,
    boxes_meet,
    is_within_figure,
    three_classes,
)
from tempocal.metrics import ece, reliability_curve
from tempocal.plots import ReliabilityDisplay


def display(**settings):
    settings = {"groups": MATCHES.sequence, "of": "positive_class", **settings}
    return ReliabilityDisplay.from_predictions(MATCHES.label, RAW, **settings)


def test_its_numbers_are_those_of_the_metric():
    made = display(bins=7, level=0.9)
    table = reliability_curve(
        MATCHES.label, RAW, bins=7, of="positive_class", groups=MATCHES.sequence, level=0.9
    )
    for name, column in vars(table).items():
        assert_array_equal(getattr(made.table, name), column)


def test_logits_are_read_as_logits():
    given = {"groups": MATCHES.sequence, "of": "positive_class"}
    made = ReliabilityDisplay.from_predictions(
        MATCHES.label, MATCHES.logits, inputs="logits", **given
    )
    np.testing.assert_allclose(made.table.confidence, display().table.confidence, rtol=1e-12)
    assert_array_equal(made.histogram.count, display().histogram.count)


def test_sequences_are_what_is_independent_unless_groups_are():
    by_group, by_sequence = display(), display(groups=None, sequence=MATCHES.sequence)
    for name, column in vars(by_group.table).items():
        assert_array_equal(getattr(by_sequence.table, name), column)
    assert by_sequence.grouped
    assert not display(groups=None).grouped


def test_the_line_and_the_band_are_the_numbers():
    made = display().plot(name="raw")
    assert_array_equal(made.line_.get_xdata(), made.table.confidence)
    assert_array_equal(made.line_.get_ydata(), made.table.frequency)
    (band,) = made.ax_.collections
    drawn = band.get_paths()[0].vertices[:, 1]
    assert set(made.table.lower_frequency) | set(made.table.upper_frequency) == set(drawn)


def test_the_histogram_holds_every_row_once():
    made = display().plot()
    _, outline = made.histogram_ax_.patches
    assert outline.get_data().values.sum() == pytest.approx(1.0)
    assert made.histogram.count.sum() == len(RAW)


def test_it_draws_into_the_axes_it_is_given_and_opens_no_figure():
    figure = Figure()
    left, right = figure.subplots(1, 2)
    made = display().plot(ax=right)
    assert made.ax_ is right
    assert made.figure_ is figure
    assert plt.get_fignums() == []
    assert not left.lines
    assert made.histogram_ax_.get_position().y1 < right.get_position().y0


def test_axes_outside_a_grid_are_divided_too():
    figure = Figure()
    ax = figure.add_axes((0.2, 0.2, 0.6, 0.6))
    made = display().plot(ax=ax)
    below, above = made.histogram_ax_.get_position(), ax.get_position()
    assert below.y0 == pytest.approx(0.2)
    assert below.y1 < above.y0
    assert above.y1 == pytest.approx(0.8)


def test_without_a_histogram_the_axes_stay_where_they_are():
    figure = Figure()
    ax = figure.subplots()
    before = ax.get_position().bounds
    made = display().plot(ax=ax, histogram=False)
    assert made.histogram_ax_ is None
    assert ax.get_position().bounds == before
    assert ax.get_xlabel() == "predicted probability of class 1"


def test_several_methods_share_one_axes():
    ax = None
    for name, proba in METHODS.items():
        made = ReliabilityDisplay.from_predictions(
            MATCHES.label, proba, groups=MATCHES.sequence, name=name
        )
        ax = made.plot(ax=ax).ax_
    assert len(plt.get_fignums()) == 1
    assert len(ax.figure.axes) == 2
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["raw", "truth", "perfect calibration", "95 % interval"]
    _, raw, truth = ax.lines
    assert raw.get_color() != truth.get_color()
    assert raw.get_linestyle() != truth.get_linestyle()
    assert raw.get_marker() != truth.get_marker()


def test_the_histogram_of_no_method_is_cut_off():
    """The second is far higher than the first, and the third lower again."""
    sure = np.where(RAW > 0.5, 0.9, 0.1)
    ax = None
    for name, proba in {"raw": RAW, "sure": sure, "truth": MATCHES.true_probability}.items():
        made = ReliabilityDisplay.from_predictions(
            MATCHES.label, proba, groups=MATCHES.sequence, of="positive_class", name=name
        )
        ax = made.plot(ax=ax).ax_
        shares = [made.histogram.weight / made.histogram.weight.sum()]
    heights = [patch.get_data().values for patch in made.histogram_ax_.patches]
    assert_array_equal(heights[-1], shares[0])
    highest = max(map(np.max, heights))
    assert highest > 0.4
    assert made.histogram_ax_.get_ylim() == (0.0, pytest.approx(1.05 * highest))


@pytest.mark.parametrize("size", [(4.0, 7.0), (9.0, 4.0)])
@pytest.mark.parametrize("layout", ["constrained", None])
@pytest.mark.parametrize("of", ["top_label", "positive_class"])
def test_the_diagonal_is_at_45_degrees_above_its_histogram(size, layout, of):
    figure = plt.figure(figsize=size, layout=layout)
    made = display(of=of).plot(ax=figure.subplots())
    figure.canvas.draw()
    low, high = made.ax_.transData.transform([[0.6, 0.6], [0.9, 0.9]])
    assert (high - low)[0] == pytest.approx((high - low)[1])
    below, above = made.histogram_ax_.get_window_extent(), made.ax_.get_window_extent()
    assert (below.x0, below.x1) == pytest.approx((above.x0, above.x1))
    assert below.y1 < above.y0


def test_a_method_that_goes_by_a_known_name_looks_the_same_alone_and_beside_others():
    def look(*names):
        ax = None
        for name in names:
            made = display().plot(ax=ax, name=name)
            ax = made.ax_
        return made.line_.get_color(), made.line_.get_linestyle(), made.line_.get_marker()

    assert look("along time") == look("raw", "along time") == look("mine", "along time")
    assert look("raw", "mine") == look("raw", "along time", "mine")
    assert len({look("raw"), look("raw", "mine"), look("along time")}) == 3


@pytest.mark.parametrize("where", ["above", "right"])
@pytest.mark.parametrize("width", [3.2, 5.0])
def test_the_legend_is_beside_the_axes_and_not_cut(where, width):
    figure = plt.figure(figsize=(width, 4.5), layout="constrained")
    made = display().plot(ax=figure.subplots(), name="raw predictions", legend=where)
    legend = made.ax_.get_legend()
    assert not boxes_meet(figure, legend, made.ax_)
    assert not boxes_meet(figure, legend, made.histogram_ax_)
    assert is_within_figure(figure, legend)


@pytest.mark.parametrize("grid", [True, False])
def test_without_a_layout_engine_room_is_made_for_the_legend(grid):
    figure = plt.figure()
    ax = figure.subplots(2, 1)[1] if grid else figure.add_axes((0.2, 0.1, 0.7, 0.5))
    top = ax.get_position().y1
    for name, proba in METHODS.items():
        made = ReliabilityDisplay.from_predictions(MATCHES.label, proba, name=name).plot(ax=ax)
    legend = made.ax_.get_legend()
    assert not boxes_meet(figure, legend, made.ax_)
    assert legend.get_window_extent().y1 / figure.bbox.height < top + 0.01


def test_the_legend_can_be_left_out():
    assert display().plot(legend="none").ax_.get_legend() is None
    with pytest.raises(ValueError, match="legend must be"):
        display().plot(legend="inside")


def test_without_groups_the_legend_says_so():
    made = display(groups=None).plot()
    texts = [text.get_text() for text in made.ax_.get_legend().get_texts()]
    assert any("rows as independent" in text for text in texts)


def test_the_band_can_be_left_out():
    assert not display().plot(band=False).ax_.collections


def test_bins_without_rows_are_left_out():
    made = display(bins=40, binning="equal_width", of="top_label").plot()
    empty = np.isnan(made.table.confidence)
    assert empty.any()
    assert_array_equal(made.line_.get_xdata(), made.table.confidence[~empty])
    assert np.isfinite(made.line_.get_ydata()).all()


def test_one_bin_is_a_point_with_a_bar():
    made = display(bins=1).plot()
    assert len(made.line_.get_xdata()) == 1
    (bar,) = made.ax_.collections
    (segment,) = bar.get_segments()
    assert_array_equal(
        segment[:, 1], [made.table.lower_frequency[0], made.table.upper_frequency[0]]
    )


def test_three_classes():
    proba, labels, _, groups = three_classes()
    made = ReliabilityDisplay.from_predictions(labels, proba, groups=groups).plot()
    assert_array_equal(made.table.frequency, reliability_curve(labels, proba).frequency)
    assert made.histogram_ax_.get_xlabel().startswith("confidence")
    assert made.ax_.get_xlim()[1] > 1.0


def test_all_that_is_drawn_is_in_sight():
    made = display().plot()
    (low, high), (bottom, top) = made.ax_.get_xlim(), made.ax_.get_ylim()
    assert low < made.table.confidence.min()
    assert high > made.table.confidence.max()
    assert bottom < made.table.lower_frequency.min()
    assert top > made.table.upper_frequency.max()


def test_the_class_is_named():
    won = np.where(MATCHES.label == 1, "won", "lost")
    made = ReliabilityDisplay.from_predictions(won, RAW, of="positive_class").plot()
    assert made.histogram_ax_.get_xlabel() == "predicted probability of class won"


def test_the_bins_of_an_error_can_be_drawn():
    error = ece(MATCHES.label, RAW)
    made = ReliabilityDisplay(error.bins).plot(color="green")
    assert made.histogram_ax_ is None
    assert made.line_.get_color() == "green"

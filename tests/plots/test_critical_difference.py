from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_array_equal

from tempocal.errors import InputError
from tempocal.metrics import friedman_nemenyi
from tempocal.plots import CriticalDifferenceDisplay

LONG = [
    f"{kind} with a long name {k}" for k, kind in enumerate(["temperature", "slope and bias"] * 5)
]


def scores(k=10, sets=12, ties=True):
    rng = np.random.default_rng(3)
    found = 0.5 * rng.normal(size=(sets, k)) + np.sort(rng.normal(size=k))
    if ties:
        found[:, 4], found[:, 8] = found[:, 3], found[:, 7]
    return found


def test_its_numbers_are_those_of_the_test():
    result = friedman_nemenyi(scores(), names=LONG)
    made = CriticalDifferenceDisplay.from_scores(scores(), names=LONG)
    assert_array_equal(made.mean_ranks, result.mean_ranks)
    assert made.names == result.names
    assert made.cliques == result.cliques
    assert made.critical_difference == result.critical_difference


def test_bars_join_the_cliques_and_do_not_touch():
    made = CriticalDifferenceDisplay.from_scores(scores(), names=LONG).plot()
    ranks = dict(zip(made.names, made.mean_ranks, strict=True))
    bars = [line for line in made.ax_.lines if line.get_linewidth() == 3.5]
    assert len(bars) == len(made.cliques) > 1
    for bar, clique in zip(bars, made.cliques, strict=True):
        low, high = bar.get_xdata()
        assert low == pytest.approx(min(ranks[name] for name in clique) - 0.05)
        assert high == pytest.approx(max(ranks[name] for name in clique) + 0.05)
    for one, other in combinations(bars, 2):
        if one.get_ydata()[0] == other.get_ydata()[0]:
            assert min(max(one.get_xdata()), max(other.get_xdata())) < max(
                min(one.get_xdata()), min(other.get_xdata())
            )


def test_a_line_leads_from_each_rank_to_its_name():
    made = CriticalDifferenceDisplay.from_scores(scores(), names=LONG).plot()
    starts = sorted(line.get_xdata()[0] for line in made.ax_.lines if len(line.get_xdata()) == 3)
    assert_array_equal(starts, np.sort(made.mean_ranks))


@pytest.mark.parametrize("size", [None, (3.2, 2.8), (6.0, 2.5), (12.0, 4.0)])
@pytest.mark.parametrize("layout", ["constrained", None])
@pytest.mark.parametrize("k", [2, 3, 10])
def test_no_text_meets_another_and_none_is_cut(size, layout, k):
    ax = None
    if size is not None:
        ax = plt.figure(figsize=size, layout=layout).subplots()
    display = CriticalDifferenceDisplay.from_scores(scores(k, ties=k == 10), names=LONG[:k])
    made = display.plot(ax=ax)
    made.figure_.canvas.draw()
    ticks = [tick.label2 for tick in made.ax_.xaxis.get_major_ticks()]
    texts = [*made.ax_.texts, made.ax_.xaxis.label, *ticks]
    boxes = {text.get_text(): text.get_window_extent() for text in texts}
    for one, other in combinations(boxes, 2):
        assert not boxes[one].padded(-1.0).overlaps(boxes[other]), (one, other)
    width, height = made.figure_.bbox.size
    for text, box in boxes.items():
        assert min(box.x0, box.y0, width - box.x1, height - box.y1) > -1.0, text


def test_the_difference_is_drawn_to_scale():
    made = CriticalDifferenceDisplay(["a", "b", "c"], [1.2, 2.0, 2.8], 1.05).plot()
    spans = [np.ptp(line.get_xdata()) for line in made.ax_.lines if len(line.get_xdata()) == 2]
    assert max(spans) == pytest.approx(1.05)
    assert "critical difference 1.05" in [text.get_text() for text in made.ax_.texts]


def test_it_draws_into_the_axes_it_is_given_and_opens_no_figure():
    figure = Figure()
    left, right = figure.subplots(1, 2)
    made = CriticalDifferenceDisplay(["a", "b"], [1.2, 1.8], 0.5).plot(ax=right)
    assert (made.ax_, made.figure_) == (right, figure)
    assert not left.lines
    assert plt.get_fignums() == []


def test_what_does_not_fit_together_is_refused():
    with pytest.raises(InputError, match="one number for each of the 2 names"):
        CriticalDifferenceDisplay(["a", "b"], [1.0], 0.5)
    with pytest.raises(InputError, match=r"cliques has \['c'\]"):
        CriticalDifferenceDisplay(["a", "b"], [1.0, 2.0], 0.5, [["a", "c"]])

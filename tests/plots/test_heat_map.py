import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

import tempocal as tc
from plots.predictions import MATCHES, boxes_meet, is_within_figure, three_classes
from tempocal.errors import InputError
from tempocal.plots import CurveDisplay

CLOCKS = np.column_stack([MATCHES.time, np.minimum(MATCHES.sequence % 7, MATCHES.time)])


@pytest.fixture(scope="module")
def surface():
    curve = tc.Surface(tc.ExponentialDecay(), tc.Spline(intervals=3))
    cal = tc.TemporalCalibrator(tc.TemperatureScaling(), curve)
    return cal.fit(MATCHES.logits, MATCHES.label, time=CLOCKS, groups=MATCHES.sequence)


def test_a_surface_is_drawn_between_its_rows_and_not_beyond(surface):
    """Rows on a sparse lattice within a triangle: all of the triangle is drawn, nothing else."""
    corners = np.array([[0.0, 0.0], [12.0, 0.0], [12.0, 12.0]])
    steps = np.arange(0.0, 13.0, 3.0)
    lattice = np.array([[a, b] for a in steps for b in steps if b <= a])
    others = np.array([[a + 0.5, 0.0] for a in steps[:-1]] + [[12.0, b + 0.5] for b in steps[:-1]])
    made = CurveDisplay.from_estimator(surface, np.concatenate([corners, lattice, others]))
    shown = np.isfinite(made.values["inverse_temperature"])
    across, up = made.clocks
    inside = up[None, :] <= np.floor(across / 3.0)[:, None] * 3.0
    assert shown[inside].all()
    assert not shown[up[None, :] > across[:, None]].any()
    at = (np.full(1, across[3]), np.full(1, up[1]))
    expected = surface.parameters_at(at)["inverse_temperature"][0]
    assert made.values["inverse_temperature"][3, 1] == pytest.approx(expected)


def test_cells_are_the_values_of_the_surface_and_those_beyond_rows_are_blank(surface):
    made = CurveDisplay.from_estimator(surface, CLOCKS)
    across, up = made.clocks
    assert_array_equal(across, np.unique(CLOCKS[:, 0]))
    assert_array_equal(up, np.unique(CLOCKS[:, 1]))
    values = made.values["inverse_temperature"]
    rows = {tuple(row) for row in CLOCKS.tolist()}
    for i, a in enumerate(across):
        for j, b in enumerate(up):
            if (a, b) in rows:
                expected = surface.parameters_at([[a, b]])["inverse_temperature"][0]
                assert values[i, j] == pytest.approx(expected)
            else:
                assert np.isnan(values[i, j])
    assert np.isnan(values).any()


def test_the_map_is_the_numbers_and_white_is_the_identity(surface):
    made = CurveDisplay.from_estimator(surface, CLOCKS).plot(time_name=("round", "score"))
    mesh = made.ax_.collections[0]
    assert_allclose(mesh.get_array().filled(np.nan), made.values["inverse_temperature"].T)
    assert mesh.norm(1.0) == pytest.approx(0.5)
    assert (made.ax_.get_xlabel(), made.ax_.get_ylabel()) == ("round", "score")
    bar = [ax for ax in made.figure_.axes if ax is not made.ax_]
    assert bar[0].get_ylabel().startswith("inverse temperature")


def test_a_tuple_of_clocks_of_two_kinds(surface):
    cal = tc.TemporalCalibrator(curve=tc.Surface(tc.Spline(), tc.Constant()))
    clocks = (np.datetime64("2024-01-01") + CLOCKS[:, 0].astype("m8[D]"), CLOCKS[:, 1])
    cal.fit(MATCHES.logits, MATCHES.label, time=clocks, groups=MATCHES.sequence)
    made = CurveDisplay.from_estimator(cal, clocks).plot()
    made.figure_.canvas.draw()
    assert made.clocks[0].dtype.kind == "M"
    assert made.ax_.get_ylabel() == "second time"


def test_many_times_are_put_into_cells(surface):
    rng = np.random.default_rng(0)
    made = CurveDisplay.from_estimator(surface, rng.uniform(0, 6, size=(4000, 2)))
    assert made.values["inverse_temperature"].shape == (60, 60)


def test_each_class_has_its_map():
    proba, labels, steps, groups = three_classes()
    clocks = np.column_stack([steps, groups % 4])
    cal = tc.TemporalCalibrator(tc.VectorScaling(), tc.Surface(tc.Spline(), tc.Constant()))
    cal.fit(np.log(proba), labels, time=clocks, groups=groups)
    made = CurveDisplay.from_estimator(cal, clocks).plot()
    assert [ax.get_title() for ax in made.axes_] == [f"class {label}" for label in "abc"] * 2


def test_it_draws_into_the_axes_it_is_given(surface):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    made = CurveDisplay.from_estimator(surface, CLOCKS).plot(ax=right)
    assert made.ax_ is right
    assert not left.collections
    assert plt.get_fignums() == []


def test_the_legend_is_above_the_axes_and_nothing_is_cut(surface):
    figure = plt.figure(figsize=(3.2, 3.0), layout="constrained")
    made = CurveDisplay.from_estimator(surface, CLOCKS).plot(ax=figure.subplots())
    assert not boxes_meet(figure, made.ax_.get_legend(), made.ax_)
    assert is_within_figure(figure, figure.axes[1].yaxis.label)


def test_a_clock_that_stands_still_is_refused(surface):
    still = np.column_stack([MATCHES.time, np.ones_like(MATCHES.time)])
    with pytest.raises(InputError, match="two distinct times"):
        CurveDisplay.from_estimator(surface, still)

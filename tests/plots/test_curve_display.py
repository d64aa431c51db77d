import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.dates import date2num
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

import tempocal as tc
from plots.predictions import MATCHES, boxes_meet, fitted, is_within_figure, three_classes
from tempocal.errors import InputError
from tempocal.plots import CurveDisplay
from tempocal.plots.curve_lines import OTHERS, UNCHANGED


def line(ax, label):
    (found,) = [each for each in ax.lines if each.get_label() == label]
    return found


def of_classes(calibrator, curve, time=None):
    proba, labels, steps, groups = three_classes()
    cal = tc.TemporalCalibrator(calibrator, curve)
    return cal.fit(np.log(proba), labels, time=steps if time is None else time, groups=groups)


def test_its_numbers_are_those_of_the_calibrator():
    cal, steps = fitted(), np.unique(MATCHES.time)
    made = CurveDisplay.from_estimator(cal, MATCHES.time, level=0.8)
    assert_array_equal(made.clocks[0], steps)
    band = cal.interval_at(steps, level=0.8)["inverse_temperature"]
    name = "inverse_temperature"
    assert_array_equal(made.values[name], cal.parameters_at(steps)[name])
    assert_array_equal(made.lower[name], band.lower)
    assert_array_equal(made.upper[name], band.upper)


def test_the_curve_and_the_band_are_the_numbers():
    made = CurveDisplay.from_estimator(fitted(), MATCHES.time).plot(time_name="rounds played")
    (ax,) = made.axes_
    assert_array_equal(line(ax, "fitted curve").get_ydata(), made.values["inverse_temperature"])
    vertices = ax.collections[0].get_paths()[0].vertices
    assert set(made.lower["inverse_temperature"]) <= set(vertices[:, 1])
    assert_array_equal(line(ax, UNCHANGED).get_ydata(), [1.0, 1.0])
    assert ax.get_xlabel() == "rounds played"


def test_each_parameter_has_its_axes_and_its_identity():
    made = CurveDisplay.from_estimator(fitted("PlattScaling", "Spline"), MATCHES.time).plot()
    names = [ax.get_ylabel().split("\n")[0] for ax in made.axes_]
    assert names == ["slope", "bias"]
    assert [line(ax, UNCHANGED).get_ydata()[0] for ax in made.axes_] == [1.0, 0.0]
    assert made.axes_[0].get_shared_x_axes().joined(*made.axes_)


def test_every_parameter_of_beta_calibration_is_named():
    made = CurveDisplay.from_estimator(fitted("BetaCalibration", "Constant"), [0, 5]).plot()
    assert [ax.get_ylabel()[0] for ax in made.axes_] == ["a", "b", "c"]


def test_one_estimate_for_each_step_is_a_point():
    per_step = fitted("TemperatureScaling", "PerStep")
    made = CurveDisplay.from_estimator(fitted(), MATCHES.time, per_step=per_step).plot()
    steps = np.unique(MATCHES.time)
    expected = per_step.parameters_at(steps)["inverse_temperature"]
    assert_array_equal(made.points.clocks[0], steps)
    (drawn,) = [
        each for each in made.ax_.lines if len(each.get_xdata()) and each.get_linestyle() == "None"
    ]
    assert_array_equal(drawn.get_ydata(), expected)
    low, high = made.ax_.get_ylim()
    assert low < expected.min()
    assert high > expected.max()
    assert made.points_name in [text.get_text() for text in made.figure_.legends[0].get_texts()]


def test_models_of_time_bins_are_one_point_each():
    cal = tc.TemporalCalibrator(curve=tc.PerStep(bins=4))
    cal.fit(MATCHES.logits, MATCHES.label, time=MATCHES.time, groups=MATCHES.sequence)
    made = CurveDisplay.from_estimator(fitted(), MATCHES.time, per_step=cal)
    assert len(made.points.clocks[0]) == 4


def test_many_times_are_thinned_but_reach_from_first_to_last():
    time = np.random.default_rng(0).uniform(0.0, 24.0, size=5000)
    made = CurveDisplay.from_estimator(fitted(), time)
    assert len(made.clocks[0]) == 300
    assert (made.clocks[0][0], made.clocks[0][-1]) == (time.min(), time.max())


def test_anything_with_parameters_will_do():
    class Line:
        def parameters_at(self, time):
            return {"speed_of_light": 2.0 + np.asarray(time)}

    made = CurveDisplay.from_estimator(Line(), [0.0, 1.0]).plot()
    assert made.lower is None
    assert made.ax_.get_ylabel() == "speed of light"
    assert not made.ax_.collections


@pytest.mark.parametrize("calibrator", [tc.VectorScaling(), tc.PlattScaling()])
def test_three_classes_have_a_panel_each(calibrator):
    cal = of_classes(calibrator, tc.Spline())
    steps = of_classes(calibrator, tc.PerStep())
    made = CurveDisplay.from_estimator(cal, np.arange(9), per_step=steps).plot()
    names = [(name, k) for name in made.values for k in range(3)]
    assert len(made.axes_) == len(names)
    for ax, (name, k) in zip(made.axes_, names, strict=True):
        label = f"class {'abc'[k]}"
        assert ax.get_title() == label
        assert_array_equal(line(ax, f"_{label}").get_ydata(), made.values[name][:, k])
        points = [each for each in ax.lines if each.get_linestyle() == "None"]
        assert_array_equal(points[0].get_ydata(), made.points.values[name][:, k])
    texts = [text.get_text() for text in made.figure_.legends[0].get_texts()]
    assert not any("class" in text for text in texts)


@pytest.mark.parametrize("calibrator", [tc.VectorScaling(), tc.PlattScaling()])
def test_in_one_axes_for_each_parameter_classes_have_a_line_each(calibrator):
    cal = of_classes(calibrator, tc.Spline())
    steps = of_classes(calibrator, tc.PerStep())
    made = CurveDisplay.from_estimator(cal, np.arange(9), per_step=steps)
    made.plot(ax=plt.figure().subplots(len(made.values), 1, squeeze=False)[:, 0])
    for ax, values in zip(made.axes_, made.values.values(), strict=True):
        for k, label in enumerate("abc"):
            assert_array_equal(line(ax, f"class {label}").get_ydata(), values[:, k])
    styles = {
        (each.get_color(), each.get_linestyle())
        for each in made.ax_.lines
        if each.get_label().startswith("class")
    }
    assert len(styles) == 3


def test_of_a_matrix_the_diagonal_stands_out():
    cal = of_classes(tc.MatrixScaling(), tc.ExponentialDecay())
    made = CurveDisplay.from_estimator(cal, np.arange(9)).plot()
    weights = made.values["weights"]
    assert_array_equal(line(made.axes_[0], "class b").get_ydata(), weights[:, 1, 1])
    assert_array_equal(line(made.axes_[0], OTHERS).get_ydata(), weights[:, 0, 1])
    assert sum(each.get_linewidth() == 0.6 for each in made.axes_[0].lines) == 6


@pytest.mark.parametrize("kind", ["datetime", "timedelta"])
def test_datetimes_and_timedeltas(kind):
    _, _, steps, _ = three_classes()
    time = (6 * steps).astype("m8[h]")
    time = np.datetime64("2024-05-01T00") + time if kind == "datetime" else time
    cal = of_classes(tc.TemperatureScaling(), tc.Spline(), time)
    made = CurveDisplay.from_estimator(cal, time).plot()
    made.figure_.canvas.draw()
    drawn = line(made.ax_, "fitted curve").get_xdata()
    if kind == "datetime":
        assert_allclose(made.ax_.convert_xunits(drawn), date2num(np.unique(time)))
    else:
        assert made.ax_.get_xlabel() == "time (hours)"
        assert_allclose(drawn, np.arange(9) * 6)


def test_a_band_without_end_does_not_hide_the_curve():
    time, values = np.arange(5.0), np.linspace(0.5, 1.5, 5)
    far = {"slope": np.full(5, 1e15)}
    made = CurveDisplay(time, {"slope": values}, lower={"slope": -far["slope"]}, upper=far).plot()
    low, high = made.ax_.get_ylim()
    assert -1.0 < low < 0.5
    assert 1.5 < high < 3.0


def test_it_draws_into_the_axes_it_is_given_and_opens_no_figure():
    figure = Figure()
    left, right = figure.subplots(1, 2)
    made = CurveDisplay.from_estimator(fitted(), MATCHES.time).plot(ax=right)
    assert (made.ax_, made.figure_) == (right, figure)
    both = CurveDisplay.from_estimator(fitted("PlattScaling", "Spline"), MATCHES.time)
    assert both.plot(ax=[left, right]).axes_ == [left, right]
    assert plt.get_fignums() == []


def test_one_axes_are_divided_between_slope_and_bias():
    figure = Figure(layout="constrained")
    left, right = figure.subplots(1, 2)
    made = CurveDisplay.from_estimator(fitted("PlattScaling", "Spline"), MATCHES.time)
    made.plot(ax=right)
    figure.draw_without_rendering()
    assert all(ax.get_window_extent().x0 > left.get_window_extent().x1 for ax in made.axes_)
    assert len(figure.get_axes()) == 4


@pytest.mark.parametrize("width", [3.2, 6.0])
def test_the_legend_is_above_the_axes_and_nothing_is_cut(width):
    figure = plt.figure(figsize=(width, 3.5), layout="constrained")
    per_step = fitted("TemperatureScaling", "PerStep")
    made = CurveDisplay.from_estimator(fitted(), MATCHES.time, per_step=per_step)
    made.plot(ax=figure.subplots())
    assert not boxes_meet(figure, made.ax_.get_legend(), made.ax_)
    assert is_within_figure(figure, made.ax_.get_legend())
    assert is_within_figure(figure, made.ax_.yaxis.label)


def test_without_groups_the_legend_says_so():
    cal = tc.TemporalCalibrator().fit(MATCHES.logits, MATCHES.label, time=MATCHES.time)
    made = CurveDisplay.from_estimator(cal, MATCHES.time).plot()
    texts = [text.get_text() for text in made.figure_.legends[0].get_texts()]
    assert any("rows as independent" in text for text in texts)


def test_values_of_another_length_are_refused():
    with pytest.raises(InputError, match=r"values\['slope'\] must have a number for each time"):
        CurveDisplay([0, 1, 2], {"slope": np.ones(2)})

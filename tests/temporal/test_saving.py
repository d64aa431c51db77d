"""A saved calibrator along time is the same one, to the bit."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import tempocal as tc
from support.calibrators import ALL, PARAMETRIC
from support.matches import fitted, rows, table
from tempocal.calibrators.document import CALIBRATORS
from tempocal.calibrators.online_state import mark_for_saving
from tempocal.calibrators.online_state_document import learned_from_dict, learned_to_dict
from tempocal.calibrators.parametric import check_shrinkage
from tempocal.curves.curve import CURVES as CURVES_BY_KIND
from tempocal.curves.curve import Curve
from tempocal.curves.document import curve_to_dict
from tempocal.errors import DamagedModelFileError, InputError, MissingExtensionError
from tempocal.predictor import read_model
from tempocal.predictor.document import ModelDocument, has_entry
from tempocal.registry import kind_of
from tempocal.temporal.document import restore_along_time, to_document

pytestmark = pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")

# Strengths are given, so that fits are quick: what is saved does not depend on how they came.
CURVES = {
    "constant": tc.Constant(),
    "exponential": tc.ExponentialDecay(),
    "steps": tc.PerStep(unseen="error"),
    "some steps": tc.PerStep(min_rows=30, unseen="interpolate"),
    "bins": tc.PerStep(bins=3),
    "one bin": tc.PerStep(bins=1),
    "walk": tc.RandomWalk(smoothness=1.0),
    "spline": tc.Spline(intervals=2, smoothness=1),
    "spline in time": tc.Spline(intervals=1, clock="time", smoothness=0.5),
    "logarithmic": tc.Logarithmic(unit=2.0),
    "surface": tc.Surface(tc.Spline(intervals=1, smoothness=1.0), tc.PerStep(bins=2)),
}
WITH_RATES = {
    "one rate": tc.Surface(tc.ExponentialDecay(), tc.PerStep(bins=2)),
    "two rates": tc.Surface(tc.ExponentialDecay(), tc.ExponentialDecay()),
}
BARE = [kind for kind in ALL if kind not in (*PARAMETRIC, tc.Identity)]
METHODS = ("predict_proba", "predict_log_proba", "decision_function", "predict")


def reload(cal, folder):
    cal.save(folder / "model.json")
    return tc.load(folder / "model.json")


def same(one, other):
    """Compare to the bit, which tells NaN from NaN and 0.0 from -0.0."""
    assert np.shape(one) == np.shape(other)
    assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


def require_same(loaded, cal, folder, *inputs, times=None):
    """Compare everything that can be asked of two calibrators."""
    assert type(loaded) is tc.TemporalCalibrator
    for method in METHODS:
        if method == "predict":
            assert (loaded.predict(*inputs) == cal.predict(*inputs)).all()
        else:
            same(getattr(loaded, method)(*inputs), getattr(cal, method)(*inputs))
    assert repr(loaded) == repr(cal)
    assert str(loaded.summary()) == str(cal.summary())
    assert loaded.summary() == cal.summary()
    assert loaded.classes_.dtype == cal.classes_.dtype
    assert loaded.time_kinds_ == cal.time_kinds_
    assert loaded.n_features_in_ == cal.n_features_in_
    if times is not None:
        require_same_curves(loaded, cal, times)
    loaded.save(folder / "again.json")
    assert (folder / "again.json").read_bytes() == (folder / "model.json").read_bytes()


def require_same_curves(loaded, cal, times):
    for name, values in cal.parameters_at(times).items():
        same(loaded.parameters_at(times)[name], values)
    for name, interval in cal.interval_at(times).items():
        same(loaded.interval_at(times)[name].lower, interval.lower)
        same(loaded.interval_at(times)[name].upper, interval.upper)
        assert loaded.interval_at(times)[name].n_groups == interval.n_groups
    for name in ("alpha_", "beta_", "gamma_", "time_origin_"):
        if hasattr(cal, name):
            same(getattr(loaded, name), getattr(cal, name))
        else:
            assert not hasattr(loaded, name)


def new_rows(cal, n_classes):
    """Rows within the times of the fit and beyond, but where that is an error."""
    z, _, time, _ = rows(n_classes, len(cal.time_kinds_))
    strict = getattr(cal.curve, "unseen", None) == "error"
    return 30 * z, time if strict else 2.7 * time - 3


# There and back


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
@pytest.mark.parametrize("kind", PARAMETRIC)
def test_curves_are_equal_to_the_bit(kind, curve, n_classes, tmp_path):
    cal = fitted(kind(shrinkage=1.0), curve, n_classes)
    z, times = new_rows(cal, n_classes)
    require_same(reload(cal, tmp_path), cal, tmp_path, z, times, times=times)


@pytest.mark.parametrize("curve", WITH_RATES.values(), ids=WITH_RATES)
def test_surfaces_with_rates_are_equal_to_the_bit(curve, tmp_path):
    cal = fitted(tc.PlattScaling(shrinkage=1.0), curve)
    z, times = new_rows(cal, 2)
    require_same(reload(cal, tmp_path), cal, tmp_path, z, times, times=times)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "curve", [tc.PerStep(), tc.PerStep(min_rows=40, unseen="error"), tc.PerStep(bins=3)]
)
@pytest.mark.parametrize("kind", BARE)
def test_maps_of_steps_are_equal_to_the_bit(kind, curve, n_classes, tmp_path):
    calibrator = kind(bins=4) if kind is tc.HistogramBinning else kind()
    z, y, time, groups = rows(n_classes)
    enough = time < 3
    cal = tc.TemporalCalibrator(calibrator, curve)
    cal.fit(z[enough], y[enough], time=time[enough], groups=groups[enough])
    loaded = reload(cal, tmp_path)
    require_same(loaded, cal, tmp_path, z[enough], time[enough])
    with pytest.raises(InputError, match="no parameters along time"):
        loaded.parameters_at([0.0])


@pytest.mark.parametrize("curve", [None, tc.Constant(), tc.Spline(), CURVES["surface"]])
def test_doing_nothing_is_saved_as_well(curve, tmp_path):
    cal = fitted(tc.Identity(), curve)
    z, times = new_rows(cal, 2)
    require_same(reload(cal, tmp_path), cal, tmp_path, z, times, times=times)


def test_the_defaults_come_back_as_none(tmp_path):
    cal = fitted(None, None)
    loaded = reload(cal, tmp_path)
    assert (loaded.calibrator, loaded.curve, loaded.shrinkage, loaded.time_column) == (None,) * 4
    require_same(loaded, cal, tmp_path, *new_rows(cal, 2), times=[-1.0, 0.5, 40.0])


def test_without_groups(tmp_path):
    z, y, time, _ = rows()
    cal = tc.TemporalCalibrator().fit(z, y, time=time)
    loaded = reload(cal, tmp_path)
    assert loaded.interval_at([1.0])["inverse_temperature"].n_groups is None
    require_same(loaded, cal, tmp_path, z, time, times=time)


def test_all_rows_at_one_time(tmp_path):
    z, y, _, _ = rows()
    cal = tc.TemporalCalibrator(curve=tc.Spline()).fit(z, y, time=np.full(len(z), 3.0))
    require_same(reload(cal, tmp_path), cal, tmp_path, z, np.arange(len(z)), times=[0.0, 9.0])


@pytest.mark.parametrize(
    "labels",
    [["no", "yes"], [False, True], np.array(["a", "bb"], dtype=object), [7, -3]],
    ids=str,
)
def test_labels_come_back_as_they_were(labels, tmp_path):
    z, y, time, _ = rows()
    cal = tc.TemporalCalibrator().fit(z, np.asarray(labels)[y], time=time)
    loaded = reload(cal, tmp_path)
    assert loaded.classes_.dtype == cal.classes_.dtype
    assert loaded.predict(z, time).tolist() == cal.predict(z, time).tolist()


def test_settings_of_the_calibrator_come_back(tmp_path):
    z, y, time, _ = rows(3)
    p = tc.TemperatureScaling().fit(z, y).predict_proba(z)
    names = np.array(["win", "draw", "loss"])
    inner = tc.BetaCalibration(form="ab", shrinkage=(2.0, 3), inputs="proba", classes=names)
    cal = tc.TemporalCalibrator(inner, tc.Constant()).fit(p, names[y], time=time)
    loaded = reload(cal, tmp_path)
    assert loaded.calibrator.shrinkage == (2.0, 3)
    assert list(loaded.calibrator.classes) == list(names)
    require_same(loaded, cal, tmp_path, p, time, times=time)
    same(loaded.fit(p, names[y], time=time).predict_proba(p, time), cal.predict_proba(p, time))


@pytest.mark.parametrize("shrinkage", ["auto", 0, 1.5, (1.0, 2), (np.float64(1.0), np.int64(2))])
def test_shrinkage_comes_back(shrinkage, tmp_path):
    z, y, time, _ = rows()
    cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.Constant(), shrinkage=shrinkage)
    loaded = reload(cal.fit(z, y, time=time), tmp_path)
    assert loaded.shrinkage == shrinkage
    assert type(loaded.shrinkage) is type(shrinkage)
    assert check_shrinkage(loaded.shrinkage) == check_shrinkage(shrinkage)


# A table with the time among its columns


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("time_column", ["round", 1])
def test_the_time_may_be_a_column_of_a_table(time_column, n_classes, tmp_path):
    frame, y = table(n_classes)
    cal = tc.TemporalCalibrator(time_column=time_column).fit(frame, y)
    loaded = reload(cal, tmp_path)
    assert loaded.time_column == time_column
    assert list(loaded.feature_names_in_) == list(frame.columns)
    require_same(loaded, cal, tmp_path, frame, times=[0.0, 1.5])
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict_proba(frame[frame.columns[::-1]])


@pytest.mark.parametrize("time_column", [1, -1])
def test_the_time_may_be_a_column_of_an_array(time_column, tmp_path):
    frame, y = table()
    cal = tc.TemporalCalibrator(time_column=time_column).fit(frame.to_numpy(), y)
    loaded = reload(cal, tmp_path)
    assert not hasattr(loaded, "feature_names_in_")
    require_same(loaded, cal, tmp_path, frame.to_numpy(), times=[0.0, 1.5])


@pytest.mark.parametrize("time_column", [("round", "kind"), (2, 0), (2, -5), ("round", 0)])
def test_the_times_of_two_clocks_may_be_columns(time_column, tmp_path):
    frame, y = table(3, clocks=2)
    cal = tc.TemporalCalibrator(curve=CURVES["surface"], time_column=time_column).fit(frame, y)
    loaded = reload(cal, tmp_path)
    assert loaded.time_column == time_column
    require_same(loaded, cal, tmp_path, frame)


def test_one_column_may_be_both_clocks(tmp_path):
    frame, y = table()
    cal = tc.TemporalCalibrator(curve=CURVES["surface"], time_column=(1, -1)).fit(frame, y)
    require_same(reload(cal, tmp_path), cal, tmp_path, frame)


@pytest.mark.parametrize(
    ("given", "kept"), [(np.int64(1), 1), ((1,), (1,)), (["round"], ("round",))]
)
def test_a_column_may_be_given_in_other_ways(given, kept, tmp_path):
    frame, y = table()
    cal = tc.TemporalCalibrator(time_column=given).fit(frame, y)
    loaded = reload(cal, tmp_path)
    assert repr(loaded.time_column) == repr(kept)
    same(loaded.predict_proba(frame), cal.predict_proba(frame))


def test_names_that_are_numbers_are_not_kept(tmp_path):
    frame, y = table()
    frame.columns = [0, 1]
    cal = tc.TemporalCalibrator(time_column="1").fit(frame, y)
    require_same(reload(cal, tmp_path), cal, tmp_path, frame)


# Datetimes


@pytest.mark.parametrize("origin", [np.datetime64("2024-02-28T12:00:00.5"), np.timedelta64(0, "s")])
def test_datetimes_stay_datetimes(origin, tmp_path):
    z, y, time, _ = rows()
    moments = origin + (1000 * time).astype("timedelta64[ms]")
    cal = tc.TemporalCalibrator().fit(z, y, time=moments)
    loaded = reload(cal, tmp_path)
    require_same(loaded, cal, tmp_path, z, moments, times=moments[:9])
    with pytest.raises(InputError, match="in the fit and is number now"):
        loaded.predict_proba(z, time)


# Classes of one's own


@dataclass(frozen=True)
class Flat(Curve):
    def track(self, times, weights):
        return tc.Constant().track(times, weights)


class PlattScaling(tc.PlattScaling):
    pass


OWN = [{"curve": Flat()}, {"calibrator": PlattScaling()}]


@pytest.mark.parametrize("own", OWN, ids=["curve", "calibrator"])
def test_a_class_of_ones_own_is_saved_under_its_module(own, tmp_path):
    z, y, time, _ = rows()
    cal = tc.TemporalCalibrator(**own).fit(z, y, time=time)
    loaded = reload(cal, tmp_path)
    same(loaded.predict_proba(z, time=time), cal.predict_proba(z, time=time))
    assert repr(loaded) == repr(cal)
    (part,) = own.values()
    kind = f"{type(part).__module__}:{type(part).__qualname__}"
    assert f'"kind": "{kind}"' in (tmp_path / "model.json").read_text()


@pytest.mark.parametrize(
    ("own", "registry", "what"),
    [(OWN[0], CURVES_BY_KIND, "curve"), (OWN[1], CALIBRATORS, "calibrator")],
    ids=["curve", "calibrator"],
)
def test_a_class_that_is_not_imported_is_named_in_a_sentence(
    own, registry, what, tmp_path, monkeypatch
):
    z, y, time, _ = rows()
    cal = tc.TemporalCalibrator(**own).fit(z, y, time=time)
    cal.save(tmp_path / "model.json")
    (part,) = own.values()
    monkeypatch.delitem(registry._classes, kind_of(type(part)))
    name, module = type(part).__qualname__, type(part).__module__
    words = f"a {what} that is not part of tempocal, '{name}' of the module '{module}': import"
    with pytest.raises(MissingExtensionError, match=words):
        tc.load(tmp_path / "model.json")
    # Who only predicts needs no such class: all numbers are in the file.
    found = read_model(tmp_path / "model.json").predict_proba(z, time)
    same(found, cal.predict_proba(z, time=time))


@pytest.mark.parametrize(
    "kind",
    ["TemporalCalibrator", "AutoTemporalCalibrator", "TemporalBase", "Summary", "load", "report"],
)
def test_only_calibrators_are_calibrators(kind, tmp_path):
    document = to_document(fitted(None, None)).to_dict()
    document["parameters"]["calibrator"] = {"kind": kind, "parameters": {}}
    with pytest.raises(DamagedModelFileError, match="which is no calibrator"):
        restore_along_time(ModelDocument.from_dict(document))


def test_the_schema_is_that_of_all_that_a_file_names(tmp_path):
    z, y, _, _ = rows()
    one_time = tc.TemporalCalibrator(curve=tc.Logarithmic()).fit(z, y, time=np.zeros(len(z)))
    assert to_document(one_time).schema == 2
    assert to_document(fitted(None, tc.Spline(clock="log"))).schema == 1
    assert to_document(fitted(None, tc.Spline())).schema == 2
    nested = tc.Surface(tc.Constant(), tc.Spline())
    assert has_entry(curve_to_dict(nested), "clock", "auto")


def test_a_design_effect_of_roughness_is_kept_and_must_be_above_zero():
    """It is there only with groups: 0.1 reads what was learned without."""
    z, y, time, groups = rows()
    cal = tc.TemporalCalibrator(curve=tc.Spline(clock="log"))
    content = learned_to_dict(mark_for_saving(cal.fit(z, y, time=time)._online_state))
    assert not has_entry(content, "rough_effect")
    cal.fit(z, y, time=time, groups=groups)
    content = learned_to_dict(mark_for_saving(cal._online_state))
    [model] = content["models"]
    again = learned_from_dict(content, 1, len(cal.classes_))
    assert again.posteriors[0].effects == cal._online_state.posteriors[0].effects
    model["rough_effect"] = 0.0
    with pytest.raises(DamagedModelFileError, match="do not go together"):
        learned_from_dict(content, 1, len(cal.classes_))


def test_formulas_may_be_written_in_another_way_than_today(tmp_path, monkeypatch):
    z, y, time, _ = rows()
    cal = tc.TemporalCalibrator(tc.QuadraticScaling(), tc.Constant()).fit(z, y, time=time)
    cal.save(tmp_path / "model.json")

    def rewritten(self, odds):
        slope, curvature = features(self, odds)
        return slope, replace(curvature, value=tc.extend.absolute(odds) * odds)

    features = tc.QuadraticScaling.features
    monkeypatch.setattr(tc.QuadraticScaling, "features", rewritten)
    loaded = tc.load(tmp_path / "model.json")
    same(loaded.predict_proba(z, time=time), cal.predict_proba(z, time=time))


# What cannot be saved


def test_what_is_not_fitted_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        tc.TemporalCalibrator().save(tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


def test_what_could_not_be_loaded_is_not_written(tmp_path):
    cal = fitted(None, None)
    cal.bands_ = ()
    with pytest.raises(InputError, match="could not be loaded: the bands are not those of the map"):
        cal.save(tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


def test_a_setting_that_could_not_be_read_is_not_written(tmp_path):
    cal = fitted(None, tc.Spline(intervals=np.int64(2), smoothness=np.float64(1.0)))
    assert reload(cal, tmp_path).curve == cal.curve
    cal.curve = tc.Spline(intervals=2, smoothness=False)
    with pytest.raises(InputError, match="cannot be saved: smoothness is False"):
        cal.save(tmp_path / "model.json")


def test_facts_that_are_not_finite_come_back(tmp_path):
    cal = fitted(None, None)
    details = {"gain": -np.inf, "gain_interval": [np.nan, np.inf], "strange": {"float": "x"}}
    cal.summary_ = replace(cal.summary_, nll_after=np.inf, details=details)
    loaded = reload(cal, tmp_path)
    assert repr(loaded.summary()) == repr(cal.summary())

"""A file that is no model along time is refused, even if its checksum is right."""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tempocal as tc
from support.examples import examples
from support.matches import fitted, rows, table
from tempocal.errors import DamagedModelFileError, InputError
from tempocal.modelfile import read_document, write_document
from tempocal.predictor.document import ModelDocument
from tempocal.temporal.document import restore_along_time, to_document

pytestmark = pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")


def from_content(content):
    return restore_along_time(ModelDocument.from_dict(content))


def example(calibrator, curve, n_classes=2):
    return to_document(fitted(calibrator, curve, n_classes)).to_dict()


@pytest.fixture(scope="module")
def documents():
    frame, y = table(3, clocks=2)
    bare, steps = tc.HistogramBinning(bins=2), tc.PerStep(bins=2)
    surface = tc.Surface(tc.ExponentialDecay(), tc.Spline(intervals=1, smoothness=1.0))
    named = tc.TemporalCalibrator(
        tc.TemperatureScaling(shrinkage=1.0), surface, time_column=("round", "kind")
    ).fit(frame, y)
    spline = tc.Spline(intervals=1, smoothness=1.0)
    return {
        "exponential": example(None, None),
        "betas": example(tc.BetaCalibration(shrinkage=1.0), tc.ExponentialDecay(), 3),
        "steps": example(tc.PlattScaling(shrinkage=1.0, classes=[0, 1, 2]), tc.PerStep(), 3),
        "bins": example(bare, steps, 3),
        "diagonal": example(tc.VectorScaling(shrinkage=1.0), spline, 3),
        "surface": to_document(named).to_dict(),
    }


NAMES = ["exponential", "betas", "steps", "bins", "diagonal", "surface"]


def paths(content, path=()):
    """Every path in a document, except the details of the summary, which may be anything."""
    if path:
        yield path
    if isinstance(content, dict | list) and path != ("summary", "details"):
        for key in content if isinstance(content, dict) else range(len(content)):
            yield from paths(content[key], (*path, key))


def inside(content, path):
    for key in path:
        content = content[key]
    return content


def damaged(content, path, value):
    copied = copy.deepcopy(content)
    inside(copied, path[:-1])[path[-1]] = value
    return copied


def refused(content):
    with pytest.raises(DamagedModelFileError):
        from_content(content)


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_are_whole(name, documents):
    assert to_document(from_content(documents[name])).to_dict() == documents[name]


@pytest.mark.parametrize("name", NAMES)
def test_every_entry_is_needed(name, documents):
    for path in paths(documents[name]):
        content = copy.deepcopy(documents[name])
        del inside(content, path[:-1])[path[-1]]
        refused(content)


@pytest.mark.parametrize("name", NAMES)
def test_no_other_entry_is_allowed(name, documents):
    for path in [(), *paths(documents[name])]:
        content = copy.deepcopy(documents[name])
        if isinstance(inside(content, path), dict) and path != ("summary", "details"):
            inside(content, path)["surprise"] = 1.0
            refused(content)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), "1.0", True, {}, 10**400], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_numbers_must_be_finite_numbers(name, wrong, documents):
    for path in paths(documents[name]):
        if path[0] in ("map", "bands") and isinstance(inside(documents[name], path), float):
            refused(damaged(documents[name], path, wrong))


@pytest.mark.parametrize("wrong", [None, 5, "x", [], {}, ["x"], {"kind": "x"}, [{}], True], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_nothing_may_be_of_another_kind(name, wrong, documents):
    for path in paths(documents[name]):
        before = inside(documents[name], path)
        if type(wrong) is not type(before) and not is_free(path, wrong):
            refused(damaged(documents[name], path, wrong))


def is_free(path, wrong):
    """Tell whether a value, though another, makes sense in a place."""
    last = path[-1]
    settings = path[0] == "parameters" and (wrong is None or wrong == 5)
    of_calibrator = path[:3] == ("parameters", "calibrator", "parameters") and len(path) == 4
    return (
        path[0] == "written_by"
        or (of_calibrator and last not in ("classes", "inputs"))
        or (settings and last in ("shrinkage", "smoothness", "bins", "calibrator", "curve"))
        or (settings and last in ("classes", "time_column") and wrong is None)
        or (path[0] == "summary" and wrong in (None, 5))
        or (path[0] in ("map", "bands") and type(wrong) is int)
        or path == ("column_names",)
    )


WRONG = {
    "another calibrator": ("exponential", ("calibrator",), "PlattScaling"),
    "a map of another calibrator": (
        "exponential",
        ("parameters", "calibrator"),
        {
            "kind": "IsotonicCalibration",
            "parameters": {"shrinkage": "auto", "inputs": "logits", "classes": None},
        },
    ),
    "a calibrator along time within": (
        "exponential",
        ("parameters", "calibrator"),
        {"kind": "TemporalCalibrator", "parameters": {}},
    ),
    "no such calibrator": ("betas", ("parameters", "calibrator", "kind"), "os"),
    "the base": ("betas", ("parameters", "calibrator", "kind"), "Calibrator"),
    "another form": ("betas", ("map", "form"), "lines"),
    "no such form": ("betas", ("map", "form"), "evil"),
    "no such form of beta": ("betas", ("parameters", "calibrator", "parameters", "form"), "evil"),
    "no such curve": ("betas", ("parameters", "curve", "kind"), "Evil"),
    "the base of curves": ("betas", ("parameters", "curve", "kind"), "Curve"),
    "no curve": ("betas", ("parameters", "curve", "kind"), "Track"),
    "a surface in a surface": (
        "surface",
        ("parameters", "curve", "curve_a"),
        {"kind": "Surface", "curve_a": {"kind": "Constant"}, "curve_b": {"kind": "Constant"}},
    ),
    "a curve of one clock": ("surface", ("parameters", "curve"), {"kind": "ExponentialDecay"}),
    "a curve of two clocks": (
        "exponential",
        ("parameters", "curve"),
        {"kind": "Surface", "curve_a": {"kind": "Constant"}, "curve_b": {"kind": "Constant"}},
    ),
    "what steps may not be": ("steps", ("parameters", "curve", "unseen"), "evil"),
    "half a step": ("steps", ("parameters", "curve", "min_rows"), 1.5),
    "a negative shrinkage": ("exponential", ("parameters", "shrinkage"), -1.0),
    "an endless shrinkage": ("exponential", ("parameters", "shrinkage"), 10**400),
    "three strengths": ("exponential", ("parameters", "shrinkage"), [1.0, 2.0, 3.0]),
    "a column that is none": ("surface", ("parameters", "time_column"), ["round", "evil"]),
    "a place that is none": ("surface", ("parameters", "time_column"), [0, 5]),
    "one column for two clocks": ("surface", ("parameters", "time_column"), "round"),
    "three columns for two clocks": ("surface", ("parameters", "time_column"), [0, 1, 2]),
    "one column twice": ("surface", ("parameters", "time_column"), [0, 0]),
    "a column where there are no more": ("exponential", ("parameters", "time_column"), 0),
    "no column": ("surface", ("parameters", "time_column"), None),
    "another number of columns": ("betas", ("columns",), 2),
    "no columns": ("betas", ("columns",), 0),
    "other classes": ("betas", ("classes", "values"), [0, 1, 2, 3]),
    "too few classes": ("betas", ("classes", "values"), [0, 1]),
    "the same class twice": ("betas", ("classes", "values"), [0, 1, 1]),
    "no such kind of time": ("exponential", ("time_kinds",), ["evil"]),
    "two clocks": ("exponential", ("time_kinds",), ["number", "number"]),
    "one clock": ("surface", ("time_kinds",), ["number"]),
    "three clocks": ("surface", ("time_kinds",), ["number"] * 3),
    "no clock": ("exponential", ("time_kinds",), []),
    "no bands": ("exponential", ("bands",), []),
    "a negative rate": ("exponential", ("map", "bases", 0, "rate"), -0.1),
    "a negative rate of a band": ("exponential", ("bands", 0, "basis", "rate"), -0.1),
    "another rate of the band": ("exponential", ("bands", 0, "basis", "rate"), 1e-3),
    "another table of the band": ("exponential", ("bands", 0, "table", 0, 0), 0.5),
    "a negative scale": ("exponential", ("map", "tables", 0, 0, 0), -0.1),
    "a scale of 0": ("exponential", ("map", "tables", 0, 1, 0), 0.0),
    "a falling beta": ("betas", ("map", "tables", 2, 1, 1), -0.1),
    "models that start at different times": ("betas", ("map", "bases", 2, "first"), 1.0),
    "a square that is none": ("exponential", ("bands", 0, "covariances", 0), [[1.0]]),
    "a negative deviation": ("steps", ("bands", 0, "deviations", 0, 0), -0.1),
    "times that fall": ("steps", ("map", "bases", 0, "times", 0), 99.0),
    "edges of other stretches": ("bins", ("map", "basis", "edges"), [1.0, 2.0]),
    "steps where stretches were": (
        "bins",
        ("map", "basis"),
        {"kind": "StepBasis", "times": [0.0, 1.0], "unseen": "interpolate"},
    ),
    "one map for three classes": (
        "bins",
        ("map", "maps", 0, "maps"),
        [{"kind": "Line", "slope": 1.0, "bias": 0.0}],
    ),
    "a map that binning does not make": (
        "bins",
        ("map", "maps", 1),
        {"kind": "Scale", "inverse_temperature": 1.0},
    ),
    "a summary of text": ("betas", ("summary", "n_rows"), "many"),
    "a mean of text": ("betas", ("summary", "nll_after"), "low"),
}


@pytest.mark.parametrize(("name", "path", "value"), WRONG.values(), ids=WRONG)
def test_what_does_not_go_together_is_refused(name, path, value, documents, tmp_path):
    """Even if its checksum is right."""
    file = tmp_path / "model.json"
    write_document(file, damaged(documents[name], path, value))
    with pytest.raises(DamagedModelFileError, match=r"model\.json"):
        tc.load(file)


def test_bands_of_bare_curves_are_refused(documents):
    band = documents["exponential"]["bands"]
    refused({**documents["bins"], "bands": band})


@pytest.mark.parametrize("name", ["AutoTemporalCalibrator", "Summary", "os", "", None, [], {}, 5])
def test_no_other_name_is_read(name, documents, tmp_path):
    file = tmp_path / "model.json"
    write_document(file, {**documents["exponential"], "calibrator": name})
    with pytest.raises(DamagedModelFileError, match=r"model\.json"):
        tc.load(file)


def test_a_calibrator_that_knows_no_time_is_not_taken_for_one_that_does(tmp_path):
    file = tmp_path / "model.json"
    z, y, _, _ = rows()
    tc.TemperatureScaling().fit(z, y).save(file)
    write_document(file, {**read_document(file), "calibrator": "TemporalCalibrator"})
    with pytest.raises(DamagedModelFileError, match="time_kinds"):
        tc.load(file)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 5) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.just("kind"), inner),
    max_leaves=6,
)


# A model with other column names, or none, warns of those that there are.
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
@examples(200)
@given(st.sampled_from(NAMES), st.data())
def test_a_model_with_one_value_changed_is_a_model_or_refused(documents, name, data):
    path = data.draw(st.sampled_from(list(paths(documents[name]))))
    content = damaged(documents[name], path, data.draw(json_values))
    try:
        loaded = from_content(content)
    except DamagedModelFileError:
        return
    frame, _ = table(3, clocks=2)
    z, _, time, _ = rows(len(loaded.classes_))
    inputs = (frame,) if name == "surface" else (z, time)
    str(loaded.summary())
    try:
        with np.errstate(all="ignore"):
            assert not np.isnan(loaded.predict_proba(*inputs)).any()
    except InputError:
        assert path[0] in ("parameters", "time_kinds", "column_names")

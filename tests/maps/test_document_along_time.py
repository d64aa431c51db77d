"""Maps along time, their bases and their bands come back to the bit, or are refused."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tempocal.errors import DamagedModelFileError
from tempocal.formula.nodes import Column, Number, absolute
from tempocal.formula.serialize import to_instructions
from tempocal.maps import (
    FORMS,
    AnyBand,
    Average,
    Band,
    Basis,
    BinBasis,
    ConstantBasis,
    Curves,
    ExponentialBasis,
    ExpressionBasis,
    FeatureCurves,
    FeatureForm,
    FittedMap,
    Knots,
    Line,
    MapPerStep,
    OneVsRest,
    ProductBasis,
    Scale,
    SplineBasis,
    StepBand,
    StepBasis,
    TemporalMap,
    from_dict,
    to_dict,
)
from tempocal.maps.part import LARGEST_TIME, PARTS

time = st.floats(-LARGEST_TIME, LARGEST_TIME)

EDGES = np.array([1.0, 2.0])
PRODUCT = ProductBasis(ExponentialBasis(0.5, 0.0), BinBasis(EDGES))
DECAYS = tuple(ExponentialBasis(rate, 1.0) for rate in (0.1, 0.2, 0.3))
BASES = {
    "constant": ConstantBasis(),
    "exponential": DECAYS[0],
    "spline": SplineBasis(0.0, 24.0, 1.5, 2.0),
    "spline in time": SplineBasis(-1.0, 24.0, 0.0, 1.0),
    "steps": StepBasis(np.array([-1.0, 0.0, 7.5]), "interpolate"),
    "bins": BinBasis(EDGES),
    "product": PRODUCT,
    "formulas": ExpressionBasis(0.0, 4.0, (Column("time") / 4.0, 1.0 - Column("time") / 4.0)),
}


def through_json(content):
    return json.loads(json.dumps(content, allow_nan=False))


def curves(basis, form="lines", width=2, models=1):
    table = np.arange(1.0, 1.0 + basis.n_functions * width).reshape(-1, width)
    return Curves(form, (basis,) * models, (table,) * models)


def band(basis, width=2, faster=(), slower=()):
    size = basis.n_functions + len(faster)
    return Band(
        basis,
        np.ones((basis.n_functions, width)),
        np.stack([(k + 1.0) * np.eye(size) for k in range(width)]),
        faster,
        slower,
        2e-4,
    )


MOMENT = OneVsRest((Knots(np.array([0.0, 1.0]), np.array([0.1, 0.2])),))
ALONG_TIME = {
    **{name: curves(basis) for name, basis in BASES.items()},
    "scale": curves(BASES["spline"], "scale", 1),
    "betas": curves(BASES["steps"], "betas", 3, models=3),
    "diagonal": curves(DECAYS[0], "diagonal", 6),
    "full": curves(PRODUCT, "full", 12),
    "full of two": curves(ConstantBasis(), "full_of_log_proba", 6),
    "decays": Curves("lines", DECAYS, (np.ones((2, 2)),) * 3),
    "features": FeatureCurves(
        "features",
        (BASES["spline"],),
        (np.ones((5, 2)),),
        (Column("odds") * absolute(Column("odds")), Number(1.0)),
        ("curvature", "bias"),
    ),
    "average": Average(np.array([0.25, 0.75]), (curves(DECAYS[0]), curves(BASES["bins"]))),
    "map per step": MapPerStep(StepBasis(EDGES, "error"), (MOMENT, Scale(1.0))),
    "map per bin": MapPerStep(BinBasis(np.array([])), (MOMENT,)),
}
BANDS = {
    **{name: band(basis) for name, basis in BASES.items()},
    "one rate": band(DECAYS[0], 1, (DECAYS[1],), (DECAYS[2],)),
    "of steps": StepBand(StepBasis(EDGES, "nearest"), np.array([[0.0, 1.0], [2.0, 3.0]])),
    "of bins": StepBand(BinBasis(EDGES[:1]), np.ones((2, 1))),
    "of nothing": StepBand(ConstantBasis(), np.zeros((1, 1))),
}


@pytest.mark.parametrize("name", ALONG_TIME)
def test_a_map_along_time_comes_back_to_the_bit(name):
    content = through_json(to_dict(ALONG_TIME[name]))
    restored = from_dict(content, TemporalMap)
    assert repr(to_dict(restored)) == repr(content)
    z = np.linspace(-3, 3, 6)
    if name in ("betas", "diagonal", "full", "decays"):
        z = z.reshape(2, 3)
    elif name == "full of two":
        z = z.reshape(3, 2)
    time = np.full(len(z), 1.0) if "per step" in name else np.linspace(-2, 30, len(z))
    time = np.stack([time, time], axis=1) if name in ("product", "full") else time
    np.testing.assert_array_equal(restored(z, time), ALONG_TIME[name](z, time))


@pytest.mark.parametrize("name", BANDS)
def test_a_band_comes_back_to_the_bit(name):
    content = through_json(to_dict(BANDS[name]))
    restored = from_dict(content, AnyBand)
    assert repr(to_dict(restored)) == repr(content)
    time = np.linspace(-2, 30, 5)
    time = np.stack([time, time], axis=1) if name == "product" else time
    np.testing.assert_array_equal(restored.variance(time), BANDS[name].variance(time))


@given(st.lists(time, min_size=1, unique=True), st.floats(1e-300, 1e300), time)
def test_the_numbers_of_a_basis_come_back_to_the_bit(times, rate, first):
    for basis in (StepBasis(np.sort(times), "nearest"), ExponentialBasis(rate, first)):
        content = to_dict(curves(basis))
        assert repr(to_dict(from_dict(through_json(content), TemporalMap))) == repr(content)


def test_every_form_is_among_the_examples():
    forms = {one.form for one in ALONG_TIME.values() if isinstance(one, Curves)}
    assert forms == {*FORMS, FeatureForm.name}


def test_every_registered_part_is_among_the_examples():
    found = {type(part) for part in (*ALONG_TIME.values(), *BANDS.values(), *BASES.values())}
    parts = [one for one in PARTS if issubclass(one, Basis | TemporalMap | AnyBand)]
    assert {one for one in parts if one.__module__.startswith("tempocal")} == found


FAR = 1.7e308
ONE = to_instructions(Number(1.0))
SPLIT = {  # (example, path, value)
    "a product of products": ("product", ["bases", 0, "one"], to_dict(PRODUCT)),
    "a form that has formulas, without": ("features", ["form"], "lines"),
    "a name twice": ("features", ["names"], ["bias", "bias"]),
    "a name too few": ("features", ["names"], ["bias"]),
    "functions that are negative": ("formulas", ["bases", 0, "last"], 8.0),
    "functions that do not sum to 1": ("formulas", ["bases", 0, "functions", 1], ONE),
    "a range that is none": ("formulas", ["bases", 0, "first"], 5.0),
    "a rate of 0": ("exponential", ["bases", 0, "rate"], 0.0),
    "a negative rate": ("exponential", ["bases", 0, "rate"], -0.5),
    "a rate within a product": ("product", ["bases", 0, "one", "rate"], 0.0),
    "a spline that ends where it begins": ("spline", ["bases", 0, "last"], 0.0),
    "a spline that ends before": ("spline", ["bases", 0, "last"], -1.0),
    "a spline without an end": ("spline", ["bases", 0], to_dict(SplineBasis(-FAR, FAR, 1.0, 2.0))),
    "a negative unit": ("spline", ["bases", 0, "unit"], -1.0),
    "a unit too small to divide by": ("spline", ["bases", 0, "unit"], 5e-324),
    "a unit too large to tell": (
        "spline",
        ["bases", 0],
        to_dict(SplineBasis(0.0, 1e-20, FAR, 2.0)),
    ),
    "half an interval": ("spline", ["bases", 0, "intervals"], 2.5),
    "no interval": ("spline", ["bases", 0, "intervals"], 0.0),
    "intervals without end": ("spline", ["bases", 0, "intervals"], 1e300),
    "times that fall": ("steps", ["bases", 0, "times"], [0.0, 2.0, 1.0]),
    "a time twice": ("steps", ["bases", 0, "times"], [0.0, 1.0, 1.0]),
    "times in two axes": ("steps", ["bases", 0, "times"], [[0.0], [1.0], [2.0]]),
    "no times": ("steps", ["bases", 0, "times"], []),
    "another word for unseen": ("steps", ["bases", 0, "unseen"], "evil"),
    "an edge twice": ("bins", ["bases", 0, "edges"], [1.0, 1.0]),
    "edges in two axes": ("bins", ["bases", 0, "edges"], [[1.0, 2.0]]),
    "no such form": ("steps", ["form"], "evil"),
    "a form of other numbers": ("steps", ["form"], "betas"),
    "a form of one model": ("betas", ["form"], "scale"),
    "a diagonal of one class": ("steps", ["form"], "diagonal"),
    "a matrix that is not square": ("full", ["tables", 0], np.ones((6, 8)).tolist()),
    "a table of other functions": ("steps", ["tables", 0], [[1.0, 2.0]]),
    "a table in one axis": ("steps", ["tables", 0], [1.0, 2.0, 3.0]),
    "a table without columns": ("steps", ["tables", 0], [[], [], []]),
    "no models": ("steps", ["tables"], []),
    "bases of other models": ("betas", ["bases"], [to_dict(BASES["steps"])]),
    "bases that differ": ("decays", ["bases", 1, "first"], 2.0),
    "bases of two kinds": ("decays", ["bases", 1], to_dict(StepBasis(EDGES, "nearest"))),
    "a scale of 0": ("scale", ["tables", 0, 0], [0.0]),
    "a negative scale": ("scale", ["tables", 0, 4], [-1e-9]),
    "a falling beta": ("betas", ["tables", 1, 0], [1.0, -1e-9, 0.0]),
    "weights that do not sum to 1": ("average", ["weights"], [0.25, 0.7]),
    "a negative weight": ("average", ["weights"], [1.25, -0.25]),
    "a weight without a map": ("average", ["weights"], [0.25, 0.5, 0.25]),
    "an average of one": ("average", ["maps"], [to_dict(curves(DECAYS[0]))]),
    "a step without a map": ("map per step", ["maps"], [to_dict(Scale(1.0))]),
    "maps to draw lines between": ("map per step", ["basis", "unseen"], "interpolate"),
}
SPLIT_BANDS = {
    "covariances of other numbers": ("spline", ["covariances"], [np.eye(5).tolist()]),
    "covariances without the rate": ("one rate", ["covariances"], [np.eye(2).tolist()]),
    "covariances that are not square": ("one rate", ["covariances"], [[[1.0, 0.0, 0.0]] * 2]),
    "covariances in two axes": ("one rate", ["covariances"], np.eye(3).tolist()),
    "a rate to one side only": ("one rate", ["slower"], []),
    "a rate of another basis": ("one rate", ["faster", 0], to_dict(ConstantBasis())),
    "a rate from another time": ("one rate", ["faster", 0, "first"], 0.0),
    "no nudge": ("one rate", ["nudge"], 0.0),
    "a table of other functions": ("spline", ["table"], [[1.0, 1.0]]),
    "a negative deviation": ("of steps", ["deviations", 0], [-1e-9, 0.0]),
    "deviations of other steps": ("of steps", ["deviations"], [[1.0, 1.0]]),
    "deviations in one axis": ("of steps", ["deviations"], [1.0, 1.0]),
}


def changed(part, path, value):
    content = through_json(to_dict(part))
    inner = content
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return content


@pytest.mark.parametrize(("name", "path", "value"), SPLIT.values(), ids=SPLIT)
def test_the_parts_of_a_map_along_time_must_go_together(name, path, value):
    with pytest.raises(DamagedModelFileError, match="do not go together"):
        from_dict(changed(ALONG_TIME[name], path, value), TemporalMap)


@pytest.mark.parametrize(("name", "path", "value"), SPLIT_BANDS.values(), ids=SPLIT_BANDS)
def test_the_parts_of_a_band_must_go_together(name, path, value):
    with pytest.raises(DamagedModelFileError, match="do not go together"):
        from_dict(changed(BANDS[name], path, value), AnyBand)


@pytest.mark.parametrize(
    ("name", "path", "part"),
    [
        ("steps", ["bases", 0], Scale(1.0)),
        ("map per step", ["basis"], ConstantBasis()),
        ("map per step", ["maps", 0], Line(1.0, 0.0)),
        ("map per step", ["maps", 0], ALONG_TIME["steps"]),
        ("average", ["maps", 0], ALONG_TIME["average"]),
        ("average", ["maps", 0], ALONG_TIME["map per step"]),
    ],
)
def test_every_part_has_its_place(name, path, part):
    with pytest.raises(DamagedModelFileError, match="must be one of"):
        from_dict(changed(ALONG_TIME[name], path, to_dict(part)), TemporalMap)


def test_what_is_fitted_along_time_is_no_map_of_one_moment():
    for part in (*ALONG_TIME.values(), *BANDS.values(), *BASES.values()):
        with pytest.raises(DamagedModelFileError, match="must be one of"):
            from_dict(to_dict(part), FittedMap)
    with pytest.raises(DamagedModelFileError, match="must be one of"):
        from_dict(to_dict(Scale(1.0)), TemporalMap)
    with pytest.raises(DamagedModelFileError, match="must be one of"):
        from_dict(to_dict(ALONG_TIME["steps"]), AnyBand)

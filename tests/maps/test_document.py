"""A map and its dictionary: the same to the bit, or refused."""

import copy
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tempocal.errors import DamagedModelFileError
from tempocal.formula.nodes import Column, Number
from tempocal.maps import (
    Affine,
    Beta,
    FeatureMap,
    FittedMap,
    Knots,
    Line,
    OneVsRest,
    Scale,
    Steps,
    from_dict,
    to_dict,
)
from tempocal.maps.part import LARGEST_COEFFICIENT

finite = st.floats(allow_nan=False, allow_infinity=False)
coefficient = st.floats(-LARGEST_COEFFICIENT, LARGEST_COEFFICIENT)
at_least_0 = st.floats(0, LARGEST_COEFFICIENT)
moderate = st.floats(-50, 50)
probability = st.floats(0, 1)


def numbers(*shape, elements=moderate):
    return arrays(np.float64, shape, elements=elements)


def ascending(count):
    return numbers(count, elements=finite).map(np.sort)


def steps(count):
    return st.builds(Steps, ascending(count), numbers(count + 1, elements=probability))


def knots(count):
    return st.builds(Knots, ascending(count + 1), numbers(count + 1, elements=probability))


binary_maps = st.one_of(
    st.builds(Line, coefficient, coefficient),
    st.builds(Beta, at_least_0, at_least_0, coefficient),
    st.integers(0, 5).flatmap(steps),
    st.integers(0, 5).flatmap(knots),
)
maps = st.one_of(
    st.builds(Scale, st.floats(0, LARGEST_COEFFICIENT, exclude_min=True)),
    st.builds(Affine, numbers(3), numbers(3), st.just(False)),
    st.builds(Affine, numbers(3, 3), numbers(3), st.booleans()),
    st.builds(OneVsRest, st.lists(binary_maps, min_size=1, max_size=3).map(tuple)),
)


def through_json(content):
    return json.loads(json.dumps(content, allow_nan=False))


# There and back


@given(maps)
def test_a_map_comes_back_to_the_bit(fitted):
    restored = from_dict(through_json(to_dict(fitted)), FittedMap)
    assert type(restored) is type(fitted)
    # repr tells every bit of a float, and -0.0 from 0.0; dictionaries tell shapes and types.
    assert repr(to_dict(restored)) == repr(to_dict(fitted))


@given(maps, numbers(5, 3))
def test_a_map_that_came_back_predicts_the_same_to_the_bit(fitted, z):
    if isinstance(fitted, OneVsRest) and len(fitted.maps) != 3:
        z = z[:, 0]
        fitted = OneVsRest(fitted.maps[:1])
    restored = from_dict(through_json(to_dict(fitted)), FittedMap)
    with np.errstate(over="ignore", invalid="ignore"):
        np.testing.assert_array_equal(restored(z), fitted(z))


def test_the_dictionary_is_of_names_and_numbers():
    fitted = OneVsRest((Steps(np.array([0.5]), np.array([0.25, 1.0])), Line(2.0, -1.0)))
    assert to_dict(fitted) == {
        "kind": "OneVsRest",
        "maps": [
            {"kind": "Steps", "edges": [0.5], "probabilities": [0.25, 1.0]},
            {"kind": "Line", "slope": 2.0, "bias": -1.0},
        ],
    }


# Refused

FEATURES = (Column("odds") * Column("odds"), Number(1.0))
WHOLE = {
    "scale": to_dict(Scale(0.5)),
    "vector": to_dict(Affine(np.ones(3), np.zeros(3), False)),
    "matrix": to_dict(Affine(np.eye(3), np.zeros(3), True)),
    "line": to_dict(OneVsRest((Line(1.0, 0.0),))),
    "beta": to_dict(OneVsRest((Beta(1.0, 1.0, 0.0),))),
    "features": to_dict(OneVsRest((FeatureMap(FEATURES, ("square", "bias"), np.ones(2)),))),
    "steps": to_dict(OneVsRest((Steps(np.array([0.0, 1.0]), np.array([0.1, 0.2, 0.3])),))),
    "knots": to_dict(OneVsRest((Knots(np.array([0.0, 1.0]), np.array([0.1, 0.2])),))),
}
INFINITE = float("inf")
NO_NUMBER = [None, "1.0", "nan", True, float("nan"), INFINITE, -INFINITE, 10**400, {}, [[]]]
RAGGED = [[[1.0], [1.0, 2.0]], [[1.0, 2.0, [3.0]]]]
NO_ARRAY = [1.0, "123", *RAGGED, *([1.0, wrong] for wrong in NO_NUMBER)]


def part_with(name, field):
    """Return a copy of a whole dictionary and the dictionary in it that has the field."""
    content = copy.deepcopy(WHOLE[name])
    return content, content if field in content else content["maps"][0]


def refused(content, words=None):
    with pytest.raises(DamagedModelFileError, match=words):
        from_dict(content, FittedMap)


@pytest.mark.parametrize("name", WHOLE)
def test_the_examples_are_whole(name):
    assert to_dict(from_dict(WHOLE[name], FittedMap)) == WHOLE[name]


NUMBERS = [("scale", "inverse_temperature"), ("line", "slope"), ("line", "bias"), ("beta", "c")]
ARRAYS = [
    ("vector", "weights"),
    ("matrix", "weights"),
    ("vector", "bias"),
    ("steps", "edges"),
    ("steps", "probabilities"),
    ("knots", "odds"),
    ("knots", "probabilities"),
]


@pytest.mark.parametrize(("name", "field"), NUMBERS)
@pytest.mark.parametrize("wrong", [*NO_NUMBER, [1.0]], ids=lambda wrong: repr(wrong)[:12])
def test_a_number_must_be_a_finite_number(name, field, wrong):
    content, part = part_with(name, field)
    part[field] = wrong
    refused(content, field)


@pytest.mark.parametrize(("name", "field"), ARRAYS)
@pytest.mark.parametrize("wrong", NO_ARRAY, ids=lambda wrong: repr(wrong)[:24])
def test_an_array_must_be_a_list_of_finite_numbers(name, field, wrong):
    content, part = part_with(name, field)
    part[field] = wrong
    refused(content, field)


@pytest.mark.parametrize("wrong", [0, 1, None, "true", []])
def test_a_boolean_must_be_one(wrong):
    content, part = part_with("matrix", "of_log_proba")
    part["of_log_proba"] = wrong
    refused(content, "of_log_proba")


@pytest.mark.parametrize(("name", "field"), [*NUMBERS, *ARRAYS, ("line", "maps")])
def test_every_field_is_needed(name, field):
    content, part = part_with(name, field)
    del part[field]
    refused(content, f"needs .*{field}.*, but the file has")


@pytest.mark.parametrize("extra", ["", "slope2", "__class__", 3, None])
@pytest.mark.parametrize("name", WHOLE)
def test_no_other_field_is_allowed(name, extra):
    refused({**WHOLE[name], extra: 1.0}, "but the file has")


@pytest.mark.parametrize(
    "kind", ["scale", "Line", "FittedMap", "object", "", None, 1, [], {}, True, ["Scale"]]
)
def test_only_maps_of_all_classes_are_maps(kind):
    refused({**WHOLE["scale"], "kind": kind}, "must be one of .*'Affine', 'OneVsRest', 'Scale'")


@pytest.mark.parametrize("part", [WHOLE["scale"], WHOLE["line"], WHOLE["matrix"], 1.0, None, []])
def test_one_against_the_rest_is_made_of_maps_of_one_class(part):
    refused(
        {"kind": "OneVsRest", "maps": [part]},
        "must be one of .*'Beta', 'FeatureMap', 'Knots', 'Line'",
    )


APART = {
    "no maps": ("line", "maps", []),
    "inverse temperature 0": ("scale", "inverse_temperature", 0.0),
    "negative inverse temperature": ("scale", "inverse_temperature", -1.0),
    "biases of other classes": ("vector", "bias", [0.0, 0.0]),
    "one class": ("vector", "weights", [1.0]),
    "a matrix that is not square": ("matrix", "weights", [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]),
    "biases in two axes": ("matrix", "bias", [[0.0, 0.0, 0.0]]),
    "a falling beta": ("beta", "a", -0.1),
    "a bin without a probability": ("steps", "probabilities", [0.1, 0.2]),
    "edges that fall": ("steps", "edges", [1.0, 0.0]),
    "edges in two axes": ("steps", "edges", [[0.0, 1.0]]),
    "a probability above 1": ("steps", "probabilities", [0.1, 0.2, 1.1]),
    "a probability below 0": ("knots", "probabilities", [-0.1, 0.2]),
    "a knot without a probability": ("knots", "probabilities", [0.1]),
    "knots that fall": ("knots", "odds", [1.0, 0.0]),
    "no knots": ("knots", "odds", []),
}


@pytest.mark.parametrize(("name", "field", "wrong"), APART.values(), ids=APART)
def test_the_parts_of_a_map_must_go_together(name, field, wrong):
    content, part = part_with(name, field)
    part[field] = wrong
    refused(content, "the parts of a .* do not go together")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["kind", "maps", "slope", "bias", "x"]), inner)
    ),
    max_leaves=8,
)


@given(json_values)
def test_whatever_else_json_can_hold_is_refused(content):
    refused(content)


def places(content, path=()):
    """Every place in a nested dictionary or list."""
    yield path
    if isinstance(content, dict | list):
        for key in content if isinstance(content, dict) else range(len(content)):
            yield from places(content[key], (*path, key))


@given(st.sampled_from(sorted(WHOLE)), st.data())
def test_a_map_with_one_value_changed_is_a_map_or_refused(name, data):
    content = copy.deepcopy(WHOLE[name])
    *path, last = data.draw(st.sampled_from([place for place in places(content) if place]))
    inner = content
    for key in path:
        inner = inner[key]
    inner[last] = data.draw(json_values)
    try:
        restored = from_dict(content, FittedMap)
    except DamagedModelFileError:
        return
    # Whole: it can be applied to the logits it was made for.
    z = np.zeros(2) if name in ("line", "beta", "steps", "knots") else np.zeros((2, 3))
    assert not np.isnan(restored(z)).any()


def test_nesting_without_end_is_refused():
    content = WHOLE["line"]
    for _ in range(10_000):
        content = {"kind": "OneVsRest", "maps": [content]}
    refused(content, "must be one of")
    deep = 1.0
    for _ in range(10_000):
        deep = [deep]
    refused({**WHOLE["scale"], "inverse_temperature": deep}, "inverse_temperature")
    refused({**WHOLE["vector"], "bias": deep}, "bias")

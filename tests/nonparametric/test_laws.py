"""What holds for every nonparametric fit."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from support.curves import fit_bayesian, fit_histogram, fit_isotonic, fit_near_isotonic
from support.examples import examples
from tempocal.links import sigmoid
from tempocal.maps import Steps

law = examples(30)

FITS = {
    "equal mass": partial(fit_histogram, bins=4, binning="equal_mass", shrinkage=0.0),
    "equal mass, shrunk": partial(fit_histogram, bins=4, binning="equal_mass", shrinkage=1.0),
    "equal width": partial(fit_histogram, bins=4, binning="equal_width", shrinkage=0.0),
    "bayesian": fit_bayesian,
    "isotonic": partial(fit_isotonic, shrinkage=0.0),
    "isotonic, shrunk": partial(fit_isotonic, shrinkage=1.0),
    "near-isotonic": partial(fit_near_isotonic, shrinkage=0.0),
    "near-isotonic, shrunk": partial(fit_near_isotonic, shrinkage=1.0),
}
every_fit = pytest.mark.parametrize("fit", FITS.values(), ids=FITS.keys())

ODDS = st.one_of(
    st.integers(-6, 6).map(lambda k: k / 2),
    st.floats(-8.0, 8.0).map(lambda z: round(z, 6)),
    st.sampled_from([-700.0, 700.0, -40.0, 40.0]),
)


def rows(weight):
    row = st.tuples(ODDS, st.sampled_from([0.0, 1.0]), weight)
    columns = st.lists(row, min_size=1, max_size=30).filter(lambda found: any(w for *_, w in found))
    return columns.map(
        lambda found: tuple(np.array(column, float) for column in zip(*found, strict=True))
    )


COUNTED = rows(st.integers(0, 3))
WEIGHTED = rows(st.floats(0.01, 20.0))


def axis(fitted):
    return fitted.edges if isinstance(fitted, Steps) else fitted.odds


@every_fit
@law
@given(data=COUNTED)
def test_a_weight_is_a_number_of_repetitions(fit, data):
    odds, targets, weights = data
    repeated = np.repeat(np.arange(len(odds)), weights.astype(int))

    weighted, plain = fit(odds, targets, weights), fit(odds[repeated], targets[repeated], None)

    assert_array_equal(axis(weighted), axis(plain))
    assert_array_equal(weighted.probabilities, plain.probabilities)


@every_fit
@law
@given(data=WEIGHTED, seed=st.integers(0, 99))
def test_the_order_of_rows_does_not_matter(fit, data, seed):
    odds, targets, weights = data
    order = np.random.default_rng(seed).permutation(len(odds))

    one, other = fit(odds, targets, weights), fit(odds[order], targets[order], weights[order])

    assert_array_equal(axis(one), axis(other))
    assert_array_equal(one.probabilities, other.probabilities)


@every_fit
@law
@given(data=WEIGHTED)
def test_a_fit_is_a_map_of_finite_numbers_to_probabilities(fit, data):
    fitted = fit(*data)

    assert np.isfinite(axis(fitted)).all()
    assert np.all(np.diff(axis(fitted)) > 0)
    assert np.all((fitted.probabilities >= 0) & (fitted.probabilities <= 1))
    assert len(fitted.probabilities) == len(axis(fitted)) + isinstance(fitted, Steps)


@pytest.mark.parametrize("fit", [FITS["isotonic"], FITS["isotonic, shrunk"]])
@law
@given(data=WEIGHTED)
def test_isotonic_never_falls(fit, data):
    assert np.all(np.diff(fit(*data).probabilities) >= 0)


@pytest.mark.parametrize("fit", [fit_isotonic, fit_near_isotonic])
@pytest.mark.parametrize("shrinkage", [0.0, 3.0])
@law
@given(data=WEIGHTED)
def test_swapping_the_classes_swaps_the_answer(fit, shrinkage, data):
    odds, targets, weights = data

    one = fit(odds, targets, weights, shrinkage=shrinkage)
    other = fit(-odds, 1 - targets, weights, shrinkage=shrinkage)

    mirrored = 1 - np.interp(-odds, other.odds, other.probabilities)
    assert np.interp(odds, one.odds, one.probabilities) == pytest.approx(mirrored, abs=1e-9)


@pytest.mark.parametrize("fit", [fit_isotonic, fit_near_isotonic])
@law
@given(data=WEIGHTED)
def test_shrinkage_goes_all_the_way_to_the_mean_prediction_of_each_block(fit, data):
    odds, _, weights = data
    weights = np.ones_like(odds) if weights is None else weights
    counted = weights > 0

    fitted = fit(*data, shrinkage=1e12)

    values = np.interp(odds, fitted.odds, fitted.probabilities)[counted]
    assert np.average(values, weights=weights[counted]) == pytest.approx(
        np.average(sigmoid(odds)[counted], weights=weights[counted]), abs=1e-8
    )


@pytest.mark.parametrize("label", [0.0, 1.0])
@pytest.mark.parametrize("name", ["equal mass", "isotonic", "near-isotonic"])
def test_without_shrinkage_one_class_alone_is_certain(name, label):
    odds, weights = np.array([-700.0, 0.1, 0.1, 700.0]), np.array([0.3, 0.1, 0.7, 1.3])

    fitted = FITS[name](odds, np.full(4, label), weights)

    assert np.all(fitted.probabilities == label)


@every_fit
@pytest.mark.parametrize("label", [0.0, 1.0])
def test_one_row_is_enough(fit, label):
    probabilities = fit(np.array([0.5]), np.array([label]), None).probabilities

    # The row's own bin or knot leans to its label.
    (value,) = probabilities if len(probabilities) == 1 else probabilities[[2]]
    assert abs(value - label) < 0.5

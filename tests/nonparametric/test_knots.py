import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from support.examples import examples
from tempocal.nonparametric.knots import thin_knots

law = examples(50)

LEVELS = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=30)


@law
@given(LEVELS)
def test_what_is_dropped_is_not_missed(levels):
    odds = np.arange(float(len(levels)))
    grid = np.arange(-1.0, len(levels) + 1.0, 0.25)

    knots = thin_knots(odds, np.array(levels))

    assert_array_equal(
        np.interp(grid, knots.odds, knots.probabilities), np.interp(grid, odds, levels)
    )


@law
@given(LEVELS)
def test_no_three_knots_are_level(levels):
    kept = thin_knots(np.arange(float(len(levels))), np.array(levels)).probabilities

    assert not np.any((kept[:-2] == kept[1:-1]) & (kept[1:-1] == kept[2:]))


def test_rounding_beyond_the_unit_interval_is_cut():
    knots = thin_knots(np.array([0.0, 1.0]), np.array([-1e-17, 1.0 + 2e-16]))

    assert_array_equal(knots.probabilities, [0.0, 1.0])

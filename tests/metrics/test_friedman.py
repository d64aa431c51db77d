import subprocess
import sys
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scikit_posthocs
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare

from support.examples import examples
from tempocal.errors import InputError
from tempocal.metrics import friedman_nemenyi

# AUC of four kinds of decision trees on 14 data sets: table 6 of Demšar (2006). On the last set but
# one it prints 0.975 twice and ranks them 2 and 3, by digits that it does not print.
DEMSAR_NAMES = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
DEMSAR = [
    [0.763, 0.768, 0.771, 0.798],
    [0.599, 0.591, 0.590, 0.569],
    [0.954, 0.971, 0.968, 0.967],
    [0.628, 0.661, 0.654, 0.657],
    [0.882, 0.888, 0.886, 0.898],
    [0.936, 0.931, 0.916, 0.931],
    [0.661, 0.668, 0.609, 0.685],
    [0.583, 0.583, 0.563, 0.625],
    [0.775, 0.838, 0.866, 0.875],
    [1.000, 1.000, 1.000, 1.000],
    [0.940, 0.962, 0.965, 0.962],
    [0.619, 0.666, 0.614, 0.669],
    [0.972, 0.981, 0.9751, 0.975],
    [0.957, 0.978, 0.946, 0.970],
]

# Few distinct scores make many ties.
tables = st.tuples(st.integers(2, 12), st.integers(3, 6), st.integers(0, 2**32 - 1)).map(
    lambda shape: np.random.default_rng(shape[2]).integers(0, 5, shape[:2]).astype(float)
)


def varies(scores):
    return bool((np.ptp(scores, axis=1) > 0).any())


@examples(80)
@given(scores=tables.filter(varies))
def test_friedman_test_is_that_of_scipy(scores):
    found, expected = friedman_nemenyi(scores), friedmanchisquare(*scores.T)
    assert found.chi_square == pytest.approx(expected.statistic, abs=1e-9)
    assert found.p_value == pytest.approx(expected.pvalue, abs=1e-9)


@examples(40)
@given(scores=tables)
def test_pairwise_p_values_are_those_of_scikit_posthocs(scores):
    found = friedman_nemenyi(scores).pairwise_p_values
    expected = scikit_posthocs.posthoc_nemenyi_friedman(scores).to_numpy()
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert ((found >= 0) & (found <= 1)).all()


@examples(60)
@given(scores=tables, alpha=st.sampled_from([0.01, 0.05, 0.3, 0.8]))
def test_p_values_and_critical_difference_say_the_same(scores, alpha):
    found = friedman_nemenyi(scores, alpha=alpha)
    apart = np.abs(np.subtract.outer(found.mean_ranks, found.mean_ranks))
    np.testing.assert_array_equal(
        apart > found.critical_difference, found.pairwise_p_values < alpha
    )
    best = np.flatnonzero(apart[found.mean_ranks.argmin()] <= found.critical_difference)
    assert set(found.best) == {found.names[at] for at in best}


@examples(60)
@given(scores=tables, alpha=st.sampled_from([0.05, 0.5, 0.9]))
def test_cliques_are_the_largest_sets_that_do_not_differ(scores, alpha):
    found = friedman_nemenyi(scores, alpha=alpha)
    same = found.pairwise_p_values >= alpha
    k = len(found.names)
    sets = [
        set(chosen)
        for size in range(2, k + 1)
        for chosen in combinations(range(k), size)
        if same[np.ix_(chosen, chosen)].all()
    ]
    largest = [one for one in sets if not any(one < other for other in sets)]
    expected = {frozenset(found.names[at] for at in one) for one in largest}
    assert {frozenset(clique) for clique in found.cliques} == expected
    assert len(found.cliques) == len(expected)


@examples(30)
@given(scores=tables)
def test_higher_is_better_turns_the_ranks(scores):
    down, up = friedman_nemenyi(scores), friedman_nemenyi(scores, higher_is_better=True)
    np.testing.assert_allclose(up.mean_ranks, scores.shape[1] + 1 - down.mean_ranks, rtol=1e-12)
    assert up.chi_square == pytest.approx(down.chi_square)
    turned = friedman_nemenyi(-scores, higher_is_better=True)
    np.testing.assert_array_equal(turned.mean_ranks, down.mean_ranks)


@examples(30)
@given(scores=tables.filter(varies))
def test_f_is_that_of_iman_and_davenport(scores):
    found, (n, k) = friedman_nemenyi(scores), scores.shape
    left = n * (k - 1) - found.chi_square
    if left > 1e-9:
        assert found.f_statistic == pytest.approx((n - 1) * found.chi_square / left)
        assert 0 <= found.f_p_value <= 1
    else:
        assert (found.f_statistic, found.f_p_value) == (np.inf, 0)


def test_worked_example_of_demsar():
    found = friedman_nemenyi(DEMSAR, names=DEMSAR_NAMES, higher_is_better=True)
    np.testing.assert_allclose(found.mean_ranks, [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    assert found.critical_difference == pytest.approx(1.25, abs=5e-3)
    # He does not correct for ties; then chi-square is 9.28 and F 3.69.
    n, k = 14, 4
    plain = 12 * n / (k * (k + 1)) * (np.sum(found.mean_ranks**2) - k * (k + 1) ** 2 / 4)
    assert plain == pytest.approx(9.28, abs=5e-3)
    assert found.chi_square > plain
    assert found.best == ("C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5")
    assert found.cliques == (found.best,)


def test_worked_example_of_demsar_at_a_tenth():
    found = friedman_nemenyi(DEMSAR, names=DEMSAR_NAMES, higher_is_better=True, alpha=0.1)
    assert found.critical_difference == pytest.approx(1.12, abs=5e-3)
    assert found.best == ("C4.5+m+cf", "C4.5+m", "C4.5+cf")
    assert found.cliques == (found.best, ("C4.5+cf", "C4.5"))


def test_critical_difference_of_the_paper():
    scores = np.random.default_rng(0).random((10, 3))
    assert round(friedman_nemenyi(scores).critical_difference, 3) == 1.048


@pytest.mark.parametrize(
    ("k", "q"),
    [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (8, 3.031), (10, 3.164)],
)
def test_critical_values_are_those_of_the_table(k, q):
    """Table 5 of Demšar (2006), whose last digit is cut off for three methods."""
    scores = np.random.default_rng(0).random((7, k))
    found = friedman_nemenyi(scores).critical_difference
    assert found / np.sqrt(k * (k + 1) / 42) == pytest.approx(q, abs=1e-3)


def test_methods_differ_by_more_than_the_critical_difference_not_by_less():
    ten = np.tile([1.0, 2.0, 3.0], (10, 1))
    found = friedman_nemenyi(ten, names=["a", "b", "c"])
    assert found.best == ("a", "b")  # 1 apart, and 1.048 is needed
    assert found.cliques == (("a", "b"), ("b", "c"))
    # With twelve sets the critical difference is below 1.
    found = friedman_nemenyi(np.tile([1.0, 2.0, 3.0], (12, 1)), names=["a", "b", "c"])
    assert found.critical_difference < 1
    assert (found.best, found.cliques) == (("a",), ())


def test_sets_that_all_agree():
    found = friedman_nemenyi(np.tile([3.0, 1.0, 2.0], (6, 1)))
    assert found.chi_square == 12
    assert (found.f_statistic, found.f_p_value) == (np.inf, 0)
    assert "F inf" in str(found)


def test_scores_that_are_all_equal_show_no_difference():
    found = friedman_nemenyi(np.ones((5, 3)))
    assert (found.chi_square, found.p_value, found.f_statistic, found.f_p_value) == (0, 1, 0, 1)
    np.testing.assert_array_equal(found.mean_ranks, 2)
    np.testing.assert_array_equal(found.pairwise_p_values, 1)
    assert len(found.best) == 3
    assert "finds no difference" in str(found)


def test_two_methods_are_enough():
    found = friedman_nemenyi([[1, 2], [1, 2], [1, 2], [2, 1], [1, 2], [1, 2]])
    # The sign test without correction: (5 - 1)^2 / 6.
    assert found.chi_square == pytest.approx(16 / 6)
    assert found.critical_difference == pytest.approx(1.95996 / np.sqrt(6), abs=1e-5)


def test_infinite_scores_are_ranked():
    found = friedman_nemenyi([[0.5, np.inf, 0.6], [0.5, np.inf, np.inf]])
    np.testing.assert_array_equal(found.mean_ranks, [1, 2.75, 2.25])


def test_p_values_are_uniform_where_methods_are_equal():
    random = np.random.default_rng(0)
    found = [friedman_nemenyi(random.random((30, 4))) for _ in range(400)]
    assert np.mean([one.p_value < 0.05 for one in found]) == pytest.approx(0.05, abs=0.03)
    differing = [(one.pairwise_p_values < 0.05).any() for one in found]
    assert np.mean(differing) == pytest.approx(0.05, abs=0.03)


def test_names_come_from_a_table():
    columns = {"raw": [0.5, 0.6, 0.4], "temporal": [0.4, 0.5, 0.3]}
    for table in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        assert friedman_nemenyi(table).names == ("raw", "temporal")
    assert friedman_nemenyi([[1, 2], [1, 2]]).names == ("method 1", "method 2")
    assert friedman_nemenyi(pd.DataFrame(columns), names=["a", "b"]).names == ("a", "b")


def test_printed_table_is_by_rank():
    scores = np.tile([3.0, 1.0, 2.0], (10, 1))
    lines = str(friedman_nemenyi(scores, names=["slow", "quick", "middling"])).splitlines()
    assert lines[0].startswith("3 methods on 10 sets: Friedman chi-square 20.00")
    assert "differ by more than 1.048" in lines[1]
    assert lines[2:] == ["  quick      1.000 •", "  middling   2.000 •", "  slow       3.000"]


def test_import_of_metrics_is_light():
    code = "import sys, tempocal.metrics as m; m.friedman_nemenyi; print('scipy' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert run.stdout.strip() == b"False"


@pytest.mark.parametrize(
    ("message", "change"),
    [
        ("scores must be of shape", {"scores": [1, 2, 3]}),
        ("scores must be numbers", {"scores": [["a", "b"], ["c", "d"]]}),
        ("at least 2 methods, but it has 1", {"scores": [[1], [2]]}),
        ("at least 2 methods, but it has 0", {"scores": [[], []]}),
        ("at least 2 sets, but it has 1", {"scores": [[1, 2, 3]]}),
        ("contains NaN .first at row 1, column 0", {"scores": [[1, 2], [np.nan, 2]]}),
        ("names must be one name for each of the 2 methods", {"names": ["a"]}),
        ("names must differ", {"names": ["a", "a"]}),
        ("higher_is_better must be True or False", {"higher_is_better": "no"}),
        ("alpha must be a number between 0 and 1, but it is 5", {"alpha": 5}),
        ("alpha must be", {"alpha": 0.0}),
        ("alpha must be", {"alpha": np.nan}),
        ("alpha must be", {"alpha": "0.05"}),
    ],
)
def test_bad_input_is_refused(message, change):
    arguments = {"scores": [[1, 2], [2, 1]]} | change
    with pytest.raises(InputError, match=message):
        friedman_nemenyi(arguments.pop("scores"), **arguments)

"""Integer codes in narrow types are those of sorting, by the loops and by NumPy."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from support.examples import examples
from tempocal.kernels import codes, native
from tempocal.kernels.codes import NARROW, integer_codes, renumbered

MOST = 2**20
compiled = pytest.mark.skipif(
    native is None and not os.environ.get("TEMPOCAL_CI"), reason="the loops are not compiled"
)
quick = examples(60)
firsts = st.sampled_from([0, -5, 3, 2**31, -(2**40), 2**53 - 2**20])
since = arrays(np.int64, st.integers(1, 70), elements=st.integers(0, 2**20 - 1))


@pytest.fixture(params=["compiled", "numpy"], autouse=True)
def loops(request, monkeypatch):
    """Blocks of few numbers, so that there are several."""
    monkeypatch.setattr(codes, "BLOCK", 16)
    if request.param == "numpy":
        monkeypatch.setattr(codes, "native", None)


def assert_counted(values):
    found = integer_codes(values, MOST)
    assert found is not None
    assert found.low == values.min()
    assert found.span == values.max() - values.min() + 1
    np.testing.assert_array_equal(found.codes, values - values.min())
    assert found.codes.itemsize == (2 if found.span <= NARROW else 4)


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@given(first=firsts, since=since)
@quick
def test_they_are_counted_from_the_lowest(dtype, first, since):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codes, "BLOCK", 16)
        assert_counted((first + since).astype(dtype))


@pytest.mark.parametrize("span", [NARROW - 1, NARROW, NARROW + 1, MOST - 1])
@pytest.mark.parametrize("at", [0, 20, 39])
def test_two_bytes_hold_them_wherever_the_first_is(span, at):
    values = np.full(40, 7.0 + span // 2)
    values[at], values[(at + 11) % 40] = 7.0, 7.0 + span
    assert_counted(values)
    assert_counted(values.astype(np.int64))


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@pytest.mark.parametrize("far", [MOST + 1, MOST + 2, 2**31, 2**32, 2**32 + 1, 2**50, -(2**40)])
@pytest.mark.parametrize("at", [0, 1, 16, 39])
def test_those_far_apart_are_not_counted(dtype, far, at):
    values = np.arange(40, dtype=dtype)
    values[at] = far
    assert integer_codes(values, MOST) is None


@pytest.mark.parametrize(
    "odd",
    [0.5, 1e-9, 1e-300, 2.0**51 + 0.5, np.inf, -np.inf, np.nan, -np.nan, 1e300, -1e300]
    + [2.0**power for power in (52, 53, 54, 62, 63, 64, 1000)]
    + [-(2.0**power) for power in (51, 52, 53, 63)]
    + [1.5 * 2.0**52, -1.5 * 2.0**52],
)
@pytest.mark.parametrize("first", [0.0, 1.0, -7.0, 2.0**40])
@pytest.mark.parametrize("at", [0, 1, 15, 16, 39])
def test_fractions_and_what_is_no_number_are_seen_wherever_they_stand(odd, first, at):
    values = first + np.arange(40.0)
    values[at] = odd
    assert integer_codes(values, MOST) is None


def test_a_number_too_small_to_be_told_from_the_first_is_no_zero():
    assert integer_codes(np.array([1.0, 1e-20, 2.0]), MOST) is None
    assert integer_codes(np.array([-1.0, 1e-20, 2.0]), MOST) is None


def test_zero_has_no_sign():
    found = integer_codes(np.array([-0.0, 0.0, 1.0, -0.0]), MOST)
    assert found.codes.tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize("n_cores", [1, 2, 5])
def test_any_number_of_threads_gives_the_same(n_cores, set_cores):
    set_cores(n_cores)
    rng = np.random.default_rng(0)
    assert_counted(rng.integers(-300, 300, 1234).astype(float))
    assert_counted(rng.integers(-(10**5), 10**5, 1234))


def test_columns_of_a_table_need_no_copy_before():
    table = np.random.default_rng(0).integers(0, 50, (100, 3))
    assert_counted(table[:, 1])
    assert_counted(table[:, 2].astype(float)[::-1])


@pytest.mark.parametrize("n_codes", [5, 70_000])
@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.int64])
def test_codes_that_do_not_occur_are_left_out(n_codes, dtype):
    rng = np.random.default_rng(0)
    given = rng.integers(0, min(n_codes, NARROW), 100).astype(dtype)
    present = np.bincount(given, minlength=n_codes) > 0
    found = renumbered(given, present)
    np.testing.assert_array_equal(found, np.unique(given, return_inverse=True)[1])
    assert found.dtype == np.uint16


def test_many_codes_that_do_occur_have_four_bytes():
    found = renumbered(np.array([NARROW, 0, NARROW + 1]), np.ones(NARROW + 2, dtype=bool))
    assert found.tolist() == [NARROW, 0, NARROW + 1]


@compiled
def test_what_does_not_go_together_is_refused():
    good = {
        "values": np.zeros(3),
        "first": np.zeros(1),
        "codes": np.zeros(3, dtype=np.uint16),
        "min_max": np.zeros(2, dtype=np.int64),
    }
    assert native.integer_codes(*good.values()) is True
    for name, value in (
        ("values", np.zeros(2)),
        ("values", np.zeros(0)),
        ("first", np.zeros(2)),
        ("first", np.array([2.0**54])),
        ("first", np.array([np.nan])),
        ("codes", np.zeros(2, dtype=np.uint16)),
        ("min_max", np.zeros(3, dtype=np.int64)),
        ("min_max", np.zeros(0, dtype=np.int64)),
    ):
        with pytest.raises(ValueError, match="do not go together"):
            native.integer_codes(*{**good, name: value}.values())
    for name, value in (("values", np.zeros(3, np.int32)), ("codes", np.zeros(3, np.int64))):
        with pytest.raises(TypeError, match="kind"):
            native.integer_codes(*{**good, name: value}.values())

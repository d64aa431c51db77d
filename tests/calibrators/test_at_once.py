"""Probabilities in one pass are those of the long way, to the bit, and so are the errors."""

import os

import numpy as np
import pandas as pd
import pytest

import tempocal as tc
from tempocal.errors import InputError
from tempocal.kernels import native
from tempocal.links import proba_from_logits

MANY = 300_001
COMPILED = pytest.mark.skipif(
    native is None and not os.environ.get("TEMPOCAL_CI"), reason="the loops are not compiled"
)


@pytest.fixture(scope="module")
def logits():
    return 3.0 * np.random.default_rng(0).normal(size=(MANY, 3))


@pytest.fixture(scope="module")
def labels(logits):
    return (logits + np.random.default_rng(1).gumbel(size=logits.shape)).argmax(axis=1)


CALIBRATORS = [tc.TemperatureScaling(), tc.PlattScaling(), tc.Identity()]


@pytest.fixture(params=CALIBRATORS, ids=repr)
def binary(request, logits, labels):
    return request.param.fit(logits[:5000, 0], labels[:5000] == 0)


@pytest.fixture
def temperature(logits, labels):
    return tc.TemperatureScaling().fit(logits[:5000], labels[:5000])


def long_way(fitted, logits):
    return proba_from_logits(fitted.decision_function(logits))


KINDS = {
    "doubles": lambda z: z,
    "floats": lambda z: z.astype(np.float32),
    "halves": lambda z: z.astype(np.float16),
    "long doubles": lambda z: z.astype(np.longdouble),
    "other end first": lambda z: z.astype(">f8"),
    "whole": lambda z: z.astype(np.int8),
    "backwards": lambda z: z[::-1],
    "every third": lambda z: z[::3],
    "floats, every third": lambda z: z.astype(np.float32)[::3],
    "Fortran": np.asfortranarray,
    "odd address": lambda z: np.frombuffer(b"x" + z.tobytes(), offset=1).reshape(z.shape),
    "frame": pd.DataFrame,
    "list": lambda z: z[:77].tolist(),
    "one row": lambda z: z[:1],
}


@pytest.mark.parametrize("kind", KINDS)
def test_one_column_of_any_kind(kind, logits, binary):
    for column in (KINDS[kind](logits[:, 0]), KINDS[kind](logits[:, :1])):
        found = binary.predict_proba(column)
        np.testing.assert_array_equal(found, long_way(binary, column))


@pytest.mark.parametrize("kind", KINDS)
def test_many_columns_of_any_kind(kind, logits, temperature):
    table = KINDS[kind](logits)
    np.testing.assert_array_equal(temperature.predict_proba(table), long_way(temperature, table))


@COMPILED
@pytest.mark.usefixtures("loops")
def test_every_instruction_set_and_length(logits, binary, temperature):
    for n in (1, 2, 3, 7, 8, 9, 15, 17, 65_537):
        for dtype in (np.float64, np.float32):
            z = logits[:n].astype(dtype)
            found = binary.predict_proba(z[:, 0])
            np.testing.assert_array_equal(found, long_way(binary, z[:, 0]))
            np.testing.assert_array_equal(temperature.predict_proba(z), long_way(temperature, z))


@pytest.mark.parametrize("row", [0, MANY // 2, MANY - 1])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_one_logit_among_many_is_seen(row, dtype, logits, binary, temperature):
    column, table = logits[:, 0].astype(dtype), logits.astype(dtype)
    for value, words in ((np.nan, "contains NaN"), (1e30, r"within 2\*\*53 of zero")):
        column[row] = table[row, 1] = value
        for strange in (column, column[:, None], np.stack([column, column])[0]):
            with pytest.raises(InputError, match=f"{words}.*row {row}"):
                binary.predict_proba(strange)
        with pytest.raises(InputError, match=f"{words}.*row {row}"):
            temperature.predict_proba(table)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_infinity_is_read_as_certain(dtype, logits, binary, temperature):
    column, table = logits[:, 0].astype(dtype), logits.astype(dtype)
    column[MANY // 2], table[7, 2] = -np.inf, np.inf
    np.testing.assert_array_equal(binary.predict_proba(column), long_way(binary, column))
    np.testing.assert_array_equal(temperature.predict_proba(table), long_way(temperature, table))
    assert binary.predict_proba(column)[MANY // 2, 1] > 0.0


def test_the_largest_logits_are_taken(binary):
    limits = np.array([2.0**53, -(2.0**53)])
    np.testing.assert_array_equal(binary.predict_proba(limits), long_way(binary, limits))
    with pytest.raises(InputError, match="within 2"):
        binary.predict_proba(np.nextafter(limits, np.inf))


def test_columns_that_the_fit_did_not_have_are_refused(logits, labels, binary, temperature):
    for fitted, wrong in (
        (binary, logits),
        (temperature, logits[:, 0]),
        (temperature, logits[:, :2]),
    ):
        with pytest.raises(InputError, match=r"column|feature"):
            fitted.predict_proba(wrong)
    names = ["a", "b", "c"]
    named = tc.TemperatureScaling().fit(pd.DataFrame(logits[:500], columns=names), labels[:500])
    with pytest.raises(InputError, match="not those of the fit"):
        named.predict_proba(pd.DataFrame(logits[:5], columns=names[::-1]))


@COMPILED
def test_floats_are_not_copied(logits, binary, monkeypatch):
    seen = []
    column = np.ascontiguousarray(logits[:, 0], dtype=np.float32)
    monkeypatch.setattr("tempocal.kernels.proba.native", Noting(seen))
    binary.predict_proba(column)
    assert all(np.shares_memory(rows, column) for rows in seen)
    assert sum(map(len, seen)) == MANY


class Noting:
    """The compiled loops, and what they were given."""

    def __init__(self, seen):
        self.seen = seen

    def sigmoid(self, rows, *others):
        self.seen.append(rows)
        return native.sigmoid(rows, *others)

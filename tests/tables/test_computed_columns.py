"""Formulas as columns of tables whose engines write operands more than once."""

import duckdb
import narwhals as nw
import numpy as np

from tempocal.formula.links import log
from tempocal.formula.nodes import Column, clamp
from tempocal.tables.computed_columns import with_formulas

DEPTH = 12


def test_query_is_as_long_as_its_formula() -> None:
    # narwhals writes the operand of a logarithm three times, that of a clip twice.
    nested, x = Column("x"), np.array([0.5, 1.0, 7.0])
    expected = x
    for _ in range(DEPTH):
        nested, expected = log(clamp(nested, low=0.5) + 1.0), np.log(np.maximum(expected, 0.5) + 1.0)
    relation = duckdb.connect().sql("SELECT unnest([0.5, 1.0, 7.0]) AS x")
    frame = with_formulas(nw.from_native(relation), {"y": nested})
    query = nw.to_native(frame).sql_query()
    assert len(query) < 1000 * DEPTH
    np.testing.assert_allclose(nw.to_native(frame).fetchnumpy()["y"], expected, rtol=1e-14)

"""A few of the bad inputs of `tests/doors`, on Spark, whose session takes long to start."""

import numpy as np
import pytest

from doors.cases import CASES, REFUSED
from doors.doors import DOORS, fit_table
from doors.test_doors import GOOD, OTHERS_WARNINGS, ROLES, answers
from support.lanes import usually
from tables.engines import make
from tempocal.errors import InputError

pytestmark = OTHERS_WARNINGS
ALWAYS = ["z: NaN", "id: NaN", "w: negative"]
SOME = [*ALWAYS, "t: NaN", "id: NUL at the end", "z: certain"]


@pytest.mark.parametrize(
    "case",
    usually([case for case in CASES if str(case) in SOME], lambda case: str(case) in ALWAYS),
    ids=str,
)
def test_spark_gives_the_same(case, spark, tmp_path):
    columns = case.columns(GOOD)
    table = make("spark", {name: np.array(values) for name, values in columns.items()}, spark)
    if case.column == "id" and case.outcome != REFUSED:
        # NumPy's text has no NUL at its end.
        schema, values = table.schema, list(zip(*columns.values(), strict=True))
        table = spark.createDataFrame(values, schema)
    if case.outcome == REFUSED:
        with pytest.raises(InputError) as caught:
            fit_table(table)
        assert any(word in str(caught.value) for word in ROLES[case.column])
    else:
        wanted = answers(DOORS["arrays"](columns, tmp_path))
        np.testing.assert_allclose(answers(fit_table(table)), wanted, rtol=0, atol=1e-7)

"""Which schema this version writes, and how it goes on reading those of earlier versions."""

from typing import Any

# Raise it by one when a reader of today would misunderstand what is written tomorrow. Then 1. turn
# the content of the previous schema into the new one in `upgraded`, and 2. add a file written under
# the new schema to tests/modelfile/files, leaving the old ones there: they are the promise that
# models saved years ago still load. A file is written under the lowest schema that can hold it
# (`ModelDocument.schema`): schema 2 has formulas in maps and bases (ExpressionBasis, FeatureMap,
# FeatureCurves), the horizon of models that learned from forecasts with their sequence_column, and
# the clock "auto" of a spline, which readers of schema 1 do not know. Two things never change: the
# first two lines of a file (`envelope.py`), by which old versions know new files, and how content
# is laid out (`text.py`), by which new versions check old files.
SCHEMA = 2


def upgraded(content: dict[str, Any], schema: int) -> dict[str, Any]:
    """Return content written under an earlier `schema` as the present one would have it."""
    # Schema 2 only has more kinds of parts. Schema 3 begins here: if schema < 3: ...
    return content

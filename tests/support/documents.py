"""Model files as text, of models that need no fit."""

from typing import Any

from tempocal.maps import to_dict
from tempocal.modelfile.envelope import wrap
from tempocal.modelfile.json_text import lay_out


def text_of(content: Any, schema: int = 1) -> bytes:
    """Return the file of a document."""
    return wrap("".join(lay_out(content)).encode(), schema)


def document_of(model: Any) -> dict[str, Any]:
    """Return the document that a calibrator with this fitted model would save."""
    inputs = {"inputs": str(model.inputs)}
    content = {
        "calibrator": "TemporalCalibrator" if model.time_kinds else "Some",
        "written_by": "a test",
        "parameters": inputs,
        "classes": {"dtype": "<i8", "values": model.classes.tolist()},
        "columns": model.columns,
        "column_names": [],
        "map": to_dict(model.map),
        "summary": {"calibrator": str(model.name)},
    }
    if model.time_kinds:
        content["parameters"] = {"calibrator": {"parameters": inputs}, "time_column": None}
        content |= {"bands": [], "time_kinds": list(model.time_kinds)}
    return content

"""Render an assessment as an HTML page and write it to a file."""

import os
from importlib.resources import files
from typing import Any

from tempocal.assessment import Assessment
from tempocal.modelfile.atomic_write import replacing
from tempocal.modelfile.paths import path_name
from tempocal.report.numbers import to_json
from tempocal.report.page_tables import candidate_rows, fact_rows, score_rows, time_bin_rows
from tempocal.report.pictures import (
    curve_picture,
    error_picture,
    example_pictures,
    reliability_pictures,
)
from tempocal.version import __version__


def write_report(
    assessment: Assessment,
    path: str | os.PathLike[str],
    *,
    title: str = "Can these probabilities be trusted?",
    command: str = "",
    time_name: str = "time",
) -> None:
    """Write a report as a single HTML file that needs no network; the write is atomic.

    Parameters
    ----------
    assessment : Assessment
        What `tempocal.assess` returned.
    path : path-like
        File to write.
    title : str
        Title of the page.
    command : str
        The command that created it, shown at the end of the page.
    time_name : str
        Label of the time axis, such as "rounds played".

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import tempocal as tc
    >>> m = tc.datasets.simulate_match(60)
    >>> found = tc.assess(m.logits, m.label, time=m.time, sequence=m.sequence)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> tc.report.write_report(found, path, time_name="rounds played")
    >>> found.verdict.headline in path.read_text(encoding="utf-8")
    True
    """
    name = path_name(path)
    page = report_html(assessment, title=title, command=command, time_name=time_name)
    with replacing(name, "the report") as file:
        file.write(page.encode())


def report_html(
    assessment: Assessment, *, title: str, command: str = "", time_name: str = "time"
) -> str:
    """Return the page of `write_report` as text."""
    return str(
        _template().render(
            title=title,
            command=command,
            version=__version__,
            verdict=assessment.verdict,
            chosen=assessment.chosen,
            methods=list(assessment.scores),
            scores=score_rows(assessment),
            time_bins=time_bin_rows(assessment),
            candidates=candidate_rows(assessment),
            facts=fact_rows(assessment),
            examples=assessment.examples,
            error_picture=error_picture(assessment, time_name),
            reliability_pictures=reliability_pictures(assessment),
            curve_picture=curve_picture(assessment, time_name),
            example_pictures=example_pictures(assessment, time_name),
            numbers=to_json(assessment),
            binary=len(assessment.facts.classes) == 2,
        )
    )


def _template() -> Any:
    try:
        from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 - optional
    except ModuleNotFoundError as error:
        raise ImportError(
            'a report needs jinja2, which is not installed: pip install "tempocal[report]"'
        ) from error
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    folder = files("tempocal.report") / "templates"
    return environment.from_string((folder / "report.html").read_text(encoding="utf-8"))

"""Render an assessment as an HTML page and write it to a file."""

import os
from importlib.resources import files
from typing import Any

from tempocal.assessment import Assessment
from tempocal.assessment.wording import method_text, printable
from tempocal.modelfile.atomic_write import replacing
from tempocal.modelfile.paths import path_name
from tempocal.report.curve_figure import curve_figure
from tempocal.report.figures import (
    TOP_CLASS,
    auc_figure,
    error_figure,
    examples_figure,
    gain_figure,
    reliability_figure,
)
from tempocal.report.numbers import as_json, figures_json
from tempocal.report.page_tables import candidate_table, fact_rows, score_table, time_bin_table
from tempocal.report.time_column import time_column
from tempocal.version import __version__

FOLDER = files("tempocal.report")


def write_report(
    assessment: Assessment,
    path: str | os.PathLike[str],
    *,
    title: str = "Can these probabilities be trusted?",
    command: str = "",
    time_name: str | None = None,
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
    time_name : str, optional
        Label of the time axis, such as "rounds played". By default the ``time_name`` of the
        assessment, by which its words call the time too.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import tempocal as tc
    >>> m = tc.datasets.simulate_match(60)
    >>> found = tc.assess(
    ...     m.logits, m.label, time=m.time, sequence=m.sequence, time_name="round"
    ... )
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> tc.report.write_report(found, path)
    >>> found.verdict.headline in path.read_text(encoding="utf-8")
    True
    """
    name = path_name(path)
    page = report_html(assessment, title=title, command=command, time_name=time_name)
    with replacing(name, "the report") as file:
        file.write(page.encode())


def report_html(
    assessment: Assessment, *, title: str, command: str = "", time_name: str | None = None
) -> str:
    """Return the page of `write_report` as text."""
    time = time_column(assessment, printable(time_name or assessment.facts.time_name))
    sequences = {"examples": assessment.examples, "worst": assessment.worst}
    sequences = {name: examples for name, examples in sequences.items() if examples}
    figures = [
        error_figure(assessment, time),
        reliability_figure(assessment, time),
        curve_figure(assessment, time),
        gain_figure(assessment, time),
        auc_figure(assessment, time),
        *(
            examples_figure(name, assessment, examples, time)
            for name, examples in sequences.items()
        ),
    ]
    return str(
        _template().render(
            title=title,
            command=command,
            version=__version__,
            verdict=assessment.verdict,
            versus=assessment.versus,
            time_name=time.name,
            chosen=method_text(assessment.chosen),
            corrected=assessment.curve is not None,
            scores=score_table(assessment),
            time_bins=time_bin_table(assessment),
            candidates=candidate_table(assessment),
            facts=fact_rows(assessment),
            has_examples=bool(sequences),
            subject=assessment.names[assessment.subject][0],
            classes=_classes(assessment),
            numbers=as_json(assessment),
            figures=figures_json(one for one in figures if one is not None),
            binary=len(assessment.facts.classes) == 2,
            style=_read("templates/report.css"),
            library=_read("vendor/plotly-basic.min.js"),
            script=_read("templates/charts.js") + _read("templates/page.js"),
        )
    )


def _classes(assessment: Assessment) -> list[str]:
    """Return the tabs of several classes; none for two."""
    shown = assessment.scores[assessment.subject].classes
    names = [assessment.facts.classes[one.column] for one in shown]
    return [TOP_CLASS, *names] if names else []


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _template() -> Any:
    try:
        from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 - optional
    except ModuleNotFoundError as error:
        raise ImportError(
            'a report needs jinja2, which is not installed: pip install "tempocal[report]"'
        ) from error
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    return environment.from_string(_read("templates/report.html"))

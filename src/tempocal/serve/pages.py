"""The start page of the service, and the page that describes its paths: HTML without scripts.

Nothing on them is loaded from elsewhere, so that they work without a network.
"""

import json
from html import escape
from typing import Any

from tempocal.serve.answers import answer
from tempocal.serve.middleware import SCORE
from tempocal.serve.openapi import describe
from tempocal.serve.served_model import ServedModel
from tempocal.serve.service_settings import Settings

# Nothing may be loaded or run, whatever a model is called.
HEADERS = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}
_STYLE = """
:root {color-scheme: light dark;}
body {font: 1rem/1.5 system-ui, sans-serif; max-width: 56rem; margin: 1.5rem auto; padding: 0 1rem;}
pre {border: 1px solid rgba(128, 128, 128, 0.5); padding: 0.7rem; overflow-x: auto;}
table {border-collapse: collapse;}
th, td {text-align: left; padding: 0.3rem 0.8rem 0.3rem 0; vertical-align: top;
  border-bottom: 1px solid rgba(128, 128, 128, 0.4);}
"""
_TIMES: dict[str, Any] = {"number": 3, "datetime": "2026-05-01T18:30:00", "timedelta": 90}


def example_row(model: ServedModel) -> dict[str, Any]:
    """Return a row that the model answers."""
    scorer = model.scorer
    if scorer.inputs == "logits":
        values = [1.5, *[0.5] * (scorer.columns - 1)]
    else:
        values = [0.7] if scorer.columns == 1 else [1.0 / scorer.columns] * scorer.columns
    row: dict[str, Any] = {scorer.inputs: values[0] if scorer.columns == 1 else values}
    clocks = [_TIMES[kind] for kind in scorer.time_kinds]
    if clocks:
        row["time"] = clocks[0] if len(clocks) == 1 else clocks
    return row


def start_page(model: ServedModel, settings: Settings, address: str) -> str:
    """Return the page at "/": an example request for the model, and its answer."""
    row = json.dumps(example_row(model))
    many = json.dumps({"rows": [example_row(model)] * 2})
    token = "" if settings.token is None else ' -H "Authorization: Bearer $TEMPOCAL_TOKEN"'
    body = f"<p>Model {escape(model.id)}, {escape(model.scorer.name)}.</p>"
    for title, request in (("One prediction", row), ("Several", many)):
        command = f"curl{token} --json '{request}' {address}{SCORE}"
        answered = answer(model, request.encode(), settings.max_rows).body.decode()
        body += (
            f"<h2>{title}</h2><pre>{escape(command)}</pre><p>The answer:</p>"
            f"<pre>{escape(answered)}</pre>"
        )
    body += (
        '<p>All paths: <a href="/docs">/docs</a>, for programs <a href="/openapi.json">'
        '/openapi.json</a>. Is it ready: <a href="/readyz">/readyz</a>.</p>'
    )
    return _page("Calibrated probabilities", body)


def docs_page(model: ServedModel, settings: Settings) -> str:
    """Return the page at "/docs": the OpenAPI description, to be read."""
    described = describe(model, settings)
    paths = [
        (method.upper(), path, operation)
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    ]
    rows = "".join(
        f'<tr><th scope="row">{method} {escape(path)}</th><td>{escape(operation["summary"])}</td>'
        f"<td>{_answers(operation)}</td></tr>"
        for method, path, operation in paths
    )
    body = (
        f"<p>{escape(described['info']['description'])}</p><h2>Paths</h2><table><thead><tr>"
        '<th scope="col">path</th><th scope="col">what it does</th><th scope="col">answers</th>'
        f"</tr></thead><tbody>{rows}</tbody></table><h2>What is sent and answered</h2>"
    )
    for name, schema in described["components"]["schemas"].items():
        body += f"<h3>{escape(name)}</h3><pre>{escape(json.dumps(schema, indent=2))}</pre>"
    return _page("Paths of the service", f'{body}<p><a href="/">Start page</a></p>')


def _answers(operation: dict[str, Any]) -> str:
    return "<br>".join(
        f"{status}: {escape(one['description'])}" for status, one in operation["responses"].items()
    )


def _page(title: str, body: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width"><title>tempocal: {title}</title><style>{_STYLE}</style>'
        f"</head><body><main><h1>{title}</h1>{body}</main></body></html>"
    )

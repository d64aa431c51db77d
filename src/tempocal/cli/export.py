"""``tempocal export``: a model as ONNX, torch, SQL or Python, to run without tempocal."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from tempocal.cli.options import complete_files, require_folder, subcommand


@dataclass(frozen=True)
class Export:
    """The arguments of an export."""

    path: str
    model: Any
    output: str | None
    dtype: str
    sql: dict[str, Any]

    @property
    def file(self) -> str:
        """The file to write, for formats that are not text."""
        if self.output in (None, "-"):
            raise click.UsageError("this format is not text: name a file with -o")
        assert self.output is not None
        return self.output


def _onnx(export: Export) -> None:
    from tempocal.export.onnx import to_onnx

    to_onnx(export.model, export.file, export.dtype)  # type: ignore[arg-type]


def _torch(export: Export) -> None:
    from tempocal.export.torch import save_exported

    save_exported(export.model, export.file, export.dtype)


def _sql(export: Export) -> None:
    from tempocal.cli.flag_wording import translate_errors
    from tempocal.tables.sql import to_sql

    settings = dict(export.sql)
    table, keep = settings.pop("table"), settings.pop("keep")
    with translate_errors():
        sql = to_sql(export.model, **settings)
        text = str(sql) if table is None else sql.select(table.split("."), keep)
    _write_text(text, export.output, "the statement")


def _python(export: Export) -> None:
    from tempocal.export.python import to_python

    _write_text(to_python(Path(export.path).read_bytes()), export.output, "the module")


def _write_text(text: str, output: str | None, what: str) -> None:
    """Print a text, or write it to a file atomically."""
    from tempocal.modelfile.atomic_write import replacing

    if output in (None, "-"):
        click.echo(text)
        return
    assert output is not None
    with replacing(output, what) as file:
        file.write(f"{text}\n".encode())


TARGETS: dict[str, Callable[[Export], None]] = {
    "onnx": _onnx,
    "torch": _torch,
    "sql": _sql,
    "python": _python,
}


@subcommand(
    "tempocal export demo-output/model.json --to onnx -o model.onnx",
    "tempocal export demo-output/model.json --to sql --dialect postgres --time round",
    "tempocal export demo-output/model.json --to python -o live.py",
)
@click.argument("model", metavar="MODEL", shell_complete=complete_files)
@click.option(
    "--to",
    "target",
    type=click.Choice(list(TARGETS)),
    required=True,
    help="onnx: a graph for ONNX Runtime. torch: a program for torch.export.load (.pt2). sql: an "
    "expression. python: a module of one file, with score(logit, time).",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=require_folder,
    help="File to write; sql and python are printed without it, or to -.",
)
@click.option(
    "--dtype",
    type=click.Choice(["float64", "float32"]),
    help="onnx, torch: of the logits and the probabilities. Default: float64.",
)
@click.option(
    "--dialect", metavar="NAME", help="sql: duckdb, postgres, snowflake, ... Default: duckdb."
)
@click.option(
    "--logits",
    multiple=True,
    metavar="NAME",
    help="sql: column of logits, one for each that the model takes, comma separated or repeated. "
    "Default: z, or z0, z1, ...",
)
@click.option(
    "--proba",
    multiple=True,
    metavar="NAME",
    help="sql: column of probabilities, for a model of those. Default: p, or p0, p1, ...",
)
@click.option(
    "--time",
    metavar="NAME",
    help="sql: column of times as numbers; two, comma separated, for two clocks. Default: t, or "
    "t0 and t1.",
)
@click.option(
    "--column",
    metavar="NAME",
    help="sql: name of the probability in the SELECT, or with three classes and more what its name "
    "begins with. Default: calibrated.",
)
@click.option(
    "--table",
    metavar="NAME",
    help="sql: write a complete SELECT from this table (schema.table).",
)
@click.option(
    "--keep",
    multiple=True,
    metavar="NAME",
    help="sql: columns of the table to go beside the probabilities, comma separated or repeated. "
    "They make the statement shorter. Default: all.",
)
def command(*, model: str, target: str, output: str | None, **options: Any) -> None:
    """Write a model as ONNX, torch, SQL or Python.

    Probabilities are those of `tempocal apply`; where it would refuse a row, such as one without a
    time, they are NaN, NULL in SQL and an error in Python. Times are numbers: seconds since
    1970-01-01 UTC where the model was fitted to dates; in Python they are dates.
    """
    from tempocal.cli.terminal import echo
    from tempocal.predictor import read_model

    dtype = options.pop("dtype")
    _refuse_unused_options(target, dtype, options)
    export = Export(model, read_model(model), output, dtype or "float64", _sql_options(options))
    TARGETS[target](export)
    if output not in (None, "-"):
        assert output is not None
        echo(f"{os.path.getsize(output):,} bytes saved to {output}", err=True)


def _refuse_unused_options(target: str, dtype: str | None, options: dict[str, Any]) -> None:
    """Refuse options without effect for the target."""
    given = [name for name, value in options.items() if value] if target != "sql" else []
    if dtype and target in ("sql", "python"):
        given.append("dtype")
    if given:
        raise click.UsageError(f"--{given[0]} has no effect with --to {target}: leave it out")
    for name in ("keep", "column"):
        if options[name] and not options["table"]:
            raise click.UsageError(f"--{name} goes with --table: name the table to select from")


def _sql_options(options: dict[str, Any]) -> dict[str, Any]:
    return {
        "dialect": options["dialect"] or "duckdb",
        "logits": _split(options["logits"]),
        "proba": _split(options["proba"]),
        "time": _split((options["time"],)) if options["time"] else None,
        "prefix": options["column"] or "calibrated",
        "table": options["table"],
        "keep": _split(options["keep"]),
    }


def _split(names: tuple[str, ...]) -> list[str] | None:
    return [part for name in names for part in name.split(",")] or None

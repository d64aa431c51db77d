"""One HTML page about past predictions."""

import shlex

import click

from tempocal.cli.options import Named, rows_of_file, seed, verb
from tempocal.cli.options import output as output_option


@verb(
    "tempocal report predictions.csv --logits z --label won --time t --sequence match "
    "-o report.html"
)
@rows_of_file
@seed
@click.option("--title", metavar="TEXT", help="Title of the page. Default: the name of the file.")
@output_option("PAGE", "a page")
def command(named: Named, *, seed: int, title: str | None, output: str) -> None:
    """Write one HTML page: how far off, when, and what to do.

    Calibrators are fitted to one half of the sequences and judged on the other. The page needs no
    network and holds the verdict in words, errors over time with intervals, reliability diagrams,
    the fitted curve, single sequences before and after, and the candidates that were compared.

    A file of more than 3 million rows of Parquet, or 256 MB of text, is gone over where it is, as
    `evaluate` does, and may be larger than memory; it needs --sequence or --group.
    """
    if named.time is None:
        raise click.UsageError("report needs a time: name its column with --time")
    from tempocal.cli.echo import plain, say
    from tempocal.cli.open_rows import opened
    from tempocal.report import write_report

    with opened(named, "Fitting to one half, judging on the other") as rows:
        found = rows.assess(seed)
    words = shlex.join(click.get_current_context().meta["tempocal.words"])
    names = {"title": title or rows.name, "command": words, "time_name": named.time}
    write_report(found, output, **{key: plain(name) for key, name in names.items()})
    say(f"{found.verdict.headline}\nSaved to {output}")

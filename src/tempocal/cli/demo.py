"""``tempocal demo``: the demo on simulated matches."""

import click

from tempocal.cli.options import subcommand


@subcommand(
    "tempocal demo --matches 400 --output demo-output",
)
@click.option(
    "--matches",
    type=click.IntRange(min=1),
    default=4000,
    metavar="N",
    help="How many matches. Default: 4000.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Seed of the simulation. Default: 0.",
)
@click.option(
    "-o",
    "--output",
    default="demo-output",
    metavar="FOLDER",
    help="Folder to write to. Default: demo-output.",
)
def command(*, matches: int, seed: int, output: str) -> None:
    """Try it on simulated matches whose truth is known."""
    from tempocal.demo import main

    main(["--matches", str(matches), "--seed", str(seed), "--output", output])

"""The command itself: verbs that are imported when they are called, and what becomes of errors."""

from importlib import import_module
from typing import Any

import click

from tempocal.cli.failures import in_a_sentence
from tempocal.cli.options import block
from tempocal.version import __version__

# What each verb does, here so that the list of them needs none of their files.
VERBS = {
    "fit": "Learn a calibration from past predictions and save it.",
    "apply": "Add calibrated probabilities to a file of predictions.",
    "evaluate": "Measure how far off predictions are, over all and along time.",
    "compare": "Compare calibrators and curves on sequences left out.",
    "report": "Write one HTML page: how far off, when, and what to do.",
    "monitor": "Watch forecasts for an alarm that holds however long one watches.",
    "export": "Write a model as ONNX, torch, SQL or Python.",
    "serve": "Answer requests for calibrated probabilities over HTTP.",
    "demo": "Try it on simulated matches whose truth is known.",
}


class Verbs(click.Group):
    """A group whose verbs are files of this folder."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs, in the order in which they are used."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a verb."""
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(f"tempocal.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the words of the command, for the report to show."""
        ctx.meta["tempocal.words"] = ["tempocal", *args]
        with in_a_sentence():  # --help and --version print here
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb; what goes wrong is said in a sentence."""
        with in_a_sentence(traceback=ctx.params["traceback"]):
            return super().invoke(ctx)


EXIT_CODES = (
    "0  all went well",
    "1  the data, a file or the machine: the message says what to do",
    "2  the command was not understood",
    "3  the model file is damaged, of another kind or from a later version",
    "4  evaluate: the error is surely above --max-ece; monitor: an alarm, with --fail",
)
EXAMPLES = (
    "tempocal fit predictions.csv --logits z --label won --time t --sequence match -o model.json",
    "tempocal apply model.json new.csv --logits z --time t -o calibrated.csv",
)


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=f"{block('Exit codes:', *EXIT_CODES)}\n\n{block('Example:', *EXAMPLES)}",
)
@click.version_option(__version__, message="tempocal %(version)s")
@click.option("--traceback", is_flag=True, hidden=True, envvar="TEMPOCAL_TRACEBACK")
def tempocal(traceback: bool) -> None:
    """Calibrated probabilities while a sequence is still growing.

    FILE is CSV (.csv), Parquet (.parquet, .pq) or JSON lines (.jsonl, .ndjson), a row for each
    prediction; text may be compressed (.gz). "-" is standard input, or the output of apply.
    Options name the columns. Rows are counted from 1 in messages.
    """

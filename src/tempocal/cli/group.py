"""The command ``tempocal``: subcommands imported on demand, and handling of errors."""

from importlib import import_module
from typing import Any

import click

from tempocal.cli.failures import errors_as_messages
from tempocal.cli.options import verbatim_block
from tempocal.version import __version__

# The first line of each help, here so that listing commands imports none of them.
COMMANDS = {
    "fit": "Learn a calibration from past predictions and save it.",
    "apply": "Add calibrated probabilities to a file of predictions.",
    "evaluate": "Measure how far off predictions are, over all and along time.",
    "compare": "Compare calibrators and curves on sequences left out.",
    "report": "Write one HTML page: how far off, when, and what to do.",
    "monitor": "Monitor the calibration of forecasts, with a bound on false alarms.",
    "export": "Write a model as ONNX, torch, SQL or Python.",
    "serve": "Answer requests for calibrated probabilities over HTTP.",
    "demo": "Try it on simulated matches whose truth is known.",
    "completion": "Print what makes a shell complete commands, options and files.",
}


class TempocalGroup(click.Group):
    """A group whose subcommands are modules of this package."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the subcommands, in the order of use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a subcommand."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"tempocal.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the subcommands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Store the command line, for the report to show."""
        ctx.meta["tempocal.command_line"] = ["tempocal", *args]
        with errors_as_messages():  # --help and --version print here
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a subcommand; errors become messages."""
        with errors_as_messages(traceback=ctx.params["traceback"]):
            return super().invoke(ctx)


EXIT_CODES = (
    "0  all went well",
    "1  the data, a file or the machine: the message says what to do",
    "2  the command was not understood",
    "3  the model file is damaged, of another kind or from a later version",
    "4  evaluate: the error is significantly above --max-ece; monitor: an alarm, with --fail",
    "5  monitor: open sequences hold up most outcomes; with --fail, also too few were settled yet",
)
EXAMPLES = (
    "tempocal demo --matches 400 --output demo-output",
    "tempocal fit demo-output/predictions.csv --logits logit --label won --time round "
    "--sequence match -o model.json",
    "tempocal apply model.json demo-output/predictions.csv --logits logit --time round "
    "-o calibrated.csv",
)


@click.group(
    cls=TempocalGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="\n\n".join(
        [
            verbatim_block("Exit codes:", *EXIT_CODES),
            verbatim_block("Examples, each on what tempocal demo writes:", *EXAMPLES),
        ]
    ),
)
@click.version_option(__version__, message="tempocal %(version)s")
@click.option("--traceback", is_flag=True, hidden=True, envvar="TEMPOCAL_TRACEBACK")
def tempocal(traceback: bool) -> None:
    """Calibrated probabilities while a sequence is still growing.

    FILE is CSV (.csv), Parquet (.parquet, .pq) or JSON lines (.jsonl, .ndjson), a row for each
    prediction; text may be compressed (.gz). "-" is standard input, or the output of apply.
    Options name the columns. Rows are counted from 1 in messages.
    """

"""Options that subcommands share, most of them names of columns."""

import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from math import isfinite
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from tempocal.cli.row_options import elapsed, time_of, unlabelled, where
from tempocal.errors import InputError

Command = TypeVar("Command", bound=Callable[..., Any])


def complete_files(
    context: click.Context, parameter: click.Parameter, start: str
) -> list[CompletionItem]:
    """Let the shell complete the name of a file."""
    return [CompletionItem(start, type="file")]


def subcommand(*examples: str) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a function a subcommand whose help ends with examples."""
    return click.command(cls=Subcommand, epilog=verbatim_block("Example:", *examples))


# Options that name columns of a file; the name of a column may be empty.
_COLUMNS = {"logits", "proba", "label", "time", "sequence", "order", "group", "weight", "elapsed"}
_COLUMNS |= {"versus"}


class Subcommand(click.Command):
    """A command that refuses empty text as the value of an option, and a second clock."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse a second --time where there is one clock: click would take the last."""
        for flag in ("--time", "--clock"):
            count = sum(word == flag or word.startswith(f"{flag}=") for word in args)
            takes_one = not any(flag in one.opts and one.multiple for one in self.params)
            if takes_one and count > 1:
                raise click.UsageError(
                    f"{flag} was given {count} times, and {ctx.info_name} takes one clock", ctx
                )
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Check the options and run it."""
        for option in self.params:
            given = ctx.params.get(str(option.name))
            texts = given if isinstance(given, tuple) else (given,)
            may_be_empty = option.name in _COLUMNS and "file" in ctx.params
            for text in texts:
                if isinstance(text, str):
                    _require_text(text, option, ctx, may_be_empty)
        return super().invoke(ctx)


def _require_text(
    text: str, option: click.Parameter, context: click.Context, may_be_empty: bool
) -> None:
    if "\0" in text:
        raise click.BadParameter("it holds a NUL character.", context, option)
    if not text and not may_be_empty:
        raise click.BadParameter("it is empty: give it a value, or leave it out.", context, option)


def require_finite(
    context: click.Context, option: click.Parameter, value: float | None
) -> float | None:
    """Refuse infinity and nan, which passes every range check."""
    if value is not None and not isfinite(value):
        raise click.BadParameter(f"{value} is not a finite number.", context, option)
    return value


def verbatim_block(title: str, *lines: str) -> str:
    """Return lines that click does not rewrap."""
    return "\n".join(["\b", title, *(f"  {line}" for line in lines)])


@dataclass(frozen=True)
class ColumnOptions:
    """A file and the names of its columns, as given on the command line."""

    file: str
    logits: tuple[str, ...] = ()
    proba: tuple[str, ...] = ()
    label: str | None = None
    times: tuple[str, ...] = ()  # one, or two clocks
    sequence: str | None = None
    order: str | None = None
    group: str | None = None
    weight: str | None = None
    classes: str | None = None
    label_varies: bool = False
    soft_label: bool = False
    versus: tuple[str, ...] = ()
    split_in_time: str | None = None
    split_column: str | None = None
    really_logits: bool = False
    format: Any = None
    where: str | None = None
    elapsed: str | None = None
    unlabelled: str = "error"
    clocks: int = 1  # how many the command takes

    @property
    def time(self) -> str | None:
        """The column of times, of two clocks the first; None if there is none."""
        return self.times[0] if self.times else None


_PREDICTIONS = (
    click.option(
        "--logits",
        multiple=True,
        metavar="NAME",
        help="Column of logits: one (two classes), or one for each class, comma separated or "
        "repeated, or with a star, such as 'z_*'.",
    ),
    click.option(
        "--proba",
        multiple=True,
        metavar="NAME",
        help="Column of probabilities instead; one is that of the second class. 'p_*': all columns "
        "that begin so, in the order of the classes that the star stands for.",
    ),
)
_FORMAT = click.option(
    "--format",
    type=click.Choice(["csv", "jsonl", "parquet"]),
    metavar="[csv|jsonl|parquet]",
    help='Format of "-" and of files whose name does not tell. "-" is CSV by default.',
)
_CLASSES = click.option(
    "--classes",
    metavar="A,B,...",
    help="The class of each column, in order. Default: the labels, sorted.",
)
_REALLY_LOGITS = click.option(
    "--really-logits",
    is_flag=True,
    help="The logits are logits, though all of them lie in [0, 1].",
)
_ORDER = click.option(
    "--order",
    metavar="NAME",
    help="Column that puts the rows of a sequence in order: numbers or dates that grow along it. "
    "Default: the time. Rows of a file may lie in any order, but not all of them in reverse.",
)
_TIMES = click.option(
    "--time",
    multiple=True,
    metavar="NAME",
    help="Column of times: numbers or dates, any measure of progress within a sequence. Two, comma "
    "separated or repeated, for two clocks.",
)
_TIME = click.option(
    "--time",
    metavar="NAME",
    help="Column of times: numbers or dates, any measure of progress within a sequence.",
)
_LABEL = click.option("--label", required=True, metavar="NAME", help="Column of true classes.")
_SEQUENCE = (
    click.option(
        "--sequence",
        metavar="NAME",
        help="Column of sequence ids. Rows of one sequence share one label and are not "
        "independent.",
    ),
)
_GROUP_WEIGHT_CLASSES = (
    click.option(
        "--group",
        metavar="NAME",
        help="Column of clusters coarser than sequences, such as the matches of several maps.",
    ),
    click.option(
        "--weight", metavar="NAME", help="Column of weights: how often each row was seen."
    ),
    _CLASSES,
    click.option(
        "--label-varies",
        is_flag=True,
        help="The label may change within a sequence.",
    ),
    _REALLY_LOGITS,
)
soft_label = click.option(
    "--soft-label",
    is_flag=True,
    help="--label holds probabilities, such as shares of votes: one column, of the second class, "
    "or one for each class, comma separated. Classes are those of --classes, or 0, 1, ...",
)
seed = click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Seed of the random numbers. Default: 0.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Write JSON instead of a table.")


def output(metavar: str, what: str, *, dash: bool = False) -> Callable[[Command], Command]:
    """Make the option for a file to write; its folder is checked before any work is done."""

    def check(context: click.Context, option: click.Parameter, path: str) -> str:
        if path == "-" and not dash:
            raise click.UsageError(f"-o -: {what} is written as a whole, so give it a name")
        return str(require_folder(context, option, path))

    text = f"{what[0].upper()}{what[1:]} to write" + ('; "-" is standard output.' if dash else ".")
    return click.option("-o", "--output", required=True, metavar=metavar, callback=check, help=text)


def require_folder(context: click.Context, option: click.Parameter, path: str | None) -> str | None:
    """Refuse a file to write whose folder does not exist."""
    folder = os.path.dirname(path or "")
    if folder and not os.path.isdir(folder):
        raise InputError(f"the folder {folder} is not there: make it first")
    return path


def prediction_options(command: Command) -> Command:
    """Add FILE and the options that name predictions and times."""
    time = click.option(
        "--time",
        multiple=True,
        metavar="NAME",
        help="Column of times, if the model changes along time; two, comma separated or repeated, "
        "for two clocks.",
    )
    sequence = click.option(
        "--sequence", metavar="NAME", help="Column of sequence ids, for --elapsed."
    )
    return _with(command, (*_PREDICTIONS, time, elapsed, sequence, where, _FORMAT), clocks=2)


def labeled_options(command: Command) -> Command:
    """Add FILE and the options that name labeled predictions."""
    labeled = (_LABEL, _TIME, elapsed, *_SEQUENCE, *_GROUP_WEIGHT_CLASSES)
    return _with(command, (*_PREDICTIONS, *labeled, where, unlabelled, _FORMAT))


def ordered_options(command: Command) -> Command:
    """Add FILE and the options that name labeled predictions, in order within each sequence."""
    labeled = (_LABEL, _TIME, elapsed, *_SEQUENCE, _ORDER, *_GROUP_WEIGHT_CLASSES)
    return _with(command, (*_PREDICTIONS, *labeled, where, unlabelled, _FORMAT))


def fit_options(command: Command) -> Command:
    """Add the options of `ordered_options`, with up to two clocks."""
    labeled = (_LABEL, _TIMES, elapsed, *_SEQUENCE, _ORDER, *_GROUP_WEIGHT_CLASSES)
    return _with(command, (*_PREDICTIONS, *labeled, where, unlabelled, _FORMAT), clocks=2)


def forecast_options(command: Command) -> Command:
    """Add FILE and the options that name forecasts in the order in which they were made."""
    names = (
        click.option(
            "--label",
            metavar="NAME",
            help="Column of true classes, empty while a sequence is under way. Without it, "
            "predictions only.",
        ),
        click.option("--time", metavar="NAME", help="Column of times. Required."),
        click.option("--sequence", required=True, metavar="NAME", help="Column of sequence ids."),
    )
    rest = (elapsed, _CLASSES, _REALLY_LOGITS, where, _FORMAT)
    return _with(command, (*_PREDICTIONS, *names, *rest))


def _require_sequence(options: ColumnOptions) -> None:
    """Refuse an order of which there is no use."""
    if options.order is None:
        return
    if options.sequence is None:
        raise click.UsageError(
            "--order puts the rows of a sequence in order: name the column of sequence ids with "
            "--sequence"
        )
    if options.time is None:
        raise click.UsageError(
            "--order is for calibration along time: name the column of times with --time"
        )


def _with(command: Command, decorators: tuple[Any, ...], *, clocks: int = 1) -> Command:
    """Add options, passed to the command as one `ColumnOptions`, its first argument."""
    names = {field.name for field in fields(ColumnOptions)}

    @wraps(command)
    def wrapper(**given: Any) -> Any:
        given |= {"times": time_of(given, clocks), "clocks": clocks}
        options = ColumnOptions(**{name: given.pop(name) for name in names & set(given)})
        if bool(options.logits) == bool(options.proba):
            raise click.UsageError(
                "say which columns the predictions are, either with --logits or with --proba"
            )
        _require_sequence(options)
        return command(options, **given)

    for decorator in reversed(decorators):
        wrapper = decorator(wrapper)
    return click.argument("file", metavar="FILE", shell_complete=complete_files)(wrapper)  # type: ignore[return-value]

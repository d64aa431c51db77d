"""``tempocal completion``: the script by which a shell completes commands and options."""

import click
from click.shell_completion import get_completion_class

from tempocal.cli.options import subcommand
from tempocal.cli.terminal import echo

_SHELLS = ("bash", "zsh", "fish")


@subcommand("tempocal completion bash", "tempocal completion zsh", "tempocal completion fish")
@click.argument("shell", metavar="SHELL", type=click.Choice(_SHELLS))
def command(*, shell: str) -> None:
    """Print what makes a shell complete commands, options and files.

    SHELL is bash, zsh or fish. For every new shell, add a line to ~/.bashrc, ~/.zshrc or
    ~/.config/fish/config.fish: eval "$(tempocal completion bash)", the same with zsh, or tempocal
    completion fish | source.
    """
    made = get_completion_class(shell)
    assert made is not None
    group = click.get_current_context().find_root().command
    script = made(group, {}, "tempocal", "_TEMPOCAL_COMPLETE")
    # Not script.source(), which starts bash to ask for its version.
    echo(made.source_template % script.source_vars())

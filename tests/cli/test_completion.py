"""Completion of commands, options and files by a shell."""

import pytest
from click.testing import CliRunner

from tempocal.cli.group import COMMANDS, tempocal


def completed(line):
    """Return what bash is told to complete the last word of a line with."""
    words = line.split(" ")
    variables = {
        "_TEMPOCAL_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    result = CliRunner().invoke(tempocal, [], env=variables, prog_name="tempocal")
    return [item.split(",") for item in result.stdout.splitlines()]


@pytest.mark.parametrize(
    ("shell", "holds"),
    [("bash", "complete -o"), ("zsh", "#compdef tempocal"), ("fish", "complete --no-files")],
)
def test_the_script_is_that_of_the_shell(run, shell, holds):
    script = run("completion", shell).out
    assert holds in script
    assert f"_TEMPOCAL_COMPLETE={shell}_complete" in script


def test_commands_options_and_files_are_completed():
    assert [name for _, name in completed("tempocal ")] == list(COMMANDS)
    assert ["plain", "--where"] in completed("tempocal fit p.csv --wh")
    assert completed("tempocal fit pre") == [["file", "pre"]]
    assert ["plain", "spline"] in completed("tempocal fit p.csv --curve sp")


def test_another_shell_is_refused(refused):
    assert "'tcsh' is not one of" in refused("completion", "tcsh", code=2)

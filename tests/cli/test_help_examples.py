"""Every example of every help runs on what ``tempocal demo`` wrote."""

import os
import shlex
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner

from tempocal.cli.group import COMMANDS, EXAMPLES, tempocal

FIRST = "tempocal demo --matches 400 --output demo-output"


def examples_of(name):
    """Return the lines of the block of examples at the end of a help."""
    epilog = tempocal.get_command(None, name).epilog
    return [line.strip() for line in epilog.splitlines()[2:]]


HELP = [
    (name, line) for name in COMMANDS if name not in ("serve", "demo") for line in examples_of(name)
]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A folder in which the demo was run as its help says."""
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        result = CliRunner().invoke(tempocal, shlex.split(FIRST)[1:])
        assert result.exit_code == 0, result.output
        yield folder


def test_each_help_has_an_example():
    assert {name for name, _ in HELP} == set(COMMANDS) - {"serve", "demo"}
    assert examples_of("demo") == [FIRST] == list(EXAMPLES[:1])


@pytest.mark.parametrize(("name", "line"), HELP)
def test_it_runs(demo, name, line):
    words = shlex.split(line)
    assert words[:2] == ["tempocal", name]
    result = CliRunner().invoke(tempocal, words[1:], catch_exceptions=False)
    assert result.exit_code == 0, result.output


def test_those_of_the_whole_run(demo):
    for line in EXAMPLES[1:]:
        result = CliRunner().invoke(tempocal, shlex.split(line)[1:], catch_exceptions=False)
        assert result.exit_code == 0, result.output


def test_that_of_the_service_answers_until_it_is_stopped(demo):
    (line,) = examples_of("serve")
    words = [*shlex.split(line)[1:], "--port", "0"]  # 8000 may be taken
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    process = subprocess.Popen([sys.executable, "-m", "tempocal", *words], **given)
    try:
        said = next(line for line in process.stdout if "http://" in line)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)
    assert "127.0.0.1" in said
    assert process.returncode in (0, -signal.SIGTERM, 128 + signal.SIGTERM)
    assert os.path.exists("demo-output/model.json")

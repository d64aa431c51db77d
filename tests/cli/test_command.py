"""The command as it is installed: help, examples, what is missing, what is documented."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import click
import pytest

import tempocal as tc
from tempocal.cli import terminal
from tempocal.cli.group import COMMANDS, tempocal
from tempocal.cli.reference import reference
from tempocal.cli.terminal import show_progress

ROOT = Path(__file__).parents[2]
SCRIPT = Path(sys.executable).with_name("tempocal")


def shell(*words, **keywords):
    return subprocess.run(words, capture_output=True, text=True, check=False, **keywords)


def verbs():
    context = click.Context(tempocal)
    return {name: tempocal.get_command(context, name) for name in COMMANDS}


@pytest.mark.parametrize("words", [[], ["fit"]], ids=str)
def test_help_of_the_script(words):
    assert shell(SCRIPT, *words, "--help").returncode == 0


def test_help_needs_only_click():
    code = (
        "import sys; from tempocal.cli.group import tempocal\n"
        f"for words in {[[], *([name] for name in COMMANDS)]}:\n"
        "    tempocal([*words, '--help'], standalone_mode=False)\n"
        "    assert not {'numpy', 'rich', 'pyarrow', 'sklearn'} & set(sys.modules), words"
    )
    done = shell(sys.executable, "-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Usage: ") == 1 + len(COMMANDS)


def test_the_list_of_verbs_says_what_they_say():
    for name, command in verbs().items():
        assert command.help.splitlines()[0] == COMMANDS[name]


# That they run is for test_help_examples.py.
@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_ends_with_examples(name, run):
    last = run(*filter(None, [name]), "--help").out.rstrip().splitlines()[-1]
    assert last.strip().startswith(f"tempocal {name}".strip())


def test_the_documentation_is_what_help_says():
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == reference()


def test_the_documentation_has_every_option():
    text = reference()
    for name, command in verbs().items():
        section = text[text.index(f"\n## {name}\n") :]
        for option in command.params:
            assert all(f"`{one}`" in section for one in option.opts if one.startswith("-"))


def test_the_script_and_the_module_are_the_same(folder, model):
    words = ["apply", model, "new.csv", "--logits", "z", "--time", "t", "-o", "-"]
    outputs = [shell(SCRIPT, *words), shell(sys.executable, "-m", "tempocal", *words)]
    assert outputs[0].stdout == outputs[1].stdout
    assert outputs[0].stdout.startswith("match,series,t,z,p,won,note,calibrated\n")
    assert [done.returncode for done in outputs] == [0, 0]
    assert [done.stderr for done in outputs] == ["", ""]


def test_a_pipe_from_end_to_end(folder):
    words = "--logits z --label won --time t --sequence match"
    done = shell(
        "bash",
        "-ec",
        f"cat predictions.csv | {SCRIPT} fit - {words} --calibrator temperature --curve spline"
        f" -o model.json; {SCRIPT} apply model.json - --logits z --time t -o - < new.csv"
        f" | {SCRIPT} evaluate - --proba calibrated --label won --time t --sequence match",
    )
    assert done.returncode == 0, done.stderr
    assert "ECE over time" in done.stdout


def test_a_reader_that_goes_away_is_no_traceback(folder, model):
    rows = (folder / "new.csv").read_text()
    (folder / "long.csv").write_text(rows + rows.split("\n", 1)[1] * 200)
    done = shell(
        "bash",
        "-c",
        f"{SCRIPT} apply {model} long.csv --logits z --time t -o - | head -1",
    )
    assert done.stderr == ""
    assert done.stdout.startswith("match,")


def test_errors_go_to_standard_error_with_their_code(folder):
    done = shell(SCRIPT, "fit", "gone.csv", "--logits", "z", "--label", "y", "-o", "m.json")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Error: gone.csv does not exist\n"
    assert shell(SCRIPT, "fly").returncode == 2
    done = shell(SCRIPT, "--version")
    assert done.stdout == f"tempocal {tc.__version__}\n"


@pytest.mark.parametrize("package", ["click", "rich", "pyarrow"])
def test_a_missing_package_is_a_sentence(package, folder, tmp_path):
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text(
        "import sys\n"
        "class Hide:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.split('.')[0] == {package!r}:\n"
        f"            raise ModuleNotFoundError('No module', name={package!r})\n"
        "sys.meta_path.insert(0, Hide())\n"
        if package != "click"
        else "import importlib.util as u\n"
        "real = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'click' else real(name, *rest)\n"
    )
    words = ["--logits", "z", "--label", "won", "--time", "t"]
    done = shell(
        sys.executable,
        "-m",
        "tempocal",
        "evaluate",
        "predictions.csv",
        *words,
        env={**os.environ, "PYTHONPATH": str(hidden)},
    )
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert f"{package}" in done.stderr
    assert 'pip install "tempocal[cli]"' in done.stderr
    assert len(done.stderr.splitlines()) == 1


def on_a_terminal(code):
    """Run Python with its standard error on a terminal; return what it shows there."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-c", code], stderr=theirs):
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:  # how Linux says that the other end is closed
            pass
    os.close(ours)
    return shown.decode()


def test_progress_is_shown_on_a_terminal_after_a_while():
    code = (
        "import time; from tempocal.cli import terminal; terminal.PROGRESS_DELAY = {delay}\n"
        "with terminal.show_progress('Reading') as say:\n    say('7 rows'); time.sleep({long})"
    )
    assert "Reading: 7 rows" in on_a_terminal(code.format(delay=0, long=2))
    assert on_a_terminal(code.format(delay=600, long=0.1)) == ""


def test_elsewhere_it_is_lines_of_a_log(capsys, monkeypatch):
    monkeypatch.setattr(terminal, "LOG_INTERVAL", 600.0)
    with show_progress("Reading") as say:
        say("7 rows")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(terminal, "LOG_INTERVAL", 0.0)
    with show_progress("Reading") as say:
        say("7 rows")
        say("9 rows")
    assert capsys.readouterr().err == "Reading: 7 rows\nReading: 9 rows\n"

"""Options whose text says nothing, or is no number: a sentence that names the option."""

import numpy as np
import pytest
from click.testing import CliRunner

import tempocal as tc
from tempocal.cli.group import COMMANDS
from tempocal.cli.group import tempocal as command

M = tc.datasets.simulate_match(40)
ROWS = ["--logits", "z", "--label", "won", "--time", "t", "--sequence", "match"]
WORDS = {
    "fit": ["fit", "d.csv", *ROWS, "-o", "out.json"],
    "apply": ["apply", "m.json", "d.csv", "--logits", "z", "--time", "t", "-o", "out.csv"],
    "evaluate": ["evaluate", "d.csv", *ROWS],
    "compare": ["compare", "d.csv", *ROWS],
    "report": ["report", "d.csv", *ROWS, "-o", "out.html"],
    "monitor": ["monitor", "d.csv", *ROWS],
    "export": ["export", "m.json", "--to", "sql", "--table", "t"],
    "serve": ["serve", "m.json"],
    "demo": ["demo"],
}
TEXTS = [
    (verb, option.opts[-1])
    for verb in COMMANDS
    for option in command.get_command(None, verb).params
    if option.param_type_name == "option" and not option.is_flag
]
NUMBERS = [
    ("serve", "--timeout"),
    ("serve", "--idle"),
    ("serve", "--grace"),
    ("serve", "--port"),
    ("serve", "--max-body"),
    ("serve", "--max-rows"),
    ("serve", "--max-concurrent"),
    ("monitor", "--alpha"),
    ("evaluate", "--bins"),
    ("fit", "--seed"),
    ("demo", "--matches"),
]


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("options")
    rows = np.column_stack([M.logits, M.label, M.time, M.sequence])
    np.savetxt(path / "d.csv", rows, delimiter=",", header="z,won,t,match", comments="")
    cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Constant())
    cal.fit(M.logits, M.label, time=M.time, groups=M.sequence).save(path / "m.json")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        yield path


def refused(words):
    done = CliRunner().invoke(command, words)
    assert done.exit_code in (1, 2), done.output
    assert "should not have happened" not in done.stderr
    return done.stderr


@pytest.mark.parametrize("text", ["", "\0"])
@pytest.mark.parametrize(("verb", "option"), TEXTS)
def test_text_that_says_nothing(verb, option, text):
    assert "Error: " in refused([*WORDS[verb], f"{option}={text}"])


@pytest.mark.parametrize("text", ["", "\0"])
@pytest.mark.parametrize("verb", [verb for verb in WORDS if verb != "demo"])
def test_a_file_without_a_name(verb, text):
    words = list(WORDS[verb])
    words[1] = text
    assert "Error: Invalid value for" in refused(words)


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "-1", "1e400", "x"])
@pytest.mark.parametrize(("verb", "option"), NUMBERS)
def test_numbers(verb, option, text):
    assert f"Invalid value for '{option}'" in refused([*WORDS[verb], f"{option}={text}"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--edges="], "Invalid value for '--edges': it is empty"),
        (["--edges=,"], "--edges , must be numbers, or dates"),
        (["--edges=nan"], "NaN"),
        (["--edges=inf"], "edges"),
        (["--edges=3,3"], "edges"),
        (["--edges=5,2"], "edges"),
    ],
)
def test_edges(words, said):
    assert said in refused([*WORDS["monitor"], *words])


@pytest.mark.parametrize("option", ["--timeout=0", "--timeout=1e20", "--idle=99999999999999999999"])
def test_times_of_a_service_that_no_clock_can_keep(option):
    assert "Invalid value for" in refused([*WORDS["serve"], option])


@pytest.mark.parametrize("host", [" ", "nan", "é" * 300, "a..b", "999.999.999.999"])
def test_a_service_at_no_address(host):
    assert "Error: cannot listen at" in refused([*WORDS["serve"], f"--host={host}"])


def test_more_stretches_than_can_be_counted():
    assert "Invalid value for '--bins'" in refused([*WORDS["evaluate"], "--bins=99999999999999999"])

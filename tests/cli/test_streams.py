"""Standard streams that are closed, or that cannot be written to."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tempocal as tc
from support.lanes import by_turns

if os.name != "posix":
    pytest.skip("redirections of a shell", allow_module_level=True)

SOURCES = str(Path(tc.__file__).parents[1])
M = tc.datasets.simulate_match(60)
ROWS = "d.csv --logits z --label won --time t --sequence match"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("streams")
    rows = np.column_stack([M.logits, M.label, M.time, M.sequence])
    np.savetxt(path / "d.csv", rows, delimiter=",", header="z,won,t,match", comments="")
    tc.TemperatureScaling().fit(M.logits, M.label).save(path / "m.json")
    return path


def run(folder, words, streams):
    return subprocess.run(
        ["/bin/sh", "-c", f"'{sys.executable}' -m tempocal {words} {streams}"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONWARNINGS": "ignore", "PYTHONPATH": SOURCES},
    )


@pytest.mark.parametrize(
    ("streams", "words"),
    by_turns(
        ["<&- >&- 2>&-", "<&-", ">&-", "2>&-"],
        [
            f"fit {ROWS} --calibrator temperature --curve constant -o out.json",
            "--version",
            f"evaluate {ROWS}",
            "fit --help",
            "apply m.json d.csv --logits z -o out.csv",
            "export m.json --to sql",
        ],
        every=3,
    ),
)
def test_a_closed_stream_that_is_not_needed_does_no_harm(folder, words, streams):
    done = run(folder, words, streams)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_does_not_get_the_number_of_a_closed_stream(folder):
    """What is printed then would go into it."""
    run(folder, "apply m.json d.csv --logits z -o wanted.csv", "")
    run(folder, "apply m.json d.csv --logits z -o out.csv", "<&- >&- 2>&-")
    assert (folder / "out.csv").read_bytes() == (folder / "wanted.csv").read_bytes()


@pytest.mark.parametrize(
    ("words", "streams", "said"),
    [
        ("fit - --logits z --label won -o out.json", "<&-", "standard input is closed: name a"),
        ("apply m.json d.csv --logits z -o -", ">&-", "standard output is closed: write to a"),
        ("--help", "> /dev/full", "No space left on device"),
        ("--version", "> /dev/full", "No space left on device"),
    ],
)
def test_one_that_is_needed_is_said(folder, words, streams, said):
    if "/dev/full" in streams and not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full here")
    done = run(folder, words, streams)
    assert done.returncode == 1
    assert done.stderr.startswith(f"Error: {said}")


def test_an_error_does_not_come_among_rows_where_standard_error_is_closed(folder):
    done = run(folder, "apply nothing.json d.csv --logits z -o -", "2>&-")
    assert (done.returncode, done.stdout) == (1, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_a_note_that_cannot_be_written_does_not_undo_the_work(folder):
    done = run(folder, "apply m.json d.csv --logits z -o noted.csv", "2> /dev/full")
    assert done.returncode == 0
    assert (folder / "noted.csv").exists()

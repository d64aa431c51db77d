"""Everything runs on made-up data, and goes on after a kill with the same tables."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from experiments.__main__ import main
from experiments.results import HERE

ROOT = Path(__file__).parents[2]
FIGURES = {
    "raw-over-length",
    "exponentials",
    "imdb-over-length",
    "imdb-beyond",
    "amazon-over-length",
    "rounds-over-time",
    "rounds-reliability",
}
OF_OTHERS = {"amazon-over-length"}
COMMAND = [sys.executable, "-m", "experiments", "run"]


def run(*options, **settings):
    command = [*COMMAND, *map(str, options)]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, **settings
    )


def workers_of(pid):
    """Processes that a process has started."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            parent = re.search(r"^PPid:\s*(\d+)", status.read_text(), re.MULTILINE)
        except OSError:
            continue
        if parent and int(parent[1]) == pid:
            found.append(int(status.parent.name))
    return found


def undisturbed(folder, *options):
    """Run experiments to their end."""
    found = run(*options, "--quick", "--cache", folder / "cache", "--output", folder / "out")
    assert found.returncode == 0, found.stderr
    return folder / "out", found.stdout


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return undisturbed(tmp_path_factory.mktemp("whole"))


@pytest.mark.filterwarnings("ignore::tempocal.errors.TempocalWarning")  # from so few rows
@pytest.mark.long
def test_two_experiments(tmp_path, monkeypatch, capsys):
    """All of them take a minute."""
    monkeypatch.chdir(ROOT)
    places = ["--cache", str(tmp_path / "cache"), "--output", str(tmp_path / "out")]
    main(["run", "imdb-gru", "rounds", "--quick", "--seeds", "1", "--workers", "1", *places])
    assert_complete(tmp_path / "out", capsys.readouterr().out, "1 seed", FIGURES - OF_OTHERS)


@pytest.mark.slow
def test_all_experiments(whole):
    assert_complete(*whole, "2 seeds", FIGURES)


def assert_complete(folder, said, seeds, figures):
    assert "| Temporal temperature |" in said
    assert f"Made-up data in place of Large Movie Review, {seeds}" in said
    assert {path.stem for path in (folder / "figures").iterdir()} == figures


@pytest.mark.slow  # a minute and more, and longer on a machine that does other things
def test_killed_again_and_again(whole, tmp_path):
    names = ["imdb-encoder"]
    options = ["--quick", "--cache", tmp_path / "cache", "--output", tmp_path / "out"]
    kept = {}
    # Once features are there, once a seed, once a score.
    for pattern in ("features-*/*.npy", "textrun-*.parquet", "scored-*.json"):
        running = subprocess.Popen(
            [*COMMAND, *names, *map(str, options)], cwd=ROOT, stderr=subprocess.DEVNULL
        )
        while not list((tmp_path / "cache").glob(f"generated-*/cache/{pattern}")):
            assert running.poll() is None
            time.sleep(0.02)
        workers = workers_of(running.pid)
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
        assert workers
        late = time.monotonic() + 300
        while any(Path(f"/proc/{worker}/cmdline").exists() for worker in workers):
            assert time.monotonic() < late, "workers went on without their parent"
            time.sleep(0.05)
        for path, moment in kept.items():
            assert path.stat().st_mtime_ns == moment, "made again"
        finished = (tmp_path / "cache").glob("generated-*/cache/**/[!.]*.*")
        kept = {path: path.stat().st_mtime_ns for path in finished}
    last = run(*names, *options)
    assert last.returncode == 0, last.stderr
    for name in names:
        for file in (f"{name}.json", f"predictions/{name}.parquet"):
            assert (tmp_path / "out" / file).read_bytes() == (whole[0] / file).read_bytes()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["rounds", "--seeds", "0"], "'0' is not a whole number of at least 1"),
        (["rounds", "--workers", "-1"], "'-1' is not a whole number of at least 1"),
        (["chess"], "'chess' is not one of imdb-dan, "),
        (["rounds"], "error: name the folder of the data with --data, or by TEMPOCAL_DATA"),
        (["rounds", "--data", "no/such"], "error: the folder of the data, no/such, is not there"),
        (
            ["rounds", "--data", "."],
            "rounds is left out: a dataset of Counter-Strike rounds is not",
        ),
        (["imdb-dan", "--data", "."], "imdb-dan is left out: . has no word vectors"),
        (["imdb-dan", "--data", ".", "--vectors", "src"], "must be a file, but src is none"),
        (
            ["imdb-encoder", "--data", ".", "--encoder", "src"],
            "src is not the folder of an encoder",
        ),
    ],
)
def test_what_is_refused(tmp_path, monkeypatch, capsys, options, said):
    monkeypatch.delenv("TEMPOCAL_DATA", raising=False)
    monkeypatch.chdir(ROOT)
    folders = ["--cache", str(tmp_path / "cache"), "--output", str(tmp_path / "out")]
    with pytest.raises(SystemExit) as stopped:
        main(["run", *options, *folders])
    assert stopped.value.code not in (0, None)
    assert said in f"{capsys.readouterr().err}{stopped.value.code}"


def test_results_that_say_more_are_not_replaced(tmp_path):
    with pytest.raises(SystemExit, match="would be replaced by ones that say less: name another"):
        main(["run", "rounds", "--quick", "--cache", str(tmp_path), "--output", str(HERE)])

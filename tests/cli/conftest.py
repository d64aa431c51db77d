"""An empty folder with files of predictions in it, and a way to run commands there."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import tempocal as tc
from tempocal.cli import large
from tempocal.cli.group import tempocal

FORMATS = ("csv", "jsonl", "parquet")
COLUMNS = ("--logits", "z", "--label", "won", "--time", "t", "--sequence", "match")


def save(frame, path):
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        lines = (json.dumps(row) for row in frame.to_dict("records"))
        path.write_text("".join(f"{line}\n" for line in lines))
    return path


def simulated(n_matches=60, seed=0):
    m = tc.datasets.simulate_match(n_matches, wins=6, seed=seed)
    return pd.DataFrame(
        {
            "match": m.sequence,
            "series": m.sequence // 3,
            "t": m.time,
            "z": m.logits,
            "p": 1 / (1 + np.exp(-m.logits)),
            "won": m.label,
            "note": "a, b",
        }
    )


@pytest.fixture(scope="session")
def frame():
    return simulated()


@pytest.fixture
def folder(tmp_path, monkeypatch, frame):
    """A folder to work in, with predictions.* and new.* in it."""
    monkeypatch.chdir(tmp_path)
    for ending in FORMATS:
        save(frame, tmp_path / f"predictions.{ending}")
    save(simulated(30, seed=1), tmp_path / "new.csv")
    return tmp_path


@pytest.fixture
def run():
    """Run a command; unless told otherwise it must go well."""

    def runs(*words, code=0, stdin=None):
        result = CliRunner().invoke(tempocal, [str(word) for word in words], input=stdin)
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output
        return SimpleNamespace(out=result.stdout, err=result.stderr, raw=result.stdout_bytes)

    return runs


@pytest.fixture
def refused(run):
    """Run a command that is refused; return its sentence."""

    def runs(*words, code=1, stdin=None):
        said = run(*words, code=code, stdin=stdin).err
        line = next(line for line in said.splitlines() if line.startswith("Error: "))
        if code != 2:
            assert said.splitlines()[-1] == line
        return line.removeprefix("Error: ")

    return runs


@pytest.fixture(scope="session")
def model(frame, tmp_path_factory):
    """A model along time of these predictions."""
    path = tmp_path_factory.mktemp("models") / "model.json"
    cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline())
    cal.fit(frame["z"], frame["won"], time=frame["t"], groups=frame["match"]).save(path)
    return path


@pytest.fixture
def as_large(monkeypatch):
    def turn(on):
        monkeypatch.setattr(large, "LARGE_ROWS", 0 if on else 10**9)
        monkeypatch.setattr(large, "LARGE_BYTES", 0 if on else 10**9)

    return turn


@pytest.fixture
def both(run, as_large):
    """Run a command on a file that is taken as small, and on the same taken as large."""

    def runs(*words, **options):
        found = []
        for on in (False, True):
            as_large(on)
            found.append(run(*words, **options))
        return found

    return runs

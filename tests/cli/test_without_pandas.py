"""The command line needs neither pandas nor Polars, and `apply` no scikit-learn."""

import subprocess
import sys

import pytest

BLOCK = """
import sys


class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Blocker())
from click.testing import CliRunner
from tempocal.cli.group import tempocal


def run(*words):
    result = CliRunner().invoke(tempocal, words)
    assert result.exit_code == 0, (words, result.output, result.exception)


ROWS = ("--logits", "z", "--label", "won", "--time", "t", "--sequence", "match")
"""
RUN = """
ONE = ("--calibrator", "platt", "--curve", "spline")
run("fit", FILE, *ROWS, *ONE, "-o", "m.json")
run("fit", FILE, *ROWS, *ONE, "--where", "match < 50", "--td-horizon", "0.1", "-o", "m2.json")
run("fit", FILE, *ROWS[:4], "--elapsed", "t", "--sequence", "match", *ONE, "-o", "m3.json")
run("apply", "m.json", FILE, "--logits", "z", "--time", "t", "-o", "out." + FILE)
run("evaluate", FILE, *ROWS, "--model", "m.json")
run("evaluate", FILE, *ROWS, "--json")
run("compare", FILE, *ROWS, *ONE)
run("monitor", FILE, *ROWS, "--state", FILE + ".json")
for to in ("sql", "python", "onnx"):
    run("export", "m.json", "--to", to, "-o", "out." + to)
run("completion", "bash")
assert not {"pandas", "polars"} & set(sys.modules)
"""
REPORT = """
run("report", FILE, *ROWS, "-o", "page.html")
assert not {"pandas", "polars"} & set(sys.modules)
"""
APPLY = """
run("apply", "m.json", FILE, "--logits", "z", "--time", "t", "--where", "t > 1", "-o", "o." + FILE)
assert not any(name.partition(".")[0] in BLOCKED for name in sys.modules)
"""


def in_another_process(code, **names):
    lines = [f"{name} = {value!r}" for name, value in names.items()]
    script = "\n".join([*lines, BLOCK, code])
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_every_command_runs_without(folder, ending):
    in_another_process(RUN, BLOCKED=("pandas", "polars"), FILE=f"predictions.{ending}")


def test_a_report_is_written_without(folder):
    in_another_process(REPORT, BLOCKED=("pandas", "polars"), FILE="predictions.csv")


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_apply_runs_without_scikit_learn_and_scipy(folder, model, ending):
    (folder / "m.json").write_bytes(model.read_bytes())
    blocked = ("pandas", "polars", "sklearn", "scipy")
    in_another_process(APPLY, BLOCKED=blocked, FILE=f"predictions.{ending}")

"""The harness with few kills: `make faults` runs it with many."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HARNESS = Path(__file__).with_name("kill_during_save.py")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")


def run(*options):
    return subprocess.run(
        [sys.executable, HARNESS, *options], capture_output=True, text=True, check=False
    )


def test_no_model_is_lost_or_damaged_by_kills():
    done = run("--runs", "30")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^30 kills during \d+ saves in .*: 0 failed ", done.stdout, re.MULTILINE)


def test_the_harness_notices_a_save_that_is_not_atomic():
    done = run("--runs", "30", "--in-place")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "None was found" in done.stdout

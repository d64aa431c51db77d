"""The harness with few kills: `make faults` runs it with many."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HARNESS = Path(__file__).with_name("kill_during_tracking.py")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")


def run(*options):
    return subprocess.run(
        [sys.executable, HARNESS, *options], capture_output=True, text=True, check=False
    )


def test_no_sequence_is_lost_or_learned_twice():
    done = run("--runs", "10")
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    assert int(last.split()[0]) >= 10
    assert " 0 failed" in last


def test_the_harness_notices_what_is_forgotten():
    done = run("--runs", "3", "--forgetful")
    assert done.returncode == 1, done.stdout + done.stderr

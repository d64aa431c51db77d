"""Kill a process with SIGKILL while it tracks sequences, again and again, and look at what is left.

    python tests/faults/kill_during_tracking.py --runs 1000

A child takes predictions of sequences that run side by side, and finishes them. It is killed at a
random moment, and the next child goes on from what it finds. When all sequences are finished, the
model must be the one of a process that nobody killed, to the bit, and so must the history: no
sequence lost and none learned twice.

With ``--forgetful`` what is under way is lost at each kill, to show that such a fault is found.
"""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

import numpy as np

import tempocal as tc
from tempocal.errors import InputError

LONGEST = 0.25
"""Seconds that a child may live."""
AT_ONCE = 5
"""Sequences that run side by side."""
SEQUENCES = 40
"""Sequences of a round, after which everything is compared."""


def main():
    options = parse_options()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        sys.exit(1 if kill_many(Path(folder), options) else 0)


def parse_options():
    parser = argparse.ArgumentParser(description="Kill a process while it tracks sequences.")
    parser.add_argument("--runs", type=int, default=1000, help="how many kills")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32), help="of the moments")
    parser.add_argument("--folder", help="where to keep the log, to try another disk")
    parser.add_argument("--forgetful", action="store_true", help="lose what was under way")
    return parser.parse_args()


def kill_many(folder, options):
    """Return the number of rounds that did not end as they must."""
    matches, start, kills, rounds, failed = data(), time.perf_counter(), 0, 0, 0
    moments = random.Random(options.seed)
    begun, wanted = folder / "begun", folder / "uninterrupted"
    begin(begun, matches)
    shutil.copytree(begun, wanted)
    go_on(wanted, matches)
    while kills < options.runs:
        place = folder / f"round-{rounds}"
        shutil.copytree(begun, place)
        while run_child(place, matches, moments.uniform(0.0, LONGEST)):
            kills += 1
            if options.forgetful:
                forget(place)
        rounds += 1
        if not same(place, wanted):
            failed += 1
            print(f"round {rounds} differs from the uninterrupted one", flush=True)
        shutil.rmtree(place)
        seconds = time.perf_counter() - start
        print(f"{kills} kills in {rounds} rounds, {failed} failed, {seconds:.0f} s", flush=True)
    return failed


def data():
    return tc.datasets.simulate_match(300 + SEQUENCES, seed=1)


def begin(place, matches):
    first = matches.sequence < 300
    cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.ExponentialDecay(), shrinkage=1.0)
    cal.fit(
        matches.logits[first],
        matches.label[first],
        time=matches.time[first],
        groups=matches.sequence[first],
    )
    tc.live.SequenceTracker(place, cal).close()


def go_on(place, matches):
    """Take the predictions that are still to come, and finish sequences as they end."""
    with tc.live.SequenceTracker(place, save_every=4) as tracker:
        for start in range(300, 300 + SEQUENCES, AT_ONCE):
            ids = range(start, start + AT_ONCE)
            rows = {k: np.flatnonzero(matches.sequence == k) for k in ids}
            for step in range(max(map(len, rows.values()))):
                for k in ids:
                    observe_next(tracker, k, rows[k], step, matches)


def observe_next(tracker, k, rows, step, matches):
    name = f"match {k}"
    if step < len(rows) and tracker.n_observed(name) <= step:
        try:
            tracker.observe(name, matches.logits[rows[step]], time=matches.time[rows[step]])
        except InputError as error:
            assert "is finished" in str(error)  # noqa: PT017 - this is a program, not a test
    if step == len(rows) - 1:
        try:
            tracker.finish(name, matches.label[rows[0]])
        except InputError as error:
            assert "is finished already" in str(error)  # noqa: PT017


def run_child(place, matches, seconds):
    """Let a child go on for a while; tell whether it had to be killed."""
    child = os.fork()
    if child == 0:
        try:
            go_on(place, matches)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status):
        if os.WEXITSTATUS(status):
            raise SystemExit("a child failed by itself")
        return False
    return True


def forget(place):
    """Do what a tracker without a log would: keep the model, and nothing else."""
    log = place / "sequences.log"
    log.write_bytes(log.read_bytes().partition(b"\n")[0] + b"\n")


def same(place, wanted):
    if (place / "model.json").read_bytes() != (wanted / "model.json").read_bytes():
        return False
    histories = []
    for folder in (place, wanted):
        with tc.live.SequenceTracker(folder) as tracker:
            histories.append(tracker.history())
    return all(np.array_equal(histories[0][key], histories[1][key]) for key in histories[0])


if __name__ == "__main__":
    main()

"""Kill a process with SIGKILL while it saves models, again and again, and look at what is left.

    python tests/faults/kill_during_save.py --runs 1000

A child saves model after model to one path, as fast as it can, and reports each save that is done.
It is killed at a random moment after the first. Then

- the file must load, whole: a model that the child was saving;
- nothing may be lost: it is the last model reported as saved, or the one after it, whose report
  the child did not live to give;
- what dead children leave in the folder must not hurt: it all stays there, and the next child
  saves to the same path.

A killed process loses what was in its own memory, not what the system has yet to bring to the
disk: this says nothing about power failures, which is what the fsyncs are for.

With ``--in-place`` the child overwrites the file instead, to show that such a fault is found.
"""

import argparse
import os
import random
import signal
import struct
import sys
import tempfile
import time
import traceback
from pathlib import Path

from tempocal.errors import ModelFileError
from tempocal.modelfile import read_document, write_document
from tempocal.modelfile.envelope import wrap
from tempocal.modelfile.json_text import lay_out

LONGEST = 0.05
"""Seconds that a child may live on after its first save: several saves, on most disks."""


def main():
    options = parse_options()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        sys.exit(1 if kill_many(Path(folder), options) else 0)


def parse_options():
    parser = argparse.ArgumentParser(description="Kill a process while it saves models.")
    parser.add_argument("--runs", type=int, default=1000, help="how many kills")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32), help="of the moments")
    parser.add_argument("--folder", help="where to save, to try another disk")
    parser.add_argument("--in-place", action="store_true", help="save in a way that fails")
    return parser.parse_args()


def kill_many(folder, options):
    """Return the number of kills after which the file was not as it must be."""
    save = write_in_place if options.in_place else write_document
    path, moments, start = folder / "model.json", random.Random(options.seed), time.perf_counter()
    write_document(path, model(0))
    number = failed = unreported = 0
    for run in range(1, options.runs + 1):
        number = kill_one(path, save, number, moments.uniform(0, LONGEST))
        found = load(path)
        if found not in (number, number + 1):
            failed += 1
            print(f"kill {run}: {number} was saved, {found} was found", flush=True)
        elif found == number + 1:
            unreported, number = unreported + 1, found
        if run % 100 == 0:
            print(f"{run} kills, {number} saves", flush=True)
    left = len(list(folder.glob(".tempocal-*.tmp")))
    print(
        f"{options.runs} kills during {number} saves in {time.perf_counter() - start:.0f} s: "
        f"{failed} failed ({unreported} fell between a save and its report; {left} left a "
        "temporary file behind)"
    )
    return failed


def kill_one(path, save, number, seconds):
    """Let a child save what comes after `number`; return the last it reported before the kill."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        save_forever(path, save, number + 1, writing)
    os.close(writing)
    with open(reading, "rb") as pipe:
        reports = pipe.read(8)
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        reports += pipe.read()
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        raise SystemExit("the child failed by itself")
    return struct.unpack("<q", reports[-8:])[0]


def save_forever(path, save, number, reports):
    try:
        while True:
            save(path, model(number))
            os.write(reports, struct.pack("<q", number))
            number += 1
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def load(path):
    """Return the number of the model in the file, or None where there is none."""
    try:
        content = read_document(path)
    except (OSError, ModelFileError):
        return None
    return content["number"] if content == model(content["number"]) else None


def model(number):
    """Return a model that is known by its number; small and large ones take turns."""
    return {"number": number, "body": str(number) * (10 if number % 2 else 100_000)}


def write_in_place(path, content):
    """Write the same bytes over the old ones, in two parts and slowly, for any disk to show it."""
    data = wrap("".join(lay_out(content)).encode())
    with open(path, "wb") as file:
        for part in (data[:100], data[100:]):
            file.write(part)
            file.flush()
            time.sleep(0.005)


if __name__ == "__main__":
    main()

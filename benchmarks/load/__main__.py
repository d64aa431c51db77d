"""Hold the service under load, then stop it again and again.

``python -m benchmarks.load --minutes 5 --stops 100``

Client and service share the processors of one machine, so the peak is that of both together.
"""

import argparse
import asyncio
import os
import platform
import random
import sys
import tempfile
from pathlib import Path

import uvicorn

from benchmarks.load.cases import good_cases, malformed_cases, save_model
from benchmarks.load.hold import Draw, Held, hold, peak_rate
from benchmarks.load.service import running
from benchmarks.load.stops import Stopped, stop_under_load

FLAT = 5.0
"""Megabytes that the memory may grow by."""


def main() -> None:
    """Run both, and exit with 1 if anything was not as it must be."""
    parser = argparse.ArgumentParser(description="The service under load.")
    parser.add_argument("--minutes", type=float, default=5.0, help="at 80 %% of the peak")
    parser.add_argument("--ramp", type=float, default=15.0, help="seconds of each step to the peak")
    parser.add_argument("--stops", type=int, default=100, help="how many times SIGTERM")
    parser.add_argument("--seed", type=int, default=0, help="of the moments and the requests")
    options = parser.parse_args()
    print(
        f"Python {platform.python_version()}, uvicorn {uvicorn.__version__}, {os.cpu_count()} "
        f"processors for client and service together, load {os.getloadavg()[0]:.1f} before"
    )
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder, "model.json")
        good = good_cases(save_model(model))
        draw = Draw(good, malformed_cases(), options.seed)
        with running(model) as service:
            peak = asyncio.run(peak_rate(service.port, draw, options.ramp))
            rate = 0.8 * peak
            print(f"holding {rate:.0f} requests a second for {options.minutes:g} minutes")
            held = asyncio.run(hold(service, draw, rate, 60 * options.minutes))
        moments = random.Random(options.seed)
        stops = [stop_under_load(model, good, moments) for _ in range(options.stops)]
    sys.exit(0 if _say_held(held) & _say_stops(stops) else 1)


def _say_held(held: Held) -> bool:
    print(
        f"{held.asked} requests, {held.asked / len(held.memory):.0f} a second, {held.malformed} of "
        f"them malformed: {len(held.wrong)} wrong; "
        f"p50 {held.quantile(0.5):.1f} ms, p99 {held.quantile(0.99):.1f} ms; memory "
        f"{held.memory[0]:.1f} to {held.memory[-1]:.1f} MB, {held.growth():+.1f} MB since the "
        "second tenth"
    )
    print("\n".join(held.wrong))
    return not held.wrong and held.growth() < FLAT


def _say_stops(stops: list[Stopped]) -> bool:
    if not stops:
        return True
    print(
        f"{len(stops)} stops under load: {sum(one.answered for one in stops)} requests answered, "
        f"{sum(one.lost for one in stops)} lost, {sum(one.wrong for one in stops)} wrong, "
        f"{sum(one.unaccepted for one in stops)} connections reset before they were accepted; "
        f"{max(one.seconds for one in stops):.1f} seconds to stop at most; exit codes "
        f"{sorted({one.exit_code for one in stops})}"
    )
    return all(one.is_good for one in stops)


if __name__ == "__main__":
    main()

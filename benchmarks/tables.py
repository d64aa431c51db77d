"""Fits to Parquet files beside reading their columns alone; and Spark beside DuckDB.

Every line is a process of its own, so that its peak memory is its own too. Files are made once and
kept.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

import tempocal as tc
from tempocal.tables.passes import Passes

STEPS = 40
CALIBRATORS: dict[str, Callable[[], Any]] = {
    "temperature": tc.TemperatureScaling,
    "temperature, exponential": tc.TemporalCalibrator,
    "Platt, spline": lambda: tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline()),
    "temperature, per step": lambda: tc.TemporalCalibrator(curve=tc.PerStep()),
}


def make_file(path: Path, n: int) -> None:
    """Write ``n`` predictions: sequences of forty, too sure at first, one outcome each."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    half_done = path.with_suffix(".part")
    skill = "(hash(i // 40) % 1000003 / 1000003.0)"
    chance = "(hash(i // 40, 5) % 1000003 / 1000003.0)"
    noise = "sqrt(-2 * ln(1e-9 + hash(i, 7) % 1000003 / 1000003.0)) * cos(hash(i, 11) % 1000003)"
    rows = f"""
        SELECT i // 40 AS id, (i % 40)::DOUBLE AS t,
               (6 * ({skill} - 0.5) * (0.3 + 0.02 * (i % 40)) + 0.7 * {noise})
               * (1 + 1.2 * exp(-(i % 40) / 6.0)) AS z,
               ({chance} < 1 / (1 + exp(3 - 6 * {skill})))::INT AS y
        FROM range({n}) rows(i)"""
    connection = duckdb.connect()
    connection.execute("SET preserve_insertion_order = false")
    connection.execute(f"COPY ({rows}) TO '{half_done}' (FORMAT parquet)")
    half_done.rename(path)


def scan(path: Path) -> dict[str, Any]:
    """Read the columns and do next to nothing with them: the lowest of three times."""
    connection, seconds = duckdb.connect(), []
    for _ in range(3):
        start = time.perf_counter()
        connection.execute(f"SELECT sum(id), sum(t), sum(z), sum(y) FROM '{path}'").fetchall()
        seconds.append(time.perf_counter() - start)
    return {"seconds": min(seconds)}


def fit(path: Path, name: str, *, groups: bool, engine: str) -> dict[str, Any]:
    """Fit one calibrator and time every pass."""
    passes: list[tuple[str, float]] = []
    collect = Passes.collect

    def timed(self: Passes, frame: Any, description: str) -> Any:
        start = time.perf_counter()
        found = collect(self, frame, description)
        passes.append((description, time.perf_counter() - start))
        return found

    Passes.collect = timed  # type: ignore[method-assign]
    calibrator, table = CALIBRATORS[name](), _open(path, engine)
    given: dict[str, Any] = {"logits": "z", "label": "y"}
    if name != "temperature":
        given["time"] = "t"
    if groups:
        given["groups"] = "id"
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        calibrator.fit_table(table, **given)
    return {"seconds": time.perf_counter() - start, "passes": passes}


def _open(path: Path, engine: str) -> Any:
    if engine == "duckdb":
        return path
    from pyspark.sql import SparkSession  # noqa: PLC0415

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.driver.memory", "4g").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session.read.parquet(str(path))


def in_own_process(*arguments: str) -> dict[str, Any]:
    """Run this module again, for a memory of its own."""
    command = [sys.executable, "-m", "benchmarks.tables", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def report(path: Path, rows: int, engine: str = "duckdb") -> None:
    """Print one table."""
    least = in_own_process("scan", str(path))["seconds"]
    print(f"\n{rows:,} rows of Parquet, {engine}. Reading the four columns alone: {least:.2f} s")
    print(f"{'fit':36}{'passes':>7}{'seconds':>9}{'a pass':>9}{'x reading':>11}{'MB':>7}")
    for name in CALIBRATORS if engine == "duckdb" else ["temperature, exponential"]:
        for groups in ("", "groups"):
            found = in_own_process("fit", str(path), name, groups, engine)
            seconds = [one for _, one in found["passes"]]
            mean = sum(seconds) / len(seconds)
            print(
                f"{name + (' by group' if groups else ''):36}{len(seconds):7}"
                f"{found['seconds']:9.1f}{mean:9.2f}{mean / least:11.1f}{found['megabytes']:7.0f}",
                flush=True,
            )
            for description, one in found["passes"] if name == "Platt, spline" and groups else ():
                print(f"    {description:42}{one:9.2f}{one / least:11.1f}")


def main() -> None:
    """Print tables for some sizes; or run one step, in a process of its own."""
    if sys.argv[1:2] in (["scan"], ["fit"]):
        step, path = sys.argv[1], Path(sys.argv[2])
        found = (
            scan(path)
            if step == "scan"
            else fit(path, sys.argv[3], groups=bool(sys.argv[4]), engine=sys.argv[5])
        )
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({**found, "megabytes": peak}))
        return
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tables", description=__doc__)
    parser.add_argument("--rows", type=float, default=1e8, help="rows of the file (1e8)")
    parser.add_argument("--spark-rows", type=float, default=1e7, help="the same for Spark (1e7)")
    parser.add_argument("--folder", type=Path, default=Path("build/tables"), help="for files")
    asked = parser.parse_args()
    for rows, engines in ((asked.spark_rows, ("duckdb", "spark")), (asked.rows, ("duckdb",))):
        if rows:
            path = asked.folder / f"{rows:.0e}.parquet"
            make_file(path, int(rows))
            for engine in engines:
                report(path, int(rows), engine)


if __name__ == "__main__":
    main()

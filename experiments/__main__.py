"""Run the experiments of the paper, write their tables and draw their figures.

What is finished is kept: after a kill, the same command goes on where it was.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path

# One thread for each process: jobs run side by side.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# The GNU C library would give large tensors back to the system after each batch, and ask for them
# again; it reads these when a worker starts.
os.environ.setdefault("MALLOC_MMAP_THRESHOLD_", str(2**32))
os.environ.setdefault("MALLOC_TRIM_THRESHOLD_", str(2**33))
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

from experiments import generated
from experiments.about import about
from experiments.cache import write_whole
from experiments.catalog import EXPERIMENTS, Experiment
from experiments.definitions import write_definitions
from experiments.figures import draw_all
from experiments.finding import find_places
from experiments.inputs import Places
from experiments.jobs import JobError, Workers, cores
from experiments.results import HERE, Result, read_results, require_better, write_result
from experiments.runs import finish_experiment, predictions_path, run_of
from experiments.tables import write_tables
from tempocal.errors import DatasetNotFoundError, TempocalError

QUICK_SEEDS, QUICK_EPOCHS = 2, 2
QUICK_OUTPUT = "experiments-output"


def main(arguments: Sequence[str] | None = None) -> None:
    """Do what the command line says."""
    options = _parser().parse_args(arguments)
    try:
        options.command(options)
    except (TempocalError, OSError, ImportError, JobError, BrokenProcessPool) as error:
        sys.exit(f"error: {error}")


def run(options: argparse.Namespace) -> None:
    """Run experiments, then write tables and figures."""
    chosen = [EXPERIMENTS[name] for name in options.names or EXPERIMENTS]
    output = Path(options.output or (QUICK_OUTPUT if options.quick else HERE))
    if options.quick:
        options.seeds = min(options.seeds, QUICK_SEEDS)
    for folder in (output / "predictions", Path(options.cache)):
        folder.mkdir(parents=True, exist_ok=True)
    for one in chosen:
        require_better(one, output, seeds=options.seeds, made_up=options.quick)
    with Workers(options.workers) as workers:
        missing = [one.name for one in chosen if not _finish(one, output, workers, options)]
    if len(missing) < len(chosen):
        show(argparse.Namespace(output=output))
    if missing:
        sys.exit(f"error: not run for want of data: {', '.join(missing)}")


def show(options: argparse.Namespace) -> None:
    """Write tables and draw figures from the results that are there."""
    output = Path(options.output)
    results = read_results(output)
    if not results:
        sys.exit(f"error: there are no results in {output}; run `python -m experiments run` first")
    write_tables(results, output)
    write_definitions(results, output / "predictions", output)
    draw_all(results, output / "predictions", output / "figures")
    print((output / "tables.md").read_text(encoding="utf-8"))
    print(f"Tables are in {output}, figures in {output / 'figures'}")


def _finish(one: Experiment, output: Path, workers: Workers, options: argparse.Namespace) -> bool:
    """Run what is left of an experiment and write its results; tell if there are data for it."""
    try:
        one, places = _found(one, options)
        scores = finish_experiment(one, places, seeds=options.seeds, workers=workers)
    except DatasetNotFoundError as error:
        print(f"{one.name} is left out: {error}", file=sys.stderr)
        return False
    facts = about(one, places, made_up=options.quick)
    first = predictions_path(run_of(one, places, 0), places).read_bytes()
    path = output / "predictions" / f"{one.name}.parquet"
    write_whole(path, lambda beside: beside.write_bytes(first))
    write_result(Result(one, facts, scores), output)
    return True


def _found(one: Experiment, options: argparse.Namespace) -> tuple[Experiment, Places]:
    if options.quick:
        return replace(one, epochs=QUICK_EPOCHS), generated.make_places(Path(options.cache))
    return one, find_places(one, options)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def _name(text: str) -> str:
    if text not in EXPERIMENTS:
        raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(EXPERIMENTS)}")
    return text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description=__doc__,
        epilog="Example: python -m experiments run --quick",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="run | show")
    running = commands.add_parser(
        "run",
        help="train, predict, calibrate, write tables and figures",
        epilog=f"Experiments: {', '.join(EXPERIMENTS)}. Example: python -m experiments run rounds",
    )
    running.add_argument("names", nargs="*", type=_name, metavar="experiment", help="which (all)")
    running.add_argument("--seeds", type=_positive, default=10, help="runs of each (10)")
    running.add_argument("--data", help="folder of the data (or the variable TEMPOCAL_DATA)")
    running.add_argument("--vectors", help="word vectors: .npy, or text as GloVe's")
    running.add_argument("--encoder", help="folder of an encoder, as Hugging Face has them")
    running.add_argument(
        "--cache", default="experiments-cache", help="where runs are kept (experiments-cache)"
    )
    running.add_argument(
        "--workers", type=_positive, default=cores(), help="processes side by side (all cores)"
    )
    running.add_argument("--quick", action="store_true", help="made-up data, a few minutes")
    running.add_argument(
        "--output", help=f"where results go (experiments/results; {QUICK_OUTPUT} with --quick)"
    )
    running.set_defaults(command=run)
    showing = commands.add_parser("show", help="write tables and figures from results")
    showing.add_argument("--output", default=str(HERE), help="where results are")
    showing.set_defaults(command=show)
    return parser


if __name__ == "__main__":
    main()

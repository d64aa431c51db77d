"""Everything that has to be run for an experiment, as jobs that leave files in the cache."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import tempocal
from experiments import (
    features,
    games,
    inputs,
    methods,
    padded,
    predictions,
    run_dan,
    run_encoder,
    run_gru,
    run_rounds,
    scores,
    splits,
    training,
    words,
)
from experiments.cache import code_of, place, write_text
from experiments.catalog import EXPERIMENTS, Experiment
from experiments.inputs import Places, checksum, rounds_of, texts_of, tokens_of, words_of
from experiments.jobs import Job, Workers
from experiments.models import dan, encoder, gru, recurrent, rounds
from experiments.predictions import read_predictions, write_predictions
from experiments.scores import score
from experiments.settings import RoundRun, TextRun
from experiments.training import Report
from tempocal import datasets, sequences

Run = TextRun | RoundRun

# What trains each model, and what else its predictions depend on.
RUNNERS: dict[str, Any] = {
    "dan": run_dan,
    "gru": run_gru,
    "encoder": run_encoder,
    "rounds": run_rounds,
}
_COMMON = (splits, training, inputs, predictions, datasets, sequences)
_CODE: dict[str, tuple[ModuleType, ...]] = {
    "dan": (run_dan, dan, words, *_COMMON),
    "gru": (run_gru, gru, recurrent, words, padded, *_COMMON),
    "encoder": (run_encoder, encoder, features, words, *_COMMON),
    "rounds": (run_rounds, rounds, games, *_COMMON),
}


@dataclass(frozen=True)
class Scored:
    """Settings that the scores of a run depend on."""

    run: dict[str, Any]
    name: str  # of the experiment
    code: str  # hash of tempocal, the methods and the scores


def run_of(experiment: Experiment, places: Places, seed: int) -> Run:
    """Return the settings of a seed."""
    code = code_of(*_CODE[experiment.model])
    how = (seed, experiment.epochs, experiment.batch)
    if experiment.dataset == "rounds":
        return RoundRun(*how, rounds_of(places).source.sha256, code)
    data = texts_of(places, experiment.dataset).source.sha256
    reader = places.encoder if experiment.model == "encoder" else places.vectors
    return TextRun(experiment.dataset, experiment.model, *how, data, checksum(reader), code)


def finish_experiment(
    experiment: Experiment, places: Places, *, seeds: int, workers: Workers
) -> list[dict[str, Any]]:
    """Run what is left of an experiment, and return the scores of each seed."""
    # Texts become numbers here, and not at the same time in every worker.
    if experiment.model == "encoder":
        tokens_of(places, experiment.dataset)
        workers.finish(_feature_jobs(experiment, places))
    elif experiment.dataset != "rounds":
        words_of(places, experiment.dataset)
    runs = [run_of(experiment, places, seed) for seed in range(seeds)]
    workers.finish([_training_job(experiment, run, places) for run in runs])
    workers.finish([_scoring_job(experiment, run, places) for run in runs])
    return [json.loads(_score_path(experiment, run, places).read_text()) for run in runs]


def predictions_path(run: Run, places: Places) -> Path:
    """Return the file of a run's predictions."""
    return place(places.cache, run, ".parquet")


def _feature_jobs(experiment: Experiment, places: Places) -> list[Job]:
    dataset = experiment.dataset
    planned = features.plan(places, dataset)
    return [
        Job(
            f"features of {dataset}, part {number + 1}",
            planned.path(number),
            features.compute,
            (places, dataset, number),
        )
        for number in range(len(planned.chunks))
    ]


def _training_job(experiment: Experiment, run: Run, places: Places) -> Job:
    name = f"{experiment.name}, seed {run.seed}"
    return Job(name, predictions_path(run, places), _train, (experiment.model, run, places))


def _train(model: str, run: Run, places: Places, path: Path, report: Report) -> None:
    write_predictions(RUNNERS[model].run(run, places, report), path)


def _score_path(experiment: Experiment, run: Run, places: Places) -> Path:
    code = code_of(methods, scores, predictions, tempocal)
    return place(places.cache, Scored(asdict(run), experiment.name, code), ".json")


def _scoring_job(experiment: Experiment, run: Run, places: Places) -> Job:
    name = f"scores of {experiment.name}, seed {run.seed}"
    arguments = (experiment.name, predictions_path(run, places))
    return Job(name, _score_path(experiment, run, places), _score, arguments)


def _score(name: str, predicted: Path, path: Path, report: Report) -> None:
    experiment = EXPERIMENTS[name]
    rows = read_predictions(predicted)
    found = score(rows, experiment.methods, steps=experiment.steps, report=report)
    write_text(path, json.dumps(found))

"""One seed of the encoder's last layer on texts."""

import torch

from experiments import features
from experiments.inputs import Places, texts_of
from experiments.models.encoder import LastLayer
from experiments.predictions import Predictions, of_prefixes
from experiments.settings import TextRun
from experiments.splits import labels_of
from experiments.training import Report, Rows, train


def run(settings: TextRun, places: Places, report: Report) -> Predictions:
    """Train the last layer on features of whole texts, predict from those of prefixes.

    Features cost an hour, so that split and cuts are those of seed 0 for all seeds.
    """
    torch.manual_seed(settings.seed)
    texts = texts_of(places, settings.dataset)
    planned = features.plan(places, settings.dataset)
    whole, cuts = features.load(planned)
    model = LastLayer(whole.shape[1])
    batches = Rows(whole, labels_of(texts, planned.parts.train), settings.batch)
    train(model, batches, epochs=settings.epochs, seed=settings.seed, report=report)
    with torch.inference_mode():
        return of_prefixes(texts, planned.prefixes, model(cuts))

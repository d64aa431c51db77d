"""One seed of the recurrent network on texts."""

import numpy as np
import torch

from experiments.inputs import Places, texts_of, vectors_of, words_of
from experiments.models.gru import GRU
from experiments.padded import PaddedTexts, pad
from experiments.predictions import Predictions, of_prefixes
from experiments.settings import TextRun
from experiments.splits import CUTS, cut, labels_of, split
from experiments.training import Report, train

# Predicting the cut texts takes about as long as half an epoch.
PREDICTING = 0.5


def run(settings: TextRun, places: Places, report: Report) -> Predictions:
    """Train on whole texts; one pass over a text predicts all its prefixes."""
    torch.manual_seed(settings.seed)
    texts, corpus = texts_of(places, settings.dataset), words_of(places, settings.dataset)
    parts = split(texts, settings.seed)
    prefixes = cut(parts, corpus.lengths, settings.seed)
    model = GRU(torch.from_numpy(vectors_of(places).rows))
    batches = PaddedTexts(corpus, parts.train, labels_of(texts, parts.train), settings.batch)
    share = settings.epochs / (settings.epochs + PREDICTING)
    train(
        model,
        batches,
        epochs=settings.epochs,
        seed=settings.seed,
        report=lambda done: report(share * done),
    )
    # The prefixes of a text stand together, the shortest first.
    text, length = prefixes.text[::CUTS], prefixes.length.reshape(-1, CUTS)
    order = np.argsort(length[:, -1], kind="stable")
    logits = torch.empty(length.shape)
    with torch.inference_mode():
        for start in range(0, len(order), settings.batch):
            rows = order[start : start + settings.batch]
            words = pad(corpus, text[rows], most=int(length[rows].max()))
            logits[rows] = model(words, torch.from_numpy(length[rows]))
            report(share + (1 - share) * start / len(order))
    return of_prefixes(texts, prefixes, logits.flatten())

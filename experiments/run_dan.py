"""One seed of the deep averaging network on texts."""

import torch

from experiments.inputs import Places, texts_of, vectors_of, words_of
from experiments.models.dan import DAN, prefix_means
from experiments.predictions import Predictions, of_prefixes
from experiments.settings import TextRun
from experiments.splits import cut, labels_of, split
from experiments.training import Report, Rows, train

# Rows that are predicted at a time.
PREDICTED = 4096


def run(settings: TextRun, places: Places, report: Report) -> Predictions:
    """Train on mean vectors of whole texts, predict from those of prefixes."""
    torch.manual_seed(settings.seed)
    texts, corpus = texts_of(places, settings.dataset), words_of(places, settings.dataset)
    vectors = vectors_of(places).rows
    parts = split(texts, settings.seed)
    prefixes = cut(parts, corpus.lengths, settings.seed)
    whole = prefix_means(corpus, vectors, parts.train, corpus.lengths[parts.train])
    model = DAN()
    batches = Rows(whole, labels_of(texts, parts.train), settings.batch)
    train(model, batches, epochs=settings.epochs, seed=settings.seed, report=report)
    means = prefix_means(corpus, vectors, prefixes.text, prefixes.length)
    with torch.inference_mode():
        logits = torch.cat([model(rows) for rows in means.split(PREDICTED)])
    return of_prefixes(texts, prefixes, logits)

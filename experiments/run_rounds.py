"""One seed of the recurrent network on rounds."""

import numpy as np
import torch

from experiments.games import WholeGames, games_of, split_games
from experiments.inputs import Places, rounds_of
from experiments.models.rounds import RoundsGRU
from experiments.predictions import Predictions
from experiments.settings import RoundRun
from experiments.splits import CUTS
from experiments.training import Report, train
from tempocal.sequences import truncate


def run(settings: RoundRun, places: Places, report: Report) -> Predictions:
    """Train on the earliest games, predict prefixes of later ones, cut at five points each."""
    torch.manual_seed(settings.seed)
    rounds = rounds_of(places)
    games, parts = games_of(rounds), split_games(rounds)
    model = RoundsGRU(games.rounds.shape[2])
    batches = WholeGames(games, parts.train, settings.batch)
    train(model, batches, epochs=settings.epochs, seed=settings.seed, report=report)
    which = np.concatenate([parts.calibration, parts.test])
    cuts = truncate(games.open[which], CUTS, seed=settings.seed)
    game, last = which[cuts.sequence], cuts.length - 1
    with torch.inference_mode():
        logits = model(torch.from_numpy(games.rounds[which])).numpy()
    return Predictions(
        calibration=cuts.sequence < len(parts.calibration),
        sequence=game.astype(np.int32),
        length=cuts.length.astype(np.int32),
        label=games.label[game].astype(np.int8),
        logit=logits[cuts.sequence, last].astype(np.float32),
        difference=games.difference[game, last].astype(np.int8),
        match=games.match[game].astype(np.int32),
    )

"""Example data: simulated matches, and loaders of the paper's datasets."""

from tempocal.datasets.amazon import load_amazon_fine_food
from tempocal.datasets.containers import Rounds, Source, Texts
from tempocal.datasets.cs_rounds import load_cs_rounds
from tempocal.datasets.imdb import load_imdb
from tempocal.datasets.match import Matches, simulate_match

__all__ = [
    "Matches",
    "Rounds",
    "Source",
    "Texts",
    "load_amazon_fine_food",
    "load_cs_rounds",
    "load_imdb",
    "simulate_match",
]


def __dir__() -> list[str]:
    return __all__

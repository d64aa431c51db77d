"""Data to try things on."""

from tempocal.datasets.match import Matches, simulate_match

__all__ = ["Matches", "simulate_match"]

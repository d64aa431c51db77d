"""Intensive care: the survival that is called true is that of simulated patients."""

import numpy as np
import pytest
from validation.__main__ import KINDS, _finish

from validation import icu

needs_chain = pytest.mark.skipif(not icu.tasks(1), reason="icu-sepsis is not installed")


def test_without_the_package_the_table_is_a_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr(icu, "find_spec", lambda _: None)
    kind = KINDS["icu"]
    results = _finish(kind.tasks(3), kind.run, tmp_path / "icu.jsonl", 1)
    assert kind.table(results) == icu.MISSING
    assert "pip install" in icu.MISSING


def three_states(monkeypatch):
    """Two states of patients, death and survival."""
    transitions = np.array([[0.2, 0.3, 0.1, 0.4], [0.1, 0.5, 0.3, 0.1]])
    survival = np.linalg.solve(np.eye(2) - transitions[:, :2], transitions[:, 3])
    monkeypatch.setattr(icu, "PATIENTS", 2)
    monkeypatch.setattr(icu, "SURVIVAL", 3)
    first = np.array([0.5, 0.5, 0.0, 0.0])
    monkeypatch.setattr(icu, "_chain", lambda: icu.Chain(transitions, first, survival))
    return survival


def test_of_those_in_a_state_the_share_that_survives_is_its_probability(monkeypatch):
    survival = three_states(monkeypatch)
    episodes = icu.simulate(20_000, seed=1)
    for p in survival:
        own = episodes.probability == p
        # Rows of an episode share an outcome, which doubles the error of independent ones at most.
        assert abs(episodes.label[own].mean() - p) < 6 * np.sqrt(p * (1 - p) / own.sum())
    assert len(np.unique(episodes.sequence)) == 20_000


def test_rows_of_an_episode_follow_each_other_and_share_a_label(monkeypatch):
    three_states(monkeypatch)
    episodes = icu.simulate(500, seed=2)
    same = episodes.sequence[1:] == episodes.sequence[:-1]
    assert (np.diff(episodes.time)[same] == 1).all()
    assert (episodes.time[1:][~same] == 0).all()
    assert (np.diff(episodes.label)[same] == 0).all()


@needs_chain
def test_the_chain_of_the_package_ends_in_death_or_survival():
    chain = icu._chain()
    assert np.allclose(chain.transitions.sum(axis=1), 1.0)
    assert ((chain.survival > 0) & (chain.survival < 1)).all()
    reached = chain.transitions[:, : icu.PATIENTS] @ chain.survival
    assert np.allclose(reached + chain.transitions[:, icu.SURVIVAL], chain.survival)

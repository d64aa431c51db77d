import numpy as np
from validation.__main__ import KINDS, _finish

from validation import early


def test_without_the_series_it_says_how_to_get_them(monkeypatch, tmp_path):
    monkeypatch.setattr(early, "find_spec", lambda _: None)
    kind = KINDS["early"]
    results = _finish(kind.tasks(3), kind.run, tmp_path / "early.jsonl", 1)
    assert kind.table(results) == early.MISSING


def test_classifiers_know_more_of_longer_beginnings(monkeypatch):
    monkeypatch.setattr(early, "LENGTHS", np.array([0.1, 0.5, 1.0]))
    rng = np.random.default_rng(0)
    label = rng.integers(3, size=400)
    # The classes differ in their slope: what is seen of it grows with the length.
    series = np.outer(label - 1.0, np.linspace(0.0, 2.0, 30)) + rng.normal(size=(400, 30))
    found = early.forecast(series, label)
    assert found.logits.shape == (300 * 3, 3)
    assert (np.diff(found.sequence) >= 0).all()
    right = found.logits.argmax(axis=1) == found.label
    shares = [right[found.time == length].mean() for length in early.LENGTHS]
    assert shares == sorted(shares)
    assert shares[-1] > 0.9

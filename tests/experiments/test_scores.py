"""Scores are those of the paper's tables."""

from dataclasses import replace

import numpy as np
import pytest
from experiments.methods import ROUNDS, TEXT, calibrate
from experiments.predictions import Predictions, read_predictions, write_predictions
from experiments.scores import ERROR, score, stretches

from experiments import scores


def predictions(n=600, *, rounds=False):
    """Texts of several lengths whose logits are too large where few words are seen."""
    rng = np.random.default_rng(0)
    sequence = np.repeat(np.arange(n), 5)
    length = rng.integers(1, 20, 5 * n)
    truth = rng.normal(size=n)[sequence] * np.sqrt(length / 10)
    label = (rng.random(n) < 1 / (1 + np.exp(-truth.reshape(n, 5)[:, -1])))[sequence]
    return Predictions(
        sequence < n // 3,
        sequence.astype(np.int32),
        length.astype(np.int32),
        label.astype(np.int8),
        (truth * (1 + 10 / length)).astype(np.float32),
        (length % 4).astype(np.int8) if rounds else None,
    )


def test_the_file_keeps_everything(tmp_path):
    for rows in (predictions(), predictions(rounds=True)):
        write_predictions(rows, tmp_path / "rows.parquet")
        read = read_predictions(tmp_path / "rows.parquet")
        for name, values in vars(rows).items():
            if values is None:
                assert getattr(read, name) is None
            else:
                np.testing.assert_array_equal(getattr(read, name), values)
                assert getattr(read, name).dtype == values.dtype


def test_stretches_hold_about_as_many_rows():
    test = predictions(3000).part(calibration=False)
    cut = stretches(test, steps=False)
    assert len(cut) == 19  # as many as there are lengths, which share a stretch
    long = Predictions(
        test.calibration,
        test.sequence,
        test.length * 100 + test.sequence % 100,
        test.label,
        test.logit,
    )
    counts = [len(one.rows) for one in stretches(long, steps=False)]
    assert len(counts) == 20
    assert sum(counts) == len(test.label)
    assert max(counts) < 1.1 * min(counts)


@pytest.mark.parametrize(("methods", "steps"), [(TEXT, False), (ROUNDS, True)])
@pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")
def test_every_method_is_scored(methods, steps, monkeypatch):
    rows, calibrated = predictions(rounds=steps), {}

    def kept(method, rows):
        calibrated[method.name] = calibrate(method, rows)
        return calibrated[method.name]

    monkeypatch.setattr(scores, "calibrate", kept)
    found = score(rows, methods, steps=steps)
    assert list(found["methods"]) == [method.name for method in methods]
    test = rows.part(calibration=False)
    for method in methods:
        _, logits = calibrated[method.name]
        proba = 1 / (1 + np.exp(-logits))
        one = found["methods"][method.name]
        expected = np.where(test.label == 1, proba, 1 - proba)
        assert one["nll"] == pytest.approx(-np.log(expected).mean(), abs=1e-6)
        assert one["overall_ece"] == pytest.approx(float(ERROR(test.label, proba)), abs=1e-6)
        assert len(one["ece"]) == len(one["floor"]) == len(found["lengths"])
    along = found["methods"][methods[2].name]
    assert along["nll"] < found["methods"]["No calibration"]["nll"]
    assert np.mean(along["ece"]) < np.mean(found["methods"]["No calibration"]["ece"])


def test_a_model_that_is_too_sure_has_a_finite_loss():
    rows = predictions()
    sure = replace(rows, logit=np.where(rows.label == 1, -500, 500).astype(np.float32))
    raw = score(sure, TEXT[:1], steps=False)["methods"]["No calibration"]
    assert raw["nll"] == pytest.approx(500)

"""Derivative of the estimating function along sequences: compiled, in NumPy, and by differences."""

import numpy as np
import pytest

import tempocal as tc
from support.martingales import simulate_forecasts
from tempocal.calibrators.fit_data import check_rows
from tempocal.inputs import check_time
from tempocal.kernels import native
from tempocal.rows import stored_sequences

CALIBRATORS = [tc.TemperatureScaling(), tc.PlattScaling(), tc.VectorScaling(), tc.MatrixScaling()]


def sequences_of(calibrator, n_classes, *, weighted):
    f = simulate_forecasts(40, n_classes, seed=2)
    key = np.minimum(np.arange(len(f.time)) - np.searchsorted(f.sequence, f.sequence), 3)
    data = check_rows(
        f.true_logits,
        f.label,
        sample_weight=1.0 + f.sequence % 3 if weighted else None,
        groups=None,
        inputs="logits",
        classes=None,
        times=check_time(f.time, len(f.time)),
        sequence=f.sequence,
    ).data.learning_from_forecasts(0.6)
    model = calibrator._family(data).models[0]
    rows = model.problem(key[np.argsort(f.sequence, kind="stable")], 4).rows
    rng = np.random.default_rng(0)
    theta = rng.normal(0.5, 0.3, size=(4, rows.n_coefficients))
    return rows.sequences, theta, rng.normal(size=(4, rows.n_coefficients, 5))


def gradient(sequences, theta, directions):
    """Minus the estimating function, in the unknowns."""
    tables = sequences.group_gradients(theta, np.zeros(sequences.rows.n_rows, dtype=int), 1)
    return sum(np.asarray(one @ directions[:, p])[0] for p, one in enumerate(tables))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=repr)
def test_is_that_of_differences(calibrator, n_classes, weighted, monkeypatch):
    sequences, theta, directions = sequences_of(calibrator, n_classes, weighted=weighted)
    step = 1e-6
    expected = np.stack(
        [
            gradient(sequences, theta + step * directions[:, :, u], directions)
            - gradient(sequences, theta - step * directions[:, :, u], directions)
            for u in range(directions.shape[2])
        ],
        axis=1,
    ) / (2 * step)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(
        sequences.jacobian(theta, directions), expected, rtol=0, atol=1e-7 * scale
    )
    monkeypatch.setattr(stored_sequences, "native", None)
    np.testing.assert_allclose(
        sequences.jacobian(theta, directions), expected, rtol=0, atol=1e-7 * scale
    )


@pytest.mark.skipif(native is None, reason="there are no compiled loops")
def test_indices_beyond_their_arrays_are_refused():
    entries = np.array([[0], [0], [1], [0]], dtype=np.int64)
    good = {
        "jacobian": np.zeros((1, 1)),
        "forecasts": np.full((2, 3), 0.5),
        "features": np.ones((1, 3)),
        "entries": entries,
        "starts": np.array([0, 1], dtype=np.int64),
        "values": np.ones(1),
        "keys": np.array([0, 0, -1], dtype=np.int64),
        "decay": np.array([0.5]),
    }
    native.sequence_jacobian(*good.values())
    wrong = {
        "entries": [entries + np.eye(4, 1, -k, dtype=np.int64) * 7 for k in range(4)],
        "keys": [np.array([0, 0, -2], dtype=np.int64), np.array([1, 0, -1], dtype=np.int64)],
        "starts": [np.array([0, 2], dtype=np.int64), np.array([1, 1], dtype=np.int64)],
        "features": [np.ones((1, 2))],
    }
    for name, values in wrong.items():
        for value in values:
            with pytest.raises(ValueError, match="do not go together"):
                native.sequence_jacobian(*{**good, name: value}.values())

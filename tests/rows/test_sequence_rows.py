"""Rows that learn from the forecasts that follow them: targets, derivatives, fixed points."""

import numpy as np
import pytest

from tempocal.rows import (
    BinaryRows,
    PerClassRows,
    SequenceRows,
    SharedRows,
    StoredSequences,
    stored_sequences,
)

N_CLASSES, N_KEYS, LENGTHS = 3, 4, [1, 5, 2, 9, 4, 7, 3, 6, 2, 8]
N = sum(LENGTHS)
CODES = np.repeat(np.arange(len(LENGTHS)), LENGTHS)


def make(kind, decay=0.7, weighted=True):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(N_CLASSES, N))
    labels = rng.integers(0, N_CLASSES, len(LENGTHS))[CODES]
    common = {
        "weights": rng.random(N) + 0.5 if weighted else None,
        "keys": rng.integers(0, N_KEYS, N),
        "n_keys": N_KEYS,
    }
    if kind == "binary":
        rows = BinaryRows(z[:2], (labels > 0).astype(np.int64), **common)
    elif kind == "shared":
        rows = SharedRows(z, labels, **common)
    else:
        rows = PerClassRows(z, labels, N_CLASSES, diagonal=kind == "diagonal", **common)
    return StoredSequences(rows, CODES, decay)


every_kind = pytest.mark.parametrize("kind", ["binary", "shared", "diagonal", "full"])


def random_theta(rows, seed=1):
    return np.random.default_rng(seed).normal(size=(rows.n_keys, rows.n_coefficients))


def estimating_function(sequences, theta):
    """Psi by key and coefficient: minus the gradient with the targets at theta."""
    gradient = sequences.rows.sums(theta).gradient + sequences.linear_term(theta)
    return -gradient


def written_out_targets(p, y, decay):
    targets = np.empty_like(p)
    for row in range(N - 1, -1, -1):
        if row == N - 1 or CODES[row + 1] != CODES[row]:
            targets[:, row] = y[:, row]
        else:
            targets[:, row] = (1 - decay) * p[:, row + 1] + decay * targets[:, row + 1]
    return targets


@every_kind
@pytest.mark.parametrize("decay", [0.0, 0.6, 1.0])
def test_targets_are_the_written_out_ones(kind, decay):
    sequences = make(kind, decay)
    theta = random_theta(sequences.rows)
    p, y = sequences.rows.forecasts(theta), sequences.rows.outcomes()
    np.testing.assert_allclose(
        sequences.residuals(theta), written_out_targets(p, y, decay) - p, atol=1e-12
    )


@every_kind
def test_forecasts_and_features_give_the_gradient(kind):
    """With outcomes as targets Psi is minus the gradient of the loss."""
    sequences = make(kind, decay=1.0)
    theta = random_theta(sequences.rows)
    np.testing.assert_allclose(sequences.linear_term(theta), 0.0, atol=1e-12)


@every_kind
@pytest.mark.parametrize("weighted", [False, True])
def test_the_jacobian_matches_finite_differences(kind, weighted):
    sequences = make(kind, weighted=weighted)
    rows = sequences.rows
    theta = random_theta(rows)
    directions = np.random.default_rng(2).normal(size=(*theta.shape, 3))
    found = sequences.jacobian(theta, directions)
    for unknown in range(3):
        step = 1e-6 * directions[:, :, unknown]
        change = estimating_function(sequences, theta - step) - estimating_function(
            sequences, theta + step
        )
        expected = np.einsum("tpc,tp->c", directions, change / 2e-6)
        np.testing.assert_allclose(found[:, unknown], expected, rtol=1e-6, atol=1e-7)


@every_kind
def test_gradients_by_group_add_up(kind):
    sequences = make(kind)
    theta = random_theta(sequences.rows)
    tables = sequences.group_gradients(theta, CODES, len(LENGTHS))
    total = np.stack([np.asarray(table.sum(axis=0)).ravel() for table in tables], axis=1)
    np.testing.assert_allclose(total, -estimating_function(sequences, theta), atol=1e-12)


@every_kind
def test_scores_of_the_past_match_a_model_with_that_feature(kind):
    """Their slopes are the derivatives of the summed scores, but for that of the feature."""
    sequences = make(kind)
    theta = random_theta(sequences.rows)
    directions = np.random.default_rng(2).normal(size=(*theta.shape, 2))
    p, y = sequences.rows.forecasts(theta), sequences.rows.outcomes()
    log_odds = np.log(p) - (np.log1p(-p) if kind == "binary" else np.log(p).mean(axis=0))
    before, mean = np.zeros_like(p), np.zeros_like(p)
    for row in range(1, N):
        first = int(np.argmax(CODES[row] == CODES))
        if first < row:
            before[:, row] = log_odds[:, row - 1]
            mean[:, row] = log_odds[:, first:row].mean(axis=1)
    weights = sequences.rows.input_weights
    found = sequences.past_scores(theta, directions, CODES, len(LENGTHS))
    for one, feature in zip(found, (before, mean), strict=True):
        scores = weights * ((y - p) * feature).sum(axis=0)
        np.testing.assert_allclose(one.by_group, np.bincount(CODES, scores), atol=1e-12)
        for unknown in range(2):
            step = 1e-6 * directions[:, :, unknown]
            change = sequences.rows.forecasts(theta + step) - sequences.rows.forecasts(theta - step)
            expected = (weights * (change / 2e-6 * feature).sum(axis=0)).sum()
            np.testing.assert_allclose(one.slopes[unknown], expected, rtol=1e-6, atol=1e-8)


@every_kind
def test_parts_of_whole_sequences_add_up(kind, monkeypatch):
    whole = make(kind)
    theta = random_theta(whole.rows)
    directions = np.random.default_rng(2).normal(size=(*theta.shape, 3))
    expected = whole.linear_term(theta), whole.jacobian(theta, directions)
    monkeypatch.setattr(stored_sequences, "BLOCK", 8)
    monkeypatch.setattr(stored_sequences, "BLOCK_NUMBERS", 60)
    parts = make(kind)
    assert [len(part.codes) for part in parts._parts(8)] == [8, 9, 11, 9, 10]
    np.testing.assert_allclose(parts.linear_term(theta), expected[0], atol=1e-12)
    np.testing.assert_allclose(parts.jacobian(theta, directions), expected[1], atol=1e-12)


def test_the_minimum_whose_targets_are_its_own_is_the_root():
    sequences = make("binary")
    rows = SequenceRows(sequences.rows, sequences)
    theta = np.zeros((N_KEYS, 2))
    # Newton's method by hand, with a ridge; each key has its own coefficients.
    ridge = np.eye(2)
    for _ in range(200):
        rows.move_to(theta)
        for _ in range(10):
            sums = rows.sums(theta)
            step = np.linalg.solve(sums.hessian + ridge, (sums.gradient + theta)[:, :, None])
            theta = theta - step[:, :, 0]
    np.testing.assert_allclose(estimating_function(sequences, theta), theta, atol=1e-9)

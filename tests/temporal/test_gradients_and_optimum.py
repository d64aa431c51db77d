"""Fits against scipy on the objective written out from logits, times and labels."""

import numpy as np
import pytest
from scipy.interpolate import BSpline
from scipy.optimize import approx_fprime, minimize, minimize_scalar
from scipy.special import log_softmax

import tempocal as tc

pytestmark = pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")

STEPS = np.array([0, 1, 2, 3, 5, 8, 9, 12, 20, 21])
STRENGTH, SMOOTHNESS = (2.0, 0.7), 0.3


def simulate(n_classes, n=250, seed=0):
    rng = np.random.default_rng(seed)
    t = rng.choice(STEPS, size=n)
    t[: len(STEPS)] = STEPS
    slope = 1 - 0.7 * np.exp(-t / 4)
    if n_classes == 2:
        z = 2 * rng.normal(size=n)
        return z, t, (rng.random(n) < 1 / (1 + np.exp(-slope * z - 0.3))).astype(int)
    z = 2 * rng.normal(size=(n, n_classes))
    return z, t, (slope[:, None] * z + rng.gumbel(size=z.shape)).argmax(axis=1)


# What each coefficient multiplies: (rows, logits, coefficients). One logit is a sigmoid.


def scale(z):
    return z.reshape(len(z), -1, 1)


def line(z):
    return np.stack([z, np.ones_like(z)], axis=1)[:, None, :]


def beta(z):
    return np.stack([-np.logaddexp(0, -z), np.logaddexp(0, z), np.ones_like(z)], axis=1)[:, None]


def diagonal(z):
    n, k = z.shape
    features = np.zeros((n, k, k, 2))
    features[:, np.arange(k), np.arange(k), 0] = z
    features[:, np.arange(k), np.arange(k), 1] = 1.0
    return features.reshape(n, k, 2 * k)


def full(x):
    n, k = x.shape
    features = np.zeros((n, k, k, k + 1))
    for c in range(k):
        features[:, c, c, :k] = x
        features[:, c, c, k] = 1.0
    return features.reshape(n, k, k * (k + 1))


def dirichlet(z):
    return full(log_softmax(z, axis=1))


# Features, identity, which are biases, which are not penalized, lower bounds.
MODELS = {
    "temperature": (tc.TemperatureScaling, 2, scale, [1], [0], [0], [1e-9]),
    "temperature, three classes": (tc.TemperatureScaling, 3, scale, [1], [0], [0], [1e-9]),
    "platt": (tc.PlattScaling, 2, line, [1, 0], [0, 1], [0, 0], [-np.inf] * 2),
    "vector": (tc.VectorScaling, 3, diagonal, [1, 0] * 3, [0, 1] * 3, [0] * 6, [-np.inf] * 6),
    "beta": (tc.BetaCalibration, 2, beta, [1, 1, 0], [0, 0, 1], [0] * 3, [0, 0, -np.inf]),
    "dirichlet, l2": (
        tc.DirichletCalibration,
        3,
        dirichlet,
        np.eye(3, 4).ravel(),
        [0, 0, 0, 1] * 3,
        [0] * 12,
        [-np.inf] * 12,
    ),
    "dirichlet, odir": (
        tc.DirichletCalibration,
        3,
        dirichlet,
        np.eye(3, 4).ravel(),
        [0, 0, 0, 1] * 3,
        np.eye(3, 4).ravel(),
        [-np.inf] * 12,
    ),
    "matrix, l2": (
        tc.MatrixScaling,
        3,
        full,
        np.eye(3, 4).ravel(),
        [0, 0, 0, 1] * 3,
        [0] * 12,
        [-np.inf] * 12,
    ),
}
every_model = pytest.mark.parametrize("model", MODELS)


class Objective:
    """Summed negative log likelihood plus the penalties, of a table of coefficients."""

    def __init__(self, model, basis, level, smooth=None, seed=0):
        kind, n_classes, features, identity, biases, free, lower = MODELS[model]
        self.z, self.t, self.y = simulate(n_classes, seed=seed)
        self.features = np.ascontiguousarray(features(self.z))
        self.basis = basis  # (rows, functions)
        self.identity = np.asarray(identity, dtype=float)
        self.lower = lower
        bias, free = np.asarray(biases, dtype=bool), np.asarray(free, dtype=bool)
        self.strengths = np.where(bias, STRENGTH[1], np.where(free, 0.0, STRENGTH[0]))
        if kind is tc.TemperatureScaling:
            self.strengths = np.array([STRENGTH[0]])
        self.level = level
        self.smooth = np.zeros_like(level) if smooth is None else smooth

    def __call__(self, flat):
        table = flat.reshape(-1, len(self.identity))
        eta = np.einsum("nkp,np->nk", self.features, self.basis @ table)
        n = np.arange(len(self.y))
        if eta.shape[1] == 1:
            margin = (2 * self.y - 1) * eta[:, 0]
            loss = np.logaddexp(0, -margin).sum()
            residual = (1 / (1 + np.exp(-eta[:, 0])) - self.y)[:, None]
        else:
            log_p = log_softmax(eta, axis=1)
            loss = -log_p[n, self.y].sum()
            residual = np.exp(log_p)
            residual[n, self.y] -= 1
        gradient = self.basis.T @ np.einsum("nk,nkp->np", residual, self.features)
        offset = table - self.identity
        penalty_gradient = self.level @ offset * self.strengths + SMOOTHNESS * self.smooth @ offset
        return loss + 0.5 * (offset * penalty_gradient).sum(), (gradient + penalty_gradient).ravel()

    def hessian(self, flat):
        table = flat.reshape(-1, len(self.identity))
        eta = np.einsum("nkp,np->nk", self.features, self.basis @ table)
        n, k, width = self.features.shape
        # How every logit of every row changes with every coefficient.
        design = np.einsum("nm,nkp->nkmp", self.basis, self.features).reshape(n, k, -1)
        if k == 1:
            p = 1 / (1 + np.exp(-eta))
            weighed = (p * (1 - p))[:, :, None] * design
        else:
            p = np.exp(log_softmax(eta, axis=1))[:, :, None]
            weighed = p * (design - (p * design).sum(axis=1, keepdims=True))
        penalty = np.kron(self.level, np.diag(self.strengths))
        penalty += SMOOTHNESS * np.kron(self.smooth, np.eye(width))
        return np.tensordot(design, weighed, axes=([0, 1], [0, 1])) + penalty

    def best(self, start=None):
        """Minimize by scipy: with the Hessian, or with bounds where that goes beyond them."""
        count = self.basis.shape[1]
        lower = np.tile(self.lower, count)
        start = np.tile(self.identity, count) if start is None else start
        found = minimize(self, start, jac=True, hess=self.hessian, method="trust-exact")
        if (found.x >= lower).all():
            return found
        bounds = [(low, None) for low in lower]
        options = {"maxiter": 20_000, "maxfun": 50_000, "maxcor": 50, "ftol": 1e-13, "gtol": 1e-8}
        return minimize(self, start, jac=True, bounds=bounds, options=options)


def fitted(model, curve):
    kind, n_classes, *_ = MODELS[model]
    z, t, y = simulate(n_classes)
    strength = STRENGTH[0] if kind is tc.TemperatureScaling else STRENGTH
    settings = (
        {"regularization": model.split(", ")[1]} if ", l2" in model or "odir" in model else {}
    )
    if kind is tc.PlattScaling:
        settings = {"smooth_targets": False}
    cal = tc.TemporalCalibrator(kind(shrinkage=strength, **settings), curve)
    return cal.fit(z, y, time=t)


def coefficients(cal, times):
    """Coefficients at some times, in the order of the features."""
    shown = cal.parameters_at(times)
    parts = [shown[name].reshape(len(times), -1) for name in shown]
    if "weights" not in shown:
        return np.concatenate(parts, axis=1)
    n_classes = parts[1].shape[1]
    weights = parts[0].reshape(len(times), n_classes, -1)
    return np.concatenate([weights, parts[1][:, :, None]], axis=2).reshape(len(times), -1)


def assert_is_the_minimum(objective, table, best):
    value = objective(table.ravel())[0]
    n = len(objective.y)
    assert value <= best.fun + 1e-7 * n
    # And scipy came near it: the objective is the same.
    assert value >= best.fun - 1e-5 * n


def spline_basis(t, times, clock):
    """Cubic B-splines of four intervals at some times, on the clock of the fit to ``t``."""
    since, span = times - t.min(), np.ptp(t)
    if clock == "log":
        # An eighth of the median time since the first.
        unit = max(np.sort(t - t.min())[(len(t) + 1) // 2 - 1] / 8, span / 1000)
        since, span = np.log1p(since / unit), np.log1p(span / unit)
    return BSpline.design_matrix(np.clip(since / span, 0, 1), np.arange(-3, 8) / 4, 3).toarray()


@pytest.mark.parametrize(
    ("model", "clock"), [*((model, "log") for model in MODELS), ("platt", "time"), ("beta", "time")]
)
def test_spline(model, clock):
    cal = fitted(model, tc.Spline(intervals=4, clock=clock, smoothness=SMOOTHNESS))
    t = simulate(MODELS[model][1])[1]
    turns = np.diff(np.eye(7), n=2, axis=0)
    # A parabola that rises by 1 and falls again has second differences of 8 / 4**2.
    roughness = turns.T @ turns / (5 * (8 / 16) ** 2)
    objective = Objective(model, spline_basis(t, t, clock), np.eye(7), roughness)
    everywhere = np.linspace(t.min(), t.max(), 100)
    matrix, drawn = spline_basis(t, everywhere, clock), coefficients(cal, everywhere)
    table = np.linalg.lstsq(matrix, drawn, rcond=None)[0]
    np.testing.assert_allclose(matrix @ table, drawn, atol=1e-9)
    assert_is_the_minimum(objective, table, objective.best())


@every_model
def test_random_walk(model):
    cal = fitted(model, tc.RandomWalk(smoothness=SMOOTHNESS))
    t = simulate(MODELS[model][1])[1]
    basis = (t[:, None] == STEPS).astype(float)
    steps = np.diff(np.eye(len(STEPS)), axis=0)
    shares = np.diff(STEPS) / np.ptp(STEPS)
    walk = steps.T @ np.diag(1 / shares) @ steps
    objective = Objective(model, basis, np.eye(len(STEPS)), walk)
    assert_is_the_minimum(objective, coefficients(cal, STEPS), objective.best())


@every_model
def test_one_model_per_step(model):
    cal = fitted(model, tc.PerStep())
    t = simulate(MODELS[model][1])[1]
    objective = Objective(model, (t[:, None] == STEPS).astype(float), np.eye(len(STEPS)))
    assert_is_the_minimum(objective, coefficients(cal, STEPS), objective.best())


def exponential(model, rate):
    """The objective in the limit and the first value; rates are per range of time."""
    t = simulate(MODELS[model][1])[1]
    decay = np.exp(-rate * (t - t.min()) / np.ptp(t))
    last = np.exp(-rate)
    ends = np.array([[0.0, 1.0], [1 - last, last]])
    return Objective(model, np.stack([1 - decay, decay], axis=1), 0.5 * ends.T @ ends)


@every_model
def test_exponential(model):
    cal = fitted(model, tc.ExponentialDecay())
    objective = exponential(model, cal.beta_ * np.ptp(STEPS))
    table = np.concatenate([coefficients(cal, [1e9]), coefficients(cal, STEPS[:1])])
    value = objective(table.ravel())[0]

    start = table.ravel()

    def profile(log_rate):
        nonlocal start
        found = exponential(model, np.exp(log_rate)).best(start)
        start = found.x
        return found.fun

    grid = np.log(np.geomspace(1e-2, 1e3, 10))
    values = [profile(rate) for rate in grid]
    near = grid[int(np.argmin(values))]
    closer = minimize_scalar(
        profile, bounds=(near - 1.3, near + 1.3), method="bounded", options={"maxiter": 10}
    )
    best = min(closer.fun, *values)
    n = len(objective.y)
    assert value <= best + 1e-7 * n
    assert value >= best - 1e-4 * n


def test_gradients_that_are_written_out_above_are_right():
    for model in MODELS:
        objective = exponential(model, 3.0)
        x = np.tile(objective.identity, 2) + 0.1 * np.random.default_rng(0).normal(
            size=2 * len(objective.identity)
        )
        numeric = approx_fprime(x, lambda v, f=objective: f(v)[0], 1e-6)
        np.testing.assert_allclose(objective(x)[1], numeric, atol=2e-2)


def test_smoothed_targets_of_platt_are_those_of_all_rows():
    z, t, y = simulate(2)
    cal = tc.TemporalCalibrator(tc.PlattScaling(shrinkage=STRENGTH), tc.PerStep())
    table = coefficients(cal.fit(z, y, time=t), STEPS)
    objective = Objective("platt", (t[:, None] == STEPS).astype(float), np.eye(len(STEPS)))
    positive, total = y.sum(), len(y)
    high, low = (positive + 1) / (positive + 2), 1 / (total - positive + 2)
    targets = np.where(y == 1, high, low)

    def smoothed(flat):
        value, gradient = objective(flat)
        coefs = objective.basis @ flat.reshape(-1, 2)
        eta = np.einsum("np,np->n", objective.features[:, 0], coefs)
        shift = (objective.y - targets)[:, None] * objective.features[:, 0]
        value += ((objective.y - targets) * eta).sum()
        return value, gradient + (objective.basis.T @ shift).ravel()

    best = minimize(smoothed, table.ravel() * 0.5, jac=True, options={"gtol": 1e-9})
    assert smoothed(table.ravel())[0] <= best.fun + 1e-7 * total

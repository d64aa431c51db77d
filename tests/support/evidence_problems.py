"""Problems along a curve whose strengths are chosen by evidence."""

import numpy as np

import tempocal as tc
from tempocal.rows import BinaryRows
from tempocal.solve import Penalty, Problem, fit
from tempocal.solve.evidence import log_evidence

STEPS = 15
CURVES = {"spline": tc.Spline(intervals=5), "random walk": tc.RandomWalk()}
TRUTHS = {
    "rising": lambda t: 1 - 0.7 * np.exp(-t / 4),
    "flat": lambda t: 0.6 + 0 * t,
    "wild": lambda t: 1 + 0.8 * np.sin(t),
    "true already": lambda t: 1.0 + 0 * t,
}


def problem_of(curve, truth, *, platt, n=600, seed=0, repeat=1):
    rng = np.random.default_rng(seed)
    t = rng.integers(0, STEPS, size=n)
    z = 2 * rng.normal(size=n)
    y = (rng.random(n) < 1 / (1 + np.exp(-TRUTHS[truth](t) * z))).astype(float)
    t, z, y = (np.repeat(one, repeat) for one in (t, z, y))
    features = np.stack([z, np.ones_like(z)]) if platt else z[None]
    identity = np.array([1.0, 0.0]) if platt else np.array([1.0])
    is_bias = np.diag((identity == 0).astype(float))
    is_slope = np.eye(len(identity)) - is_bias
    times = np.arange(float(STEPS))
    shape = CURVES[curve].track(times, None).shape(())
    count = shape.basis.n_functions
    pairs = [("slopes", np.eye(count), is_slope), ("biases", np.eye(count), is_bias)]
    pairs += [
        ("rough slopes", shape.smooth[0], is_slope),
        ("rough biases", shape.smooth[0], is_bias),
    ]
    return Problem(
        rows=BinaryRows(features, y, keys=t.astype(np.intp), n_keys=STEPS),
        basis=shape.basis(times),
        identity=np.tile(identity, count),
        penalties=tuple(Penalty(name, np.kron(matrix, which)) for name, matrix, which in pairs),
        lower=np.tile(np.where(identity == 0, -np.inf, 1e-6), count),
        baseline_penalty=np.zeros(count * len(identity)),
        moment=np.ones((1, 1)),
    )


def evidence_at(problem, strengths):
    """Evidence of the fit at some strengths, exactly refitted."""
    return log_evidence(problem, fit(problem, strengths), strengths, 1.0)

"""Models of every kind with random numbers, and rows for them."""

from typing import Any

import numpy as np

from tempocal.formula.links import log
from tempocal.formula.nodes import Column, Number, absolute
from tempocal.inputs import as_logits
from tempocal.links import log_odds, one_column, sigmoid
from tempocal.maps import FORMS as KNOWN_FORMS
from tempocal.maps import (
    Affine,
    Average,
    Beta,
    BinBasis,
    ConstantBasis,
    ExponentialBasis,
    ExpressionBasis,
    FeatureForm,
    FeatureMap,
    Knots,
    Line,
    MapPerStep,
    OneVsRest,
    ProductBasis,
    Scale,
    SplineBasis,
    StepBasis,
    Steps,
    curves_of,
)
from tempocal.predictor import Predictor

GLOBAL = ["scale", "line", "beta", "features", "steps", "knots", "diagonal", "full", "dirichlet"]
FORMS = ["scale", "lines", "betas", "features", "diagonal", "full", "full_of_log_proba"]
BASES = [
    "constant",
    "exponential",
    "formulas",
    "spline",
    "log spline",
    "nearest",
    "interpolate",
    "bins",
]
ODDS, TIME = Column("odds"), Column("time")
FEATURES = FeatureForm((ODDS, ODDS * absolute(ODDS), Number(1.0)), ("slope", "curvature", "bias"))


def random_model(seed: int) -> Predictor:
    """Return any model: of two to four classes, global, along one clock or two."""
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 5))
    columns = int(rng.choice([1, 2])) if n_classes == 2 else n_classes
    inputs: Any = rng.choice(["logits", "proba"])
    kind = rng.choice(["global", "curves", "surface", "per step", "average"])
    fitted, clocks = _map(rng, kind, n_classes, columns)
    return Predictor(
        f"{kind} {n_classes}", np.arange(n_classes), inputs, columns, fitted, ("number",) * clocks
    )


def _map(rng: Any, kind: str, n_classes: int, columns: int) -> tuple[Any, int]:
    if kind == "global":
        return global_map(rng, rng.choice(GLOBAL), n_classes, columns), 0
    if kind == "per step":
        name = rng.choice(["steps", "knots"])
        basis = random_basis(rng, rng.choice(["nearest", "bins"]))
        maps = [global_map(rng, name, n_classes, columns) for _ in range(basis.n_functions)]
        return MapPerStep(basis, tuple(maps)), 1
    if kind == "average":
        count = int(rng.integers(2, 5))
        members = tuple(_curves(rng, "curves", n_classes, columns) for _ in range(count))
        return Average(rng.dirichlet(np.ones(count)), members), 1
    return _curves(rng, kind, n_classes, columns), 2 if kind == "surface" else 1


def _curves(rng: Any, kind: str, n_classes: int, columns: int) -> Any:
    basis = random_basis(rng, rng.choice(BASES))
    if kind == "surface":
        basis = ProductBasis(basis, random_basis(rng, rng.choice(BASES)))
    form = rng.choice(FORMS if columns > 1 else FORMS[:4])
    known = FEATURES if form == "features" else KNOWN_FORMS[form]
    return curves_of(known, *_tables(rng, form, basis, n_classes))


def _tables(rng: Any, form: str, basis: Any, n_classes: int) -> tuple[Any, Any]:
    n_models = n_classes if form in FORMS[1:4] and n_classes > 2 else 1
    widths = {"scale": 1, "lines": 2, "betas": 3, "features": 3, "diagonal": 2 * n_classes}
    width = widths.get(form, n_classes * (n_classes + 1))
    tables = tuple(rng.uniform(0.1, 2.0, (basis.n_functions, width)) for _ in range(n_models))
    return (basis,) * n_models, tables


def global_map(rng: Any, name: str, n_classes: int, columns: int) -> Any:
    if name == "scale":
        return Scale(float(rng.uniform(0.1, 3.0)))
    if name in ("diagonal", "full", "dirichlet"):
        if columns == 1:
            name = "dirichlet"
        shape = n_classes if name == "diagonal" else (n_classes, n_classes)
        bias = rng.normal(size=n_classes)
        return Affine(rng.normal(1.0, 0.5, shape), bias, of_log_proba=name == "dirichlet")
    return OneVsRest(tuple(_one(rng, name) for _ in range(1 if n_classes == 2 else n_classes)))


def _one(rng: Any, name: str) -> Any:
    if name == "line":
        return Line(float(rng.uniform(0.1, 3.0)), float(rng.normal()))
    if name == "beta":
        return Beta(*rng.uniform(0.0, 2.0, 2).tolist(), float(rng.normal()))
    if name == "features":
        return FeatureMap(FEATURES.features, FEATURES.names, rng.uniform(0.1, 2.0, 3))
    positions = np.sort(rng.choice(np.arange(-40, 41), int(rng.integers(1, 30)), replace=False)) / 8
    if name == "steps":
        return Steps(positions, rng.choice([0.0, 1.0, *rng.random(8)], len(positions) + 1))
    return Knots(positions, np.sort(rng.choice([0.0, 1.0, *rng.random(8)], len(positions))))


def random_basis(rng: Any, name: str) -> Any:
    first = float(rng.choice([0.0, -3.0, 1.7e9]))
    if name == "constant":
        return ConstantBasis()
    if name == "exponential":
        return ExponentialBasis(float(10 ** rng.uniform(-4, 2)), first)
    if name in ("spline", "log spline"):
        unit = float(rng.uniform(0.05, 1.0)) if name == "log spline" else 0.0
        return SplineBasis(first, first + 10.0, unit, float(rng.integers(1, 9)))
    if name == "formulas":
        passed = log((TIME - first) / 2.0 + 1.0) / float(np.log1p(5.0))
        return ExpressionBasis(first, first + 10.0, (1.0 - passed, passed))
    times = first + np.unique(rng.integers(0, 40, int(rng.integers(1, 20)))).astype(float)
    return BinBasis(times) if name == "bins" else StepBasis(times, name)


def random_rows(model: Predictor, seed: int, n: int = 60) -> tuple[Any, Any]:
    """Return predictions and times (None for a global model), ordinary and extreme ones."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, model.columns)) * 10.0 ** rng.choice([0, 0, 0, 1, 2, 3, 6, 15], (n, 1))
    if model.inputs == "proba":
        return _random_proba(rng, np.clip(z, -700, 700)), _times(rng, model, n)
    if model.columns == 1:
        z[:2, 0] = np.inf, -np.inf
        z[2:6, 0] = [0.5, -0.5, 0.0, 5.0]  # on edges
    else:
        # Beside a logit of 1e15 a certain one, 36.7 above it, has but its first digit.
        z[:4] = rng.normal(size=(4, model.columns))
        z[0, 0], z[1, -1], z[2], z[3, 0] = np.inf, -np.inf, -np.inf, -np.inf
        z[2, 1], z[3, 1] = np.inf, 1e3
    return z, _times(rng, model, n)


def _random_proba(rng: Any, z: Any) -> Any:
    z[:2] = [[700.0], [-700.0]]
    if z.shape[1] == 1:
        return 1.0 / (1.0 + np.exp(-z))
    shares = np.exp(z - z.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def _times(rng: Any, model: Predictor, n: int) -> Any:
    clocks = len(model.time_kinds)
    if not clocks:
        return None
    starts = rng.choice([0.0, -3.0, 1.7e9], (n, clocks))
    times = starts + rng.choice([rng.uniform(-5, 50, n), rng.integers(-5, 50, n) / 2.0])[:, None]
    times[:2] = [[8e300], [-8e300]]
    return times[:, 0] if clocks == 1 else times


def columns_of(z: Any, time: Any) -> dict[str, Any]:
    """Return rows as named columns z0, z1, ... and t0, t1."""
    z2 = np.asarray(z).reshape(len(z), -1)
    named = {f"z{k}": column for k, column in enumerate(z2.T)}
    if time is not None:
        t2 = np.asarray(time).reshape(len(z), -1)
        named |= {f"t{k}": column for k, column in enumerate(t2.T)}
    return named


def names(model: Predictor) -> tuple[list[str], list[str]]:
    """Return the names of the columns of predictions and of times."""
    return (
        [f"z{k}" for k in range(model.columns)],
        [f"t{k}" for k in range(len(model.time_kinds))],
    )


def assert_same(
    found: Any,
    wanted: Any,
    z: Any,
    *,
    relative: float = 1e-12,
    floor: float = 1e-300,
    room: Any = 0.0,
) -> None:
    """Compare to 1e-12, or as said, and to a few last digits of the logits where those are large.

    Relative in each probability, down to where a double has no more digits for it; ``room`` is an
    absolute error that is allowed on top of that, such as `rounding_of_odds`.
    """
    largest = np.abs(np.where(np.isfinite(z), z, 0.0)).reshape(len(wanted), -1).max(axis=1)
    tolerance = (relative + 256 * 2.0**-53 * np.minimum(largest, 1e4))[:, None]
    worst = np.abs(found - wanted) - tolerance * wanted - room
    assert np.isfinite(found).all()
    assert worst.max() <= floor


def rounding_of_odds(model: Predictor, z: Any, time: Any = None) -> Any:
    """Return by how much rounded log-odds move each probability (n, K) of steps and knots.

    A line from a knot of probability 0 is ``p = slope * (odds - knot)``: an error e of the odds is
    one of ``slope * e / p`` relative to p, without bound towards the knot. No bound relative to p
    holds there, for whoever works it out: at p = 4e-6 both `predict_proba` and the formula have
    been 6e-12 off what 60 digits give, and within 3 units of the last digit of the odds.

    The odds of a class take some eight operations from the input on, each of which rounds a number
    of at most ``1 + |odds|``; two ways of working them out differ by twice that. Then
    ``p = c_k / sum c`` of the probabilities c of each class against the rest moves by
    ``(|e_k| + p * sum |e|) / sum c``.
    """
    logits = as_logits(z, model.inputs, name="z")
    room = np.zeros((len(logits), len(model.classes)))
    for rows, maps in _binned_maps(model, time, len(logits)):
        part = logits[rows]
        odds = [one_column(part)] if len(maps) == 1 else log_odds(part).T
        pairs = [_moved(one, each) for one, each in zip(maps, odds, strict=True)]
        chances, errors = (np.stack(each, axis=1) for each in zip(*pairs, strict=True))
        if len(maps) == 1:
            room[rows] = errors
            continue
        total = np.maximum(chances.sum(axis=1, keepdims=True), 1e-300)
        room[rows] = (errors + chances / total * errors.sum(axis=1, keepdims=True)) / total
    return room


def _binned_maps(model: Predictor, time: Any, n: int) -> Any:
    """Yield rows that share maps of steps or knots, and those maps."""
    fitted = model.map
    if isinstance(fitted, MapPerStep):
        codes = fitted.basis.codes(np.asarray(time, dtype=float).reshape(n, -1)[:, 0])
        groups = [(codes == code, fitted.maps[code]) for code in np.unique(codes)]
    else:
        groups = [(np.ones(n, dtype=bool), fitted)]
    for rows, one in groups:
        if isinstance(one, OneVsRest) and isinstance(one.maps[0], Steps | Knots):
            yield rows, one.maps


def _moved(fitted: Any, odds: Any) -> tuple[Any, Any]:
    """Return probabilities, and how far they are from those of odds that rounding has moved."""
    moved = 16 * 2.0**-53 * (1.0 + np.abs(odds))
    at, below, above = (sigmoid(fitted(odds + shift)) for shift in (0.0, -moved, moved))
    return at, np.maximum(np.abs(above - at), np.abs(below - at))

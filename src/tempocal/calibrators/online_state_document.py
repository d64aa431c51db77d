"""What a calibrator has learned as a dictionary of numbers, and back."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tempocal.calibrators.linear_model import Standardization
from tempocal.calibrators.online_state import OnlineState
from tempocal.errors import DamagedModelFileError
from tempocal.links import Array
from tempocal.predictor.document import ROUGH_EFFECT, list_from
from tempocal.predictor.entries import require_keys
from tempocal.solve import MovingTargets, Posterior, Scatter

_KEYS = {"class_weights", "times", "weights", "models"}
_ARRAYS = ("theta", "gradient", "curvature")
# Entries of the file, and the fields of a posterior that they hold.
_NUMBERS = {
    "strengths": "strengths",
    "wanted": "fixed_strengths",
    "weakest": "min_strengths",
    "log_rates": "log_rates",
}
_STANDARDS = "standards"
_KEYS_OF_A_MODEL = {*_ARRAYS, *_NUMBERS, "scatter", "effect", "noise"}
# There only where rows learned from forecasts.
_MOVING, _KEYS_OF_MOVING = "moving", ("jacobian", "squares", "count")


def learned_to_dict(learned: OnlineState) -> dict[str, Any]:
    """Return names and numbers only."""
    coordinates = {_STANDARDS: [_standard_to_list(one) for one in learned.standardizations]}
    return {
        # Files of ordinary logits have none.
        **(coordinates if any(learned.standardizations) else {}),
        "class_weights": learned.class_weights.tolist(),
        "times": learned.times.tolist(),
        "weights": learned.time_weights.tolist(),
        "models": [_posterior_to_dict(one) for one in learned.posteriors],
    }


def learned_from_dict(content: Any, n_models: int, n_classes: int) -> OnlineState:
    """Return what `learned_to_dict` described; anything else is refused."""
    known = _KEYS | (
        {_STANDARDS} if isinstance(content, Mapping) and _STANDARDS in content else set()
    )
    require_keys(content, known)
    models = [_posterior_from_dict(one) for one in list_from(content["models"], "models")]
    learned = OnlineState(
        tuple(models),
        class_weights=_array(content["class_weights"], "class_weights"),
        times=_array(content["times"], "times"),
        time_weights=_array(content["weights"], "weights"),
        standardizations=_standards_from(content.get(_STANDARDS, []), n_models),
        in_model_file=True,
    )
    along = learned.times.ndim in (1, 2) and learned.time_weights.shape == learned.times.shape[:1]
    if len(models) != n_models or learned.class_weights.shape != (n_classes,) or not along:
        raise DamagedModelFileError("what was learned is not of this model")
    return learned


def _posterior_to_dict(posterior: Posterior) -> dict[str, Any]:
    scatter = posterior.scatter
    return {
        **{name: getattr(posterior, name).tolist() for name in _ARRAYS},
        **{name: list(getattr(posterior, field)) for name, field in _NUMBERS.items()},
        "scatter": scatter and [scatter.squares.tolist(), scatter.counts.tolist()],
        "effect": posterior.effect,
        "noise": None if posterior.noise is None else posterior.noise.tolist(),
        **({} if posterior.moving is None else {_MOVING: _moving_to_dict(posterior.moving)}),
        **({} if posterior.rough_effect is None else {ROUGH_EFFECT: posterior.rough_effect}),
    }


def _moving_to_dict(moving: MovingTargets) -> dict[str, Any]:
    return {
        "jacobian": moving.jacobian.tolist(),
        "squares": moving.squares.tolist(),
        "count": moving.count,
    }


def _moving_from_dict(content: Any, size: int) -> MovingTargets:
    require_keys(content, set(_KEYS_OF_MOVING))
    jacobian, squares, count = (_array(content[name], name) for name in _KEYS_OF_MOVING)
    if jacobian.shape != (size, size) or squares.shape != (size, size):
        raise DamagedModelFileError("the parts of what was learned do not go together")
    if not np.allclose(squares, squares.T) or (np.diag(squares) < 0.0).any():
        raise DamagedModelFileError("the squares of what was learned are those of no numbers")
    if count.shape != () or not count > 0.0:
        raise DamagedModelFileError("the number of groups that were learned must be above 0")
    return MovingTargets(jacobian, squares, float(count))


def _posterior_from_dict(content: Any) -> Posterior:
    require_keys(content, _KEYS_OF_A_MODEL, {_MOVING, ROUGH_EFFECT})
    values: dict[str, Any] = {name: _array(content[name], name) for name in _ARRAYS}
    values.update({field: _numbers(content[name], name) for name, field in _NUMBERS.items()})
    scatter = None
    if content["scatter"] is not None:
        parts = list_from(content["scatter"], "scatter")
        scatter = Scatter(*(_array(part, "scatter") for part in parts[:2]))
    noise = content["noise"]
    posterior = Posterior(
        **values,
        scatter=scatter,
        effect=float(_array(content["effect"], "effect")),
        rough_effect=float(_array(content[ROUGH_EFFECT], ROUGH_EFFECT))
        if ROUGH_EFFECT in content
        else None,
        noise=None if noise is None else _array(noise, "noise"),
        moving=(
            _moving_from_dict(content[_MOVING], values["theta"].size + len(values["log_rates"]))
            if _MOVING in content
            else None
        ),
    )
    _require_shapes(posterior)
    return posterior


def _standard_to_list(standardization: Standardization | None) -> list[float] | None:
    if standardization is None:
        return None
    return [standardization.scale, standardization.bias_unit, *standardization.centers]


def _standards_from(value: Any, n_models: int) -> tuple[Standardization | None, ...]:
    parts = [
        None if one is None else _array(one, _STANDARDS) for one in list_from(value, _STANDARDS)
    ]
    fits = all(
        one is None or (one.ndim == 1 and len(one) > 2 and one[:2].min() > 0.0) for one in parts
    )
    if not fits or len(parts) not in (0, n_models):
        raise DamagedModelFileError("the standards of what was learned are not of this model")
    return tuple(
        None
        if one is None
        else Standardization(tuple(one[2:].tolist()), float(one[0]), float(one[1]))
        for one in parts
    )


def _require_shapes(posterior: Posterior) -> None:
    theta, curvature, rates = posterior.theta, posterior.curvature, len(posterior.log_rates)
    square = curvature.ndim == 3 and curvature.shape[1] == curvature.shape[2]
    fits = (
        square
        and theta.ndim == 1
        and len(theta)
        in (
            curvature.shape[0] * curvature.shape[1],
            curvature.shape[1] - rates if len(curvature) == 1 else -1,
        )
    )
    scatter = posterior.scatter
    if scatter is not None:
        fits = fits and scatter.squares.shape == curvature.shape
        fits = fits and scatter.counts.shape == curvature.shape[:1]
    if posterior.noise is not None:
        fits = fits and posterior.noise.shape == curvature.shape
    effects = (posterior.effect, 1.0 if posterior.rough_effect is None else posterior.rough_effect)
    if not fits or posterior.gradient.shape != theta.shape or not min(effects) > 0:
        raise DamagedModelFileError("the parts of what was learned do not go together")


def _array(value: Any, name: str) -> Array:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DamagedModelFileError(f"the {name} of what was learned are no numbers") from error
    if not np.isfinite(array).all() or _has_text(value):
        raise DamagedModelFileError(f"the {name} of what was learned are no numbers")
    return array


def _has_text(value: Any) -> bool:
    """Tell whether there is anything but numbers in nested lists: NumPy reads "1.5" as one."""
    if isinstance(value, list):
        return any(_has_text(part) for part in value)
    return isinstance(value, str | bool | Mapping) or value is None


def _numbers(value: Any, name: str) -> tuple[Any, ...]:
    values = list_from(value, name)
    if name == "wanted":
        return tuple(None if one is None else float(_array(one, name)) for one in values)
    return tuple(_array(values, name).tolist())

"""What is judged beside the raw predictions: models, and a second set of predictions."""

from dataclasses import dataclass
from os import PathLike
from typing import Any

from numpy.typing import NDArray

from tempocal.assessment.wording import METHOD_NAMES
from tempocal.errors import InputError
from tempocal.inputs import Inputs, as_array, check_predicted
from tempocal.predictor import Predictor, read_model

Names = dict[str, tuple[str, str]]  # of each method: what it is called, and what it does


@dataclass(frozen=True)
class Judged:
    """The models to judge, and whether there is a second set of predictions.

    Attributes
    ----------
    models : dict of Predictor
        By method: "model", "versus".
    has_versus_columns : bool
        Whether "versus" is a set of predictions of its own.
    """

    models: dict[str, Predictor]
    has_versus_columns: bool = False

    @property
    def subject(self) -> str:
        """The method that the verdict is about."""
        return "model" if "model" in self.models else "raw"

    @property
    def methods(self) -> list[str]:
        """All methods, in the order of the page."""
        has_versus = self.has_versus_columns or "versus" in self.models
        given = ["model"] * ("model" in self.models) + ["versus"] * has_versus
        return ["raw", *given, "global", "along time"]

    @property
    def names(self) -> Names:
        """What the methods are called."""
        given = "other predictions" if self.has_versus_columns else "other model"
        others = {"model": ("the model", "as given"), "versus": (f"the {given}", "as given")}
        return {name: METHOD_NAMES.get(name) or others[name] for name in self.methods}


def check_judged(model: Any, versus: Any, inputs: Inputs, n_columns: int) -> Judged:
    """Check the arguments ``model`` and ``versus``; what is no model is a set of predictions."""
    models = {} if model is None else {"model": as_predictor(model, "model")}
    if model is not None and versus is not None and not is_model(versus):
        raise InputError(
            "versus must be a model, for so is model: compare two models, or leave model out and "
            "compare two sets of predictions"
        )
    if versus is not None and is_model(versus):
        models["versus"] = as_predictor(versus, "versus")
    for name, one in models.items():
        _require_match(one, name, inputs, n_columns)
    return Judged(models, versus is not None and "versus" not in models)


def is_model(given: Any) -> bool:
    """Whether an argument is a model rather than predictions."""
    return isinstance(given, str | PathLike | Predictor) or hasattr(given, "predict_proba")


def as_predictor(model: Any, name: str) -> Predictor:
    """Return the part of a model that predicts, given it or the path of its file."""
    if isinstance(model, str | PathLike):
        try:
            return read_model(model)
        except FileNotFoundError as error:
            raise InputError(
                f"{name} must be a fitted calibrator or the path of a model file, but there is no "
                f"file {str(model)!r:.80}; a second set of predictions is an array, not a name"
            ) from error
    found = model._predictor() if hasattr(model, "_predictor") else model
    if not isinstance(found, Predictor):
        raise InputError(
            f"{name} must be a fitted calibrator of tempocal or the path of a model file, but it "
            f"is {model!r:.80}: of a model of another kind pass the predictions"
        )
    return found


def check_versus(versus: Any, predictions: NDArray[Any], inputs: Inputs) -> NDArray[Any]:
    """Return a second set of predictions, which must have the shape of the first."""
    second = as_array(versus, "versus")
    if _shape(second) != _shape(predictions):
        raise InputError(
            f"versus has the shape {second.shape}, but the predictions {predictions.shape}: both "
            "must be of the same rows and classes"
        )
    check_predicted(second, inputs, "versus")
    return second


def _shape(array: NDArray[Any]) -> tuple[int, ...]:
    """Shape; a single column is the same as none."""
    return array.shape[:1] if array.ndim == 2 and array.shape[1] == 1 else array.shape


def require_classes(judged: Judged, classes: NDArray[Any]) -> None:
    """Refuse models of other classes than the labels."""
    for name, one in judged.models.items():
        if one.classes.tolist() != classes.tolist():
            raise InputError(
                f"the classes of {name} are {one.classes.tolist()}, but those of the labels are "
                f"{classes.tolist()}: pass classes in the order of the model"
            )


def _require_match(model: Predictor, name: str, inputs: Inputs, n_columns: int) -> None:
    if model.inputs != inputs:
        raise InputError(
            f"{name} was fitted to {model.inputs}, but inputs is {inputs!r}: pass the predictions "
            "that it is applied to"
        )
    if model.columns != n_columns:
        raise InputError(
            f"{name} was fitted to {model.columns} columns of predictions, but they have "
            f"{n_columns}"
        )
    if len(model.time_kinds) > 1:
        raise InputError(f"{name} has two clocks: apply it first, and pass its probabilities")

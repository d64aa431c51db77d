"""Fitted models as modules of torch."""

from io import BytesIO
from typing import Any

from tempocal.errors import InputError
from tempocal.modelfile.atomic_write import replacing
from tempocal.predictor import Predictor
from tempocal.predictor.formula import decision_of, formula_of

try:
    import torch
except ModuleNotFoundError as error:
    raise ImportError(
        'a module is made with torch, which is not installed: pip install "tempocal[torch]"'
    ) from error
from tempocal.export.torch_engine import graph_module


class TorchCalibrator(torch.nn.Module):
    """A fitted calibrator as a layer: from logits and times to calibrated probabilities.

    Everything is computed in double precision and given back in that of the logits, so the fitted
    numbers, which are buffers, stay double under ``.half()`` and ``.to(dtype)``. They follow to any
    device that has doubles. Gradients flow through to the logits; the numbers are constants.

    Rows that `predict_proba` would refuse, such as those with a missing logit or time, are NaN.

    Attributes
    ----------
    classes : list
        The classes, in the order of the columns of the probabilities.
    inputs : str
        What goes in: "logits" or "proba".
    columns : int
        How many columns of them.
    clocks : int
        How many columns of time: 0 for a model that does not change along time.
    """

    def __init__(self, model: Predictor) -> None:
        super().__init__()
        self.classes = model.classes.tolist()
        self.inputs = str(model.inputs)
        self.columns = model.columns
        self.clocks = len(model.time_kinds)
        scores = [f"z{k}" for k in range(self.columns)]
        times = [f"t{k}" for k in range(self.clocks)]
        self.proba_graph = graph_module(formula_of(model, scores, times), stacked=True)
        decision = decision_of(model, scores, times)
        self.decision_graph = graph_module(decision, stacked=len(decision) > 1)

    def forward(self, logits: torch.Tensor, time: torch.Tensor | None = None) -> torch.Tensor:
        """Return probabilities of shape (..., K).

        Parameters
        ----------
        logits : Tensor of shape (..., columns), or (n,) for one column
            Logits, or probabilities where the calibrator takes those.
        time : Tensor of shape (...,), or (..., 2) for two clocks
            Times as numbers: seconds since 1970-01-01 UTC for datetimes, seconds for durations.
        """
        scores = self._scores(logits)
        found = self.proba_graph(_without_nan(scores), _without_nan(self._times(scores, time)))
        return self._as_given(found, logits)

    @torch.jit.export
    def decision_function(
        self, logits: torch.Tensor, time: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return calibrated logits: (...,) for two classes, else (..., K).

        Their sigmoid or softmax are the probabilities. They are what a loss should be taken of.
        """
        scores = self._scores(logits)
        found = self.decision_graph(_without_nan(scores), _without_nan(self._times(scores, time)))
        return self._as_given(found, logits)

    def _scores(self, logits: torch.Tensor) -> torch.Tensor:
        if logits.dim() == 1 and self.columns == 1:
            return logits.to(torch.float64).unsqueeze(-1)
        if logits.dim() < 2 or logits.shape[-1] != self.columns:
            raise ValueError(f"the last axis of the logits must have length {self.columns}")
        return logits.to(torch.float64)

    def _times(self, scores: torch.Tensor, time: torch.Tensor | None) -> torch.Tensor:
        """Return times, a column for each clock."""
        if time is None:
            if self.clocks > 0:
                raise ValueError("time is missing: the model changes along time")
            return scores
        if self.clocks == 0:
            raise ValueError("the model does not change along time: leave time out")
        times = time.to(torch.float64)
        if self.clocks == 1:
            times = times.unsqueeze(-1)
        # Broadcasting would make a table of all times for all rows of a column beside a row.
        if times.shape[:-1] != scores.shape[:-1] or times.shape[-1] != self.clocks:
            raise ValueError("time must have one value for each row of logits and each clock")
        return times

    def _as_given(self, found: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
        return found.to(logits.dtype) if logits.is_floating_point() else found

    def _apply(self, fn: Any, recurse: bool = True) -> "TorchCalibrator":
        """Move the numbers to another device, but leave them double."""

        def moved(tensor: torch.Tensor) -> torch.Tensor:
            there: torch.Tensor = fn(tensor)
            return there if there.dtype == tensor.dtype else tensor.to(there.device)

        super()._apply(moved, recurse)  # type: ignore[no-untyped-call]
        return self

    def extra_repr(self) -> str:
        """Say what goes in and what comes out."""
        return f"{self.inputs}: {self.columns}, clocks: {self.clocks}, classes: {self.classes}"


def _without_nan(values: torch.Tensor) -> torch.Tensor:
    """Replace NaN by a number that is refused as well, but whose gradient is 0 and not NaN."""
    return torch.where(values.isnan(), 1e308, values)


class CalibratedModel(torch.nn.Module):
    """A model of yours and a calibrator behind it.

    Parameters
    ----------
    model : Module
        Gives logits, or an object whose ``logits`` they are, as those of Hugging Face do.
    calibrator : calibrator, Predictor or TorchCalibrator
        A fitted one.

    Examples
    --------
    >>> import tempocal as tc
    >>> m = tc.datasets.simulate_match(500)
    >>> cal = tc.TemporalCalibrator().fit(m.logits, m.label, time=m.time, groups=m.sequence)
    >>> calibrated = CalibratedModel(torch.nn.Linear(8, 1), cal)
    >>> calibrated(torch.zeros(3, 8), time=torch.tensor([0, 5, 20])).shape
    torch.Size([3, 2])
    """

    def __init__(self, model: torch.nn.Module, calibrator: Any) -> None:
        super().__init__()
        self.model = model
        self.calibrator = _as_module(calibrator)

    def forward(
        self, *args: Any, time: torch.Tensor | None = None, **keywords: Any
    ) -> torch.Tensor:
        """Return calibrated probabilities of what the model makes of the other arguments."""
        found: torch.Tensor = self.calibrator(self._logits(*args, **keywords), time)
        return found

    def decision_function(
        self, *args: Any, time: torch.Tensor | None = None, **keywords: Any
    ) -> torch.Tensor:
        """Return calibrated logits of what the model makes of the other arguments."""
        return self.calibrator.decision_function(self._logits(*args, **keywords), time)

    def _logits(self, *args: Any, **keywords: Any) -> torch.Tensor:
        output = self.model(*args, **keywords)
        logits: torch.Tensor = getattr(output, "logits", output)
        return logits


def to_torch(model: Predictor) -> TorchCalibrator:
    """Return a model as a module of torch.

    Examples
    --------
    >>> import numpy as np
    >>> from tempocal.maps import Scale
    >>> model = Predictor("TemperatureScaling", np.array([0, 1]), "logits", 1, Scale(0.5))
    >>> to_torch(model)(torch.tensor([0.0]))
    tensor([[0.5000, 0.5000]])
    """
    return TorchCalibrator(model)


def exported(model: Predictor, dtype: str = "float64") -> torch.export.ExportedProgram:
    """Return the program of the probabilities for any number of rows.

    It takes logits of shape (batch, columns), of the dtype, and for a model along time doubles of
    shape (batch,), or (batch, 2) for two clocks.
    """
    module, rows = to_torch(model), 3  # any number but 0 and 1, which torch takes for special
    example = [torch.full((rows, model.columns), 0.5, dtype=getattr(torch, dtype))]
    if module.clocks:
        shape = (rows,) if module.clocks == 1 else (rows, module.clocks)
        example.append(torch.zeros(shape, dtype=torch.float64))
    batch = torch.export.Dim("batch")
    return torch.export.export(
        module, tuple(example), dynamic_shapes=tuple({0: batch} for _ in example)
    )


def save_exported(model: Predictor, path: str, dtype: str = "float64") -> None:
    """Write the program to a file (.pt2), at once or not at all."""
    written = BytesIO()
    torch.export.save(exported(model, dtype), written)
    with replacing(path, "the torch program") as file:
        file.write(written.getvalue())


def _as_module(calibrator: Any) -> TorchCalibrator:
    if isinstance(calibrator, TorchCalibrator):
        return calibrator
    if isinstance(calibrator, Predictor):
        return to_torch(calibrator)
    if not hasattr(calibrator, "to_torch"):
        raise InputError(f"calibrator must be a fitted one, but it is {calibrator!r}")
    module: TorchCalibrator = calibrator.to_torch()
    return module

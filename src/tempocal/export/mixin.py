"""What every calibrator can become."""

from abc import abstractmethod
from os import PathLike
from typing import TYPE_CHECKING, Literal

from tempocal.predictor import Predictor

if TYPE_CHECKING:
    import onnx

    from tempocal.export.torch import TorchCalibrator


class Exports:
    """A fitted calibrator that runs where there is no tempocal."""

    @abstractmethod
    def _predictor(self) -> Predictor:
        """Return the function that was fitted."""

    def to_onnx(
        self,
        path: str | PathLike[str] | None = None,
        dtype: Literal["float64", "float32"] = "float64",
    ) -> "onnx.ModelProto":
        """Return the calibrator as an ONNX graph from logits and times to probabilities.

        Its inputs are ``logits`` of shape (batch, columns), one column being (batch, 1) and those
        of a calibrator of probabilities being called ``proba``; and for a calibrator along time
        ``time``, double, of shape (batch,), or (batch, 2) for two clocks: seconds since 1970-01-01
        UTC where the fit had datetimes, seconds where it had timedeltas. The output is
        ``probabilities`` of shape (batch, K), columns in the order of ``classes_``.

        Rows that `predict_proba` would refuse are NaN: a graph cannot raise.

        Parameters
        ----------
        path : path-like, default=None
            File to write as well; it appears when all of it is written.
        dtype : {"float64", "float32"}, default="float64"
            Of the logits and of the probabilities. What is between is double in either case.

        Returns
        -------
        onnx.ModelProto
            With ``name``, ``classes`` and ``tempocal_version`` among its metadata.

        Examples
        --------
        >>> import tempocal as tc
        >>> cal = tc.TemperatureScaling().fit([-1.0, 2.0, 0.5], [0, 1, 0])
        >>> [each.name for each in cal.to_onnx().graph.input]
        ['logits']
        """
        from tempocal.export.onnx import to_onnx  # noqa: PLC0415

        return to_onnx(self._predictor(), path, dtype)

    def to_torch(self) -> "TorchCalibrator":
        """Return the calibrator as a module of torch.

        Its ``forward(logits, time=None)`` gives probabilities and its ``decision_function`` gives
        calibrated logits, both with gradients, on any device that has doubles, and in the precision
        of the logits. Rows that `predict_proba` would refuse are NaN.

        Returns
        -------
        TorchCalibrator
            See also `tempocal.export.CalibratedModel`, which puts it behind a model.

        Examples
        --------
        >>> import torch
        >>> import tempocal as tc
        >>> cal = tc.TemperatureScaling().fit([-1.0, 2.0, 0.5], [0, 1, 0])
        >>> cal.to_torch()(torch.tensor([0.0]))
        tensor([[0.5000, 0.5000]])
        """
        from tempocal.export.torch import to_torch  # noqa: PLC0415

        return to_torch(self._predictor())

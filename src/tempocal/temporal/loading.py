"""From a model file back to a fitted calibrator."""

from tempocal.calibrators.loading import load

__all__ = ["load"]

"""Monitoring and learning while sequences run.

::

    predict, finish ──> monitor_input ──> open_bets ──> bet_queue ──> status
                        validation        sequences     evalues       notes

    observe, finish ──> record_log ──> replay ──> tracker
                        on the disk    restart    a calibrator that learns

`Monitor` is a sequential test of calibration with e-values; `SequenceTracker` updates a calibrator
as sequences finish. Only the calibrator of a tracker needs scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tempocal.live.monitor import Monitor
from tempocal.live.status import LineStatus, Status

if TYPE_CHECKING:
    from tempocal.live.tracker import SequenceTracker

__all__ = ["LineStatus", "Monitor", "SequenceTracker", "Status"]


def __getattr__(name: str) -> Any:
    # Calibrators need scikit-learn, which is slow to import; a monitor does not.
    if name == "SequenceTracker":
        return import_module("tempocal.live.tracker").SequenceTracker
    raise AttributeError(f"module 'tempocal.live' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

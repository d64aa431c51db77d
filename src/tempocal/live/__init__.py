"""While sequences run: an alarm that can be trusted when forecasts are no longer right.

::

    predict, finish ──checks──> book: sequences and their bets ──> lines: bets in order ──> status
                                                                     evalues: what a bet is worth

    observe, finish ──> log: records on the disk ──> story ──> tracker: a calibrator that learns

Only a tracker's calibrator needs scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tempocal.live.monitor import Monitor
from tempocal.live.status import LineStatus, Status

if TYPE_CHECKING:
    from tempocal.live.tracker import SequenceTracker

__all__ = ["LineStatus", "Monitor", "SequenceTracker", "Status"]


def __getattr__(name: str) -> Any:
    # Its calibrators take scikit-learn, which takes long to load; a monitor does without.
    if name == "SequenceTracker":
        return import_module("tempocal.live.tracker").SequenceTracker
    raise AttributeError(f"module 'tempocal.live' has no attribute {name!r}")

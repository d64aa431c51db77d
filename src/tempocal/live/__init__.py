"""While sequences run: an alarm that can be trusted when forecasts are no longer right.

::

    predict, finish ──checks──> book: sequences and their bets ──> lines: bets in order ──> status
                                                                     evalues: what a bet is worth

Nothing here imports scikit-learn.
"""

from tempocal.live.monitor import Monitor
from tempocal.live.status import LineStatus, Status

__all__ = ["LineStatus", "Monitor", "Status"]

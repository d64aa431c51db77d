"""Say that a fit goes without rows whose times are far from all others."""

from tempocal.curves.curve import Bulk
from tempocal.errors import StrayTimesWarning, warn_user


def warn_of_stray_times(bulk: Bulk, total_weight: float) -> None:
    """Warn of rows that are left out of the fit of a curve."""
    warn_user(
        f"time goes to {bulk.farthest:.6g}, but all rows except {bulk.n_stray:.6g} of "
        f"{total_weight:.6g} lie from {bulk.first:.6g} to {bulk.last:.6g}. The curve is "
        "fitted without those, which would flatten it for all others. Look at them: mend their "
        "time, or leave them out",
        StrayTimesWarning,
    )

"""Metrics of predictions in tables: rows are summed where they are, and only sums come here.

::

    scored ──> stretches ──> units ──> losses                     means over rows
                               └─────> events ──> bins ──> gaps   calibration errors

The sums are those that `tempocal.metrics.mean_losses` and `tempocal.metrics.gap_sums` make of
arrays, and values, intervals and floors come from them by the same code.
"""

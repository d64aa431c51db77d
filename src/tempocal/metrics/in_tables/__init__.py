"""Metrics of predictions in tables: the engine sums over rows, and only sums are collected.

::

    scored_frame ──> time_bins ──> losses                                  means over rows
                         └───────> events ──> confidence_bins ──> gaps_*   calibration errors

`group_draws` gives each group the bucket that it is summed in, and its random numbers.

The sums are those of `tempocal.metrics.mean_losses` and `tempocal.metrics.gap_sums` for arrays;
values, intervals and floors follow from them by the same code.
"""

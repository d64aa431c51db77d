"""Metrics of predictions in tables: the engine sums over rows, and only sums are collected.

::

    scored_frame ──> time_bins ──> group_draws ─┬─> losses                             means
                                                └─> events ──> confidence_bins ──> gaps_by_row,
                                                    gaps_by_group           calibration errors

The sums are those of `tempocal.metrics.mean_losses` and `tempocal.metrics.gap_sums` for arrays;
values, intervals and floors follow from them by the same code.
"""

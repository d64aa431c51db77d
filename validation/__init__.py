"""Statistical claims, tested by simulation: coverage of bands, recovery of curves, excess NLL.

Run with ``make validate``. Each simulated set is one line of a file, so that a run that was killed
goes on where it stopped. The truth is that of `tempocal.datasets.simulate_match`.
"""

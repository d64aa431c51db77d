"""Times of tempocal beside other libraries, in one process, as ratios.

``python -m benchmarks`` runs all of them; ``python -m benchmarks --largest 1000000`` leaves out
the larger ones. A time is the lowest of several runs.
"""

"""The service under load: ``python -m benchmarks.load``, which is ``make load``."""

"""The version of the package, in the one place it is written."""

__version__ = "0.1.0"

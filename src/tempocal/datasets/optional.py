"""Packages that only the loaders need."""

from importlib import import_module
from typing import Any


def optional(module: str) -> Any:
    """Import a module of a package that is optional and slow to load."""
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
        raise ImportError(
            f"this dataset is read with {package}, which is not installed: "
            'pip install "tempocal[datasets]"'
        ) from error

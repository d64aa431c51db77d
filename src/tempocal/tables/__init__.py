"""Fitted models in tables of any engine, and as SQL."""

from tempocal.tables.mixin import InTables

__all__ = ["InTables"]

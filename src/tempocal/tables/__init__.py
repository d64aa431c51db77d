"""Fits to tables of any engine, fitted models applied to them, and models as SQL."""

from tempocal.tables.mixin import InTables

__all__ = ["InTables"]

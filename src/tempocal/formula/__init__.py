"""Fitted models as formulas that know no engine: numbers, columns and a few operations."""

from tempocal.formula.interpret import Engine, choose, interpret
from tempocal.formula.nodes import Expression
from tempocal.formula.numpy_engine import evaluate, evaluate_all
from tempocal.formula.stages import Staged, in_stages, written_size

__all__ = [
    "Engine",
    "Expression",
    "Staged",
    "choose",
    "evaluate",
    "evaluate_all",
    "in_stages",
    "interpret",
    "written_size",
]

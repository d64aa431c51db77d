"""What a calibrator needs from a table before a fit; independent of any table engine."""

from dataclasses import dataclass

from tempocal.curves.curve import Curve


@dataclass(frozen=True)
class TableNeeds:
    """What a calibrator needs from a table.

    Attributes
    ----------
    curves : tuple of Curve
        Curves along time; empty if the calibrator does not depend on time.
    folds : tuple of int or None
        Number of folds and seed, for cross-validation over groups.
    folds_for_one_column : bool
        Whether folds are needed also for two classes with one logit.
    """

    curves: tuple[Curve, ...] = ()
    folds: tuple[int, int] | None = None
    folds_for_one_column: bool = False

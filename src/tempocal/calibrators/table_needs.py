"""What a fit to a table has to know of it, said without knowing anything of tables."""

from dataclasses import dataclass

from tempocal.curves import Curve


@dataclass(frozen=True)
class TableNeeds:
    """What a calibrator wants to know of a table.

    Attributes
    ----------
    curves : tuple of Curve
        Curves that are laid along time; none if nothing changes along time.
    folds : tuple of int or None
        Number of folds and seed, if groups are to be dealt to folds.
    of_one_column : bool
        Whether folds are wanted also where one logit stands for two classes.
    """

    curves: tuple[Curve, ...] = ()
    folds: tuple[int, int] | None = None
    of_one_column: bool = False

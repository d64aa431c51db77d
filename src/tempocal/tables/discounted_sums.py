"""Discounted sums along sequences, by window functions that every engine has.

A row sums its value and those of the rows before it, in the order of a column, discounted by
``decay`` for each row that lies between. With c = -log(decay) and n the place of a row,

    sum over i <= n of  decay^(n - i) x_i  =  exp(-c n) * sum over i <= n of  exp(c i) x_i ,

a cumulative sum of scaled values. All terms are added and none subtracted, so nothing cancels. What
would overflow is cut into blocks: sequences are cut twice, the second time half a block later, and
each row takes the cut that has half a block or more of earlier rows. What is left out is below
``exp(-100)`` of its value.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log

import narwhals as nw

from tempocal.tables.open_table import Frame

# Largest exponent in a block: values and weights have room beside it.
LARGEST_EXPONENT = 400.0
ONE, PLACE = "tempocal_one", "tempocal_place"


@dataclass(frozen=True)
class Windows:
    """Window functions along sequences.

    Attributes
    ----------
    order : str
        Column that puts the rows of a sequence in order.
    longest : int
        Most rows of a sequence.
    runs : tuple of str
        Columns of the rows that follow each other.
    """

    order: str
    longest: int
    runs: tuple[str, ...]

    def look_back(self, frame: Frame, names: Sequence[str], totals: Sequence[str] = ()) -> Frame:
        """Add the place of each row, from 0; the values of the row before; cumulative sums.

        The columns ``{name}_before`` are null in the first row of a sequence, and ``{name}_total``
        include the row.
        """
        frame = frame.with_columns(**{ONE: nw.lit(1.0)})
        before = {f"{name}_before": self._over(nw.col(name).shift(1)) for name in names}
        added = {f"{name}_total": self._over(nw.col(name).cum_sum()) for name in totals}
        place = self._over(nw.col(ONE).cum_sum()) - 1.0
        return frame.with_columns(**before, **added, **{PLACE: place})

    def discount(self, frame: Frame, names: Sequence[str], decay: float) -> Frame:
        """Replace columns by their discounted sums; `look_back` has added the places."""
        rate = -log(decay) if decay > 0.0 else LARGEST_EXPONENT
        block = floor(LARGEST_EXPONENT / rate) if rate > 0.0 else self.longest
        if block < 2:
            return frame  # the row before counts for less than exp(-100)
        place = nw.col(PLACE)
        if self.longest <= block:
            return self._sum_scaled(frame, names, place * rate, [*self.runs])
        half = block // 2
        cuts = {"tempocal_near": 0, "tempocal_far": half}
        for cut, shift in cuts.items():
            number = ((place + float(shift)) / float(block)).floor()
            inside = f"{cut}_place"
            frame = frame.with_columns(**{cut: number})
            frame = frame.with_columns(
                **{inside: place + float(shift) - nw.col(cut) * float(block)},
                **{f"{cut}_{name}": nw.col(name) for name in names},
            )
            own = [f"{cut}_{name}" for name in names]
            frame = self._sum_scaled(frame, own, nw.col(inside) * rate, [*self.runs, cut])
        is_near = nw.col("tempocal_near_place") >= float(half)
        return frame.with_columns(
            **{
                name: nw.when(is_near)
                .then(nw.col(f"tempocal_near_{name}"))
                .otherwise(nw.col(f"tempocal_far_{name}"))
                for name in names
            }
        )

    def _sum_scaled(
        self, frame: Frame, names: Sequence[str], exponent: nw.Expr, by: list[str]
    ) -> Frame:
        scale = "tempocal_scale"
        frame = frame.with_columns(**{scale: exponent.exp()})
        frame = frame.with_columns(**{name: nw.col(name) * nw.col(scale) for name in names})
        sums = {
            name: nw.col(name).cum_sum().over(*by, order_by=self.order) / nw.col(scale)
            for name in names
        }
        return frame.with_columns(**sums)

    def _over(self, value: nw.Expr) -> nw.Expr:
        return value.over(*self.runs, order_by=self.order)

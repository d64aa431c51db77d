"""Options of `report` that name a second set of predictions, and columns to split by."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tempocal.errors import InputError
from tempocal.files import as_labels, as_numbers, as_times


@dataclass(frozen=True)
class ReportColumns:
    """Further columns of a report.

    Attributes
    ----------
    versus : tuple of str
        Columns of a second set of predictions, of the kind of the first.
    split_in_time : str or None
        Column of times in the calendar.
    split_column : str or None
        Column that says which rows to evaluate on.
    fit_value, evaluate_value : str or None
        Its values in the rows to fit to and in those to evaluate on; None if it is true or false.
    """

    versus: tuple[str, ...] = ()
    split_in_time: str | None = None
    split_column: str | None = None
    fit_value: str | None = None
    evaluate_value: str | None = None

    def flags(self) -> dict[str, str]:
        """Return the flag by which each column was named."""
        flags = dict.fromkeys(self.versus, "--versus")
        if self.split_in_time is not None:
            flags[self.split_in_time] = "--split-in-time"
        if self.split_column is not None:
            flags[self.split_column] = "--split-column"
        return flags

    def select(self, table: dict[str, Any]) -> dict[str, Any]:
        """Leave out rows that are neither fitted to nor evaluated on."""
        if self.evaluate_value is None:
            return table
        import pyarrow as pa
        from pyarrow import compute

        assert self.split_column is not None
        text = table[self.split_column].cast(pa.string())
        wanted = compute.is_in(text, pa.array([self.fit_value, self.evaluate_value]))
        found = {name: column.filter(wanted) for name, column in table.items()}
        for value in (self.fit_value, self.evaluate_value):
            if not compute.any(compute.equal(text, value)).as_py():
                raise InputError(
                    f"--split-column: no row has {value!r} in the column {self.split_column!r}"
                )
        return found

    def mark(self, frame: Any) -> Any:
        """Return a frame whose column to split by is true where rows are evaluated on."""
        import narwhals as nw

        if self.evaluate_value is None:
            return frame
        text = nw.col(str(self.split_column)).cast(nw.String)
        chosen = frame.filter(text.is_in([self.fit_value, self.evaluate_value]))
        return chosen.with_columns(**{str(self.split_column): text == self.evaluate_value})

    def arguments(self, table: dict[str, Any]) -> dict[str, Any]:
        """Return what the columns are to `tempocal.assess`."""
        found: dict[str, Any] = {}
        if self.versus:
            columns = [as_numbers(table[name], name) for name in self.versus]
            found["versus"] = columns[0] if len(columns) == 1 else np.stack(columns, axis=1)
        if self.split_in_time is not None:
            found["split_in_time"] = as_times(table[self.split_in_time], self.split_in_time)
        if self.split_column is not None:
            column = table[self.split_column]
            marks = as_labels(column, self.split_column)
            if self.evaluate_value is not None:
                marks = np.asarray(column.cast("string")) == self.evaluate_value
            found["split_column"] = marks
        return found


def parse_split_column(text: str | None, names: list[str]) -> dict[str, Any]:
    """Return the column of ``--split-column``, and its two values if they are given."""
    if text is None or text in names:
        return {"split_column": text}
    column, equals, values = text.rpartition("=")
    first, comma, second = values.partition(",")
    if not equals or not comma or "," in second or first == second:
        raise InputError(
            f"--split-column {text}: name a column of true and false, or a column and two of its "
            "values, COLUMN=FIT,EVALUATE"
        )
    return {"split_column": column, "fit_value": first, "evaluate_value": second}

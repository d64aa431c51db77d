"""Comparison of candidates on held-out sequences, and the choice among them."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from tempocal.calibrators.fit_data import FitData
from tempocal.notebook import FrameLibrary, HtmlTable, TextCell, as_frame, render
from tempocal.temporal.held_out import Losses

# A simpler candidate is chosen if its loss is higher by at most its standard error and this.
MAX_NLL_INCREASE = 5e-4
# Losses with a smaller relative difference count as equal: they agree in all printed digits and
# nearly to the precision of the fits. Their standard error over a few groups can be even smaller.
EQUAL_TOLERANCE = 1e-6
NO_GROUPS = (
    "No groups were given: if rows share a sequence, errors are too small and rows left out are "
    "known from others, so that none of this can be trusted."
)
COLUMNS = ("NLL", "error", "to best", "its error", "ECE", "parameters", "seconds")


@dataclass(frozen=True)
class Candidate:
    """One row of a comparison.

    Attributes
    ----------
    name : str
        Calibrator and curve.
    nll, nll_error : float
        Mean negative log likelihood of held-out rows, and its standard error over groups.
    difference, difference_error : float
        Difference of the mean to the best candidate, paired by group, and its standard error.
    ece_over_time : float
        Calibration error of held-out rows, averaged over bins of time.
    parameters : float
        Effective number of parameters.
    seconds : float
        Duration of its fits.
    verdict : str
        Chosen or averaged, or why not.
    weight : float
        Its weight in the average; 1 if it was chosen.
    """

    name: str
    nll: float
    nll_error: float
    difference: float
    difference_error: float
    ece_over_time: float
    parameters: float
    seconds: float
    verdict: str
    weight: float = 0.0


@dataclass(frozen=True)
class Comparison(Sequence[Candidate]):
    """A table of candidates, the best first."""

    candidates: tuple[Candidate, ...]
    n_groups: int | None

    def __getitem__(self, row: Any) -> Any:
        return self.candidates[row]

    def __len__(self) -> int:
        return len(self.candidates)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    @property
    def chosen(self) -> Candidate:
        """The candidate that was taken; of an average, the one with the largest weight."""
        return self.kept[0]

    @property
    def kept(self) -> tuple[Candidate, ...]:
        """The candidates that have a weight, the largest first; the chosen one alone."""
        kept = [one for one in self.candidates if one.weight > 0.0]
        return tuple(sorted(kept, key=lambda one: (-one.weight, one.parameters, one.name)))

    @property
    def is_choice(self) -> bool:
        """Whether one candidate was chosen, rather than some averaged."""
        return self.chosen.verdict.startswith("chosen")

    @property
    def name(self) -> str:
        """What was made of the candidates: the one that was taken, or an average."""
        kept = self.kept
        if len(kept) == 1:
            return kept[0].name
        return f"an average of {len(kept)} candidates, led by {kept[0].name}"

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dictionary per candidate, for instance for a data frame."""
        return [asdict(one) for one in self.candidates]

    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """Return a row for each candidate as a data frame.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            What makes it; by default the first of these that is installed.
        """
        rows = self.to_dicts()
        return as_frame({name: [row[name] for row in rows] for name in rows[0]}, library)

    def _repr_html_(self) -> str:
        weighted = not self.is_choice
        weight = ["weight"] if weighted else []
        head: list[str | TextCell] = ["candidate", *COLUMNS, *weight, TextCell("verdict")]
        rows: list[list[str | TextCell]] = []
        for one in self.candidates:
            losses = (one.nll, one.nll_error, one.difference, one.difference_error)
            numbers = [*(f"{loss:.5f}" for loss in losses), f"{one.ece_over_time:.4f}"]
            numbers += [f"{one.parameters:.1f}", f"{one.seconds:.2f}"]
            numbers += [f"{one.weight:.2f}"] if weighted else []
            rows.append([one.name, *numbers, TextCell(one.verdict)])
        chosen = frozenset({self.candidates.index(self.chosen)})
        groups = "" if self.n_groups is None else f" on {self.n_groups:,} groups left out"
        notes = [NO_GROUPS] if self.n_groups is None else []
        return render(HtmlTable(f"Candidates{groups}, the best first", head, rows, chosen), *notes)

    def __str__(self) -> str:
        width = max(len(one.name) for one in self.candidates) + 2
        weighted = not self.is_choice
        columns = COLUMNS + ("weight",) * weighted
        head = "candidate".ljust(width) + "".join(name.rjust(11) for name in columns)
        lines = [head + "  verdict"]
        for one in self.candidates:
            numbers = (
                f"{one.nll:11.5f}{one.nll_error:11.5f}{one.difference:11.5f}"
                f"{one.difference_error:11.5f}{one.ece_over_time:11.4f}{one.parameters:11.1f}"
                f"{one.seconds:11.2f}"
            ) + f"{one.weight:11.2f}" * weighted
            lines.append(one.name.ljust(width) + numbers + f"  {one.verdict}")
        if self.n_groups is None:
            lines.append(NO_GROUPS)
        return "\n".join(lines)


@dataclass(frozen=True)
class HeldOutResult:
    """Held-out losses of a candidate, None if its fit failed.

    ``ahead`` are losses against the forecasts that follow, where these judge.
    """

    name: str
    losses: Losses | None
    ece_over_time: float
    parameters: float
    seconds: float
    failure: str = ""
    ahead: Losses | None = None


def compare(
    results: Sequence[HeldOutResult], data: FitData, identity: int
) -> tuple[Comparison, int]:
    """Compare candidates by their held-out losses and choose one; ``identity`` is Identity's index.

    The best by mean loss is chosen, unless Identity is within one standard error of it, or a
    simpler candidate within one standard error and ``MAX_NLL_INCREASE``. Differences are paired by
    group.
    """
    means, rows = _means(results), to_candidates(results)
    best = int(np.argmin(means))
    chosen = _choose(rows, best, identity)
    candidates = [
        replace(
            row,
            verdict=_verdict(row, one.failure, rows[chosen], rows[best]),
            weight=float(row is rows[chosen]),
        )
        for row, one in zip(rows, results, strict=True)
    ]
    return in_order(candidates, data), chosen


def in_order(rows: Sequence[Candidate], data: FitData) -> Comparison:
    """Return the table of candidates, the best first and those that failed last."""
    order = np.argsort([one.nll for one in rows], kind="stable")  # puts NaN last
    n_groups = None if data.groups is None else data.groups.count
    return Comparison(tuple(rows[k] for k in order), n_groups)


def to_candidates(results: Sequence[HeldOutResult]) -> list[Candidate]:
    """Return the numbers of each row, with differences to the best."""
    best = results[int(np.argmin(_means(results)))]
    return [_to_candidate(one, best) for one in results]


def _means(results: Sequence[HeldOutResult]) -> list[float]:
    return [np.inf if one.losses is None else one.losses.mean for one in results]


def _to_candidate(one: HeldOutResult, best: HeldOutResult) -> Candidate:
    if one.losses is None or best.losses is None:
        nll = nll_error = difference = difference_error = np.nan
    else:
        nll, nll_error = one.losses.mean, one.losses.standard_error
        paired = one.losses.subtract(best.losses)  # type: ignore[arg-type]
        difference, difference_error = paired.mean, paired.standard_error
    return Candidate(
        one.name,
        nll,
        nll_error,
        difference,
        difference_error,
        one.ece_over_time,
        one.parameters,
        one.seconds,
        "",
    )


def _choose(rows: Sequence[Candidate], best: int, identity: int) -> int:
    if not _is_worse(rows[identity]):
        return identity
    good = [
        k
        for k, row in enumerate(rows)
        if row.parameters <= rows[best].parameters + 0.5 and not _is_worse(row, MAX_NLL_INCREASE)
    ]
    # Among candidates with about the same number of parameters, take the first in the list.
    return min(good, key=lambda k: (round(rows[k].parameters), k), default=best)


def _is_worse(row: Candidate, max_increase: float = np.inf) -> bool:
    """Whether it is worse than the best by more than its standard error or ``max_increase``."""
    return not row.difference <= max(
        min(row.difference_error, max_increase), EQUAL_TOLERANCE * abs(row.nll)
    )


def _verdict(row: Candidate, failure: str, chosen: Candidate, best: Candidate) -> str:
    if failure:
        return f"failed: {failure}"
    if row is chosen:
        return f"chosen: {_reason(chosen, best)}"
    if _is_worse(row):
        return "worse than the best"
    if row.parameters >= chosen.parameters:
        return "as good, but not simpler than the chosen"
    return f"within its error, but worse by more than {MAX_NLL_INCREASE:g}"


def _reason(chosen: Candidate, best: Candidate) -> str:
    if chosen is best:
        return "the best"
    if np.isinf(chosen.difference_error):
        return "of one group none can be left out to compare on"
    if chosen.parameters == 0.0:
        return "no candidate gains more than its standard error"
    return f"simpler than the best, worse by no more than its error and {MAX_NLL_INCREASE:g}"

"""No change along time: the global method."""

from dataclasses import dataclass

from tempocal.curves.curve import Curve, Track, constant_track
from tempocal.curves.grid import TimeSpan, single
from tempocal.links import Array


@dataclass(frozen=True)
class Constant(Curve):
    """The same at all times.

    A `TemporalCalibrator` with this curve predicts what its calibrator alone would.

    Examples
    --------
    >>> import tempocal as tc
    >>> matches = tc.datasets.simulate_match(50)
    >>> cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Constant())
    >>> cal = cal.fit(matches.logits, matches.label, time=matches.time)
    >>> alone = tc.TemperatureScaling().fit(matches.logits, matches.label)
    >>> bool(cal.parameters_at([3])["inverse_temperature"][0] == alone.inverse_temperature_)
    True
    """

    @property
    def most_times(self) -> int:
        """None has a key of its own."""
        return 0

    def track(self, times: Array, weights: Array | None, span: TimeSpan | None = None) -> Track:
        """Put all times under one key."""
        return constant_track(single(times, weights))

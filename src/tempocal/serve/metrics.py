"""What the service counts, and the text in which Prometheus reads it."""

from bisect import bisect_left
from collections import Counter
from itertools import accumulate

from tempocal.serve.served_model import ServedModel

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Upper ends of the classes of latency."""


class Metrics:
    """Counts since the start."""

    def __init__(self) -> None:
        self.connections = 0
        self.requests: Counter[tuple[str, int]] = Counter()  # by path and status
        self.rows = 0
        self.receiving = 0
        self.in_flight = 0
        self.reloads = {"ok": 0, "failed": 0}
        self._latencies = [0] * (len(SECONDS) + 1)
        self._total_seconds = 0.0

    def answered(self, path: str, status: int) -> None:
        """Count an answer."""
        self.requests[path, status] += 1

    def took(self, seconds: float) -> None:
        """Count how long a request for scores took."""
        self._latencies[bisect_left(SECONDS, seconds)] += 1
        self._total_seconds += seconds

    def text(self, model: ServedModel) -> str:
        """Return all of it, with the model that answers at present."""
        labels = {"model": model.id, "calibrator": model.scorer.name}
        requests = [
            _line("tempocal_requests_total", count, path=path, status=str(status))
            for (path, status), count in sorted(self.requests.items())
        ]
        reloads = [
            _line("tempocal_reloads_total", count, result=result)
            for result, count in self.reloads.items()
        ]
        lines = [
            *_about("requests_total", "counter", "Answers by path and status."),
            *requests,
            *_about("request_seconds", "histogram", "Time from head to answer of /v1/score."),
            *self._histogram(),
            *_about("requests_receiving", "gauge", "Requests for scores that are coming in."),
            _line("tempocal_requests_receiving", self.receiving),
            *_about("requests_in_flight", "gauge", "Requests that are being scored."),
            _line("tempocal_requests_in_flight", self.in_flight),
            *_about("connections_total", "counter", "Connections accepted."),
            _line("tempocal_connections_total", self.connections),
            *_about("rows_scored_total", "counter", "Rows scored."),
            _line("tempocal_rows_scored_total", self.rows),
            *_about("reloads_total", "counter", "New model files, taken up or refused."),
            *reloads,
            *_about("model_info", "gauge", "The model that answers."),
            _line("tempocal_model_info", 1, **labels),
        ]
        return "\n".join(lines) + "\n"

    def _histogram(self) -> list[str]:
        name = "tempocal_request_seconds"
        ends = [*map(str, SECONDS), "+Inf"]
        counts = list(accumulate(self._latencies))
        return [
            *(_line(f"{name}_bucket", n, le=end) for end, n in zip(ends, counts, strict=True)),
            _line(f"{name}_sum", self._total_seconds),
            _line(f"{name}_count", counts[-1]),
        ]


def _about(name: str, kind: str, meaning: str) -> list[str]:
    return [f"# HELP tempocal_{name} {meaning}", f"# TYPE tempocal_{name} {kind}"]


def _line(name: str, value: float, **labels: str) -> str:
    pairs = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
    return f"{name}{{{pairs}}} {value!r}" if pairs else f"{name} {value!r}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

"""Counters of the service, in the text format of Prometheus."""

from bisect import bisect_left
from collections import Counter
from itertools import accumulate

from tempocal.serve.served_model import ServedModel

BUCKET_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Upper bounds of the buckets of the latency histogram."""


class Metrics:
    """Counters since the start of the service."""

    def __init__(self) -> None:
        self.connections = 0
        self.requests: Counter[tuple[str, int]] = Counter()  # by path and status
        self.rows = 0
        self.receiving = 0
        self.in_flight = 0
        self.reloads = {"ok": 0, "failed": 0}
        self._latencies = [0] * (len(BUCKET_SECONDS) + 1)
        self._total_seconds = 0.0

    def answered(self, path: str, status: int) -> None:
        """Count a response."""
        self.requests[path, status] += 1

    def observe_latency(self, seconds: float) -> None:
        """Record the duration of a scoring request."""
        self._latencies[bisect_left(BUCKET_SECONDS, seconds)] += 1
        self._total_seconds += seconds

    def text(self, model: ServedModel) -> str:
        """Return all metrics, with the current model as a label."""
        labels = {"model": model.id, "calibrator": model.scorer.name}
        requests = [
            _sample("tempocal_requests_total", count, path=path, status=str(status))
            for (path, status), count in sorted(self.requests.items())
        ]
        reloads = [
            _sample("tempocal_reloads_total", count, result=result)
            for result, count in self.reloads.items()
        ]
        lines = [
            *_metadata("requests_total", "counter", "Answers by path and status."),
            *requests,
            *_metadata("request_seconds", "histogram", "Time from head to answer of /v1/score."),
            *self._histogram(),
            *_metadata("requests_receiving", "gauge", "Requests for scores that are coming in."),
            _sample("tempocal_requests_receiving", self.receiving),
            *_metadata("requests_in_flight", "gauge", "Requests that are being scored."),
            _sample("tempocal_requests_in_flight", self.in_flight),
            *_metadata("connections_total", "counter", "Connections accepted."),
            _sample("tempocal_connections_total", self.connections),
            *_metadata("rows_scored_total", "counter", "Rows scored."),
            _sample("tempocal_rows_scored_total", self.rows),
            *_metadata("reloads_total", "counter", "New model files, loaded or refused."),
            *reloads,
            *_metadata("model_info", "gauge", "The model that answers."),
            _sample("tempocal_model_info", 1, **labels),
        ]
        return "\n".join(lines) + "\n"

    def _histogram(self) -> list[str]:
        name = "tempocal_request_seconds"
        bounds = [*map(str, BUCKET_SECONDS), "+Inf"]
        counts = list(accumulate(self._latencies))
        return [
            *(_sample(f"{name}_bucket", n, le=le) for le, n in zip(bounds, counts, strict=True)),
            _sample(f"{name}_sum", self._total_seconds),
            _sample(f"{name}_count", counts[-1]),
        ]


def _metadata(name: str, kind: str, meaning: str) -> list[str]:
    return [f"# HELP tempocal_{name} {meaning}", f"# TYPE tempocal_{name} {kind}"]


def _sample(name: str, value: float, **labels: str) -> str:
    pairs = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
    return f"{name}{{{pairs}}} {value!r}" if pairs else f"{name} {value!r}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

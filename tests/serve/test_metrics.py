"""What is counted, in the text that Prometheus reads."""

import re

from serve.asking import ask, model_of, refused, service_of
from tempocal.predictor import Predictor
from tempocal.serve.metrics import BUCKET_SECONDS

GOOD = {"logits": 1.5, "time": 3}
SAMPLE = re.compile(r'(\w+)(?:\{((?:\w+="(?:[^"\\\n]|\\.)*",?)+)\})? (\S+)')


def counts(service):
    """Return every sample by its name and labels, after a check of the format."""
    answer = ask(service, path="/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    found, kinds = {}, {}
    for line in answer.text.removesuffix("\n").split("\n"):
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            kinds[name] = kind
        elif not line.startswith("# HELP "):
            name, labels, value = SAMPLE.fullmatch(line).groups()
            assert any(name.startswith(kind) for kind in kinds), name
            found[name + (f"{{{labels}}}" if labels else "")] = float(value)
    return found


def test_requests_and_rows(tmp_path):
    service = service_of(model_of(), tmp_path / "model.json")
    ask(service, GOOD)
    ask(service, {"rows": [GOOD] * 7})
    refused(service, 422, {})
    refused(service, 404, path="/elsewhere/12345")
    found = counts(service)
    assert found['tempocal_requests_total{path="/v1/score",status="200"}'] == 2
    assert found['tempocal_requests_total{path="/v1/score",status="422"}'] == 1
    assert found['tempocal_requests_total{path="other",status="404"}'] == 1
    assert found["tempocal_rows_scored_total"] == 8
    assert found["tempocal_requests_in_flight"] == 0
    assert found["tempocal_requests_receiving"] == 0
    assert found["tempocal_connections_total"] == 0  # there is no socket
    assert counts(service)['tempocal_requests_total{path="/metrics",status="200"}'] == 1


def test_the_histogram_adds_up(tmp_path):
    service = service_of(model_of(), tmp_path / "model.json")
    for seconds in (0.0001, BUCKET_SECONDS[0], 0.003, 99.0):
        service.metrics.observe_latency(seconds)
    found = counts(service)
    buckets = [found[f'tempocal_request_seconds_bucket{{le="{end}"}}'] for end in BUCKET_SECONDS]
    assert buckets[:4] == [2, 2, 2, 3]
    assert set(buckets[3:]) == {3}
    assert found['tempocal_request_seconds_bucket{le="+Inf"}'] == 4
    assert found["tempocal_request_seconds_count"] == 4
    assert abs(found["tempocal_request_seconds_sum"] - 99.0036) < 1e-9


def test_names_that_need_quoting(tmp_path):
    plain = model_of()
    name = 'a "b"\\\nc'
    model = Predictor(name, plain.classes, "logits", 1, plain.map, plain.time_kinds)
    service = service_of(model, tmp_path / "model.json")
    line = next(one for one in counts(service) if one.startswith("tempocal_model_info"))
    assert line.endswith('calibrator="a \\"b\\"\\\\\\nc"}')
    assert f'model="{service.reloader.model.id}"' in line

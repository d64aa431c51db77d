"""The life of the service as a process: its start, new models, its end."""

import json
import os
import random
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from click.testing import CliRunner

from benchmarks.load.cases import Case
from benchmarks.load.service import running
from benchmarks.load.stops import KEPT, SINGLE, stop_under_load
from serve.asking import save
from serve.sockets import (
    GOOD,
    METRICS,
    NEW,
    OLD,
    PATIENCE,
    REQUEST,
    answered,
    request_has_arrived,
    send,
    until,
    wanted_of,
)
from tempocal.cli.group import tempocal
from tempocal.serve.served_model import read_served_model


def watched(service, while_alive):
    """Ask from four threads as long as another one runs; return the answers, in order."""
    answers = []

    def ask():
        with httpx.Client(timeout=PATIENCE) as client:
            while while_alive.is_alive():
                answers.append(client.post(f"{service.url}/v1/score", json=GOOD))

    with ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(ask) for _ in range(4)]:
            future.result()
    return answers


def test_a_new_model_under_load(tmp_path):
    path, spare = tmp_path / "model.json", tmp_path / "spare"
    ids = {read_served_model(save(one, path)).id: wanted_of(one) for one in (NEW, OLD)}
    with running(path) as service:
        changes = threading.Thread(target=change, args=(service, path, spare))
        changes.start()
        answers = watched(service, changes)
        changes.join()
        counted = httpx.get(f"{service.url}/metrics").text
        assert service.stop() == 0
        said = service.log()
    assert {answer.status_code for answer in answers} == {200}
    assert {answer.json()["model"] for answer in answers} == set(ids)
    for answer in answers:
        found = answer.json()
        assert found["probabilities"] == pytest.approx(ids[found["model"]], rel=1e-12)
    # A look may come between the last change and the signal: then it is read once more.
    taken = 2 + said.count("was read again: it is the same")
    assert f'tempocal_reloads_total{{result="ok"}} {taken}\n' in counted
    assert 'tempocal_reloads_total{result="failed"} 1' in counted
    assert said.count("replaces") == 2
    assert said.count("stays in use") == 1


def change(service, path, spare):
    """Replace the model, then damage it, both as a watcher sees it; mend it with a signal."""
    time.sleep(0.5)
    os.replace(save(NEW, spare), path)
    until(lambda: b'reloads_total{result="ok"} 1\n' in send(service.port, METRICS))
    path.write_bytes(b"{}")
    until(lambda: b'reloads_total{result="failed"} 1\n' in send(service.port, METRICS))
    os.replace(save(OLD, spare), path)
    service.send(signal.SIGHUP)
    until(lambda: b'reloads_total{result="ok"} 1\n' not in send(service.port, METRICS))
    time.sleep(0.5)


def test_without_watching_only_the_signal_reloads(tmp_path):
    path = save(OLD, tmp_path / "model.json")
    with running(path, "--no-watch") as service:
        first = httpx.get(f"{service.url}/readyz").json()
        save(NEW, path)
        time.sleep(1.5)
        assert httpx.get(f"{service.url}/readyz").json() == first
        service.send(signal.SIGHUP)
        until(lambda: httpx.get(f"{service.url}/readyz").json() != first)


def test_no_accepted_request_is_lost_when_it_stops_under_load(model):
    """`make load` does it a hundred times."""
    wanted = pytest.approx(wanted_of(OLD), rel=1e-12)

    def is_right(status, body):
        return status == 200 and json.loads(body)["probabilities"] == wanted

    cases = [Case("one row", REQUEST, is_right)]
    moments = random.Random(0)
    for _ in range(4):
        seen = stop_under_load(model, cases, moments)
        assert seen.is_good, seen
        assert seen.answered >= KEPT + SINGLE


def test_a_request_that_is_half_there_when_it_stops_is_finished(model):
    with running(model) as service:
        with socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE) as connection:
            connection.sendall(REQUEST[:-5])
            request_has_arrived(service.port)
            service.send(signal.SIGTERM)
            time.sleep(1.5)
            connection.sendall(REQUEST[-5:])
            assert answered(connection) == (200, True)
        assert service.wait() == 0


def test_a_request_on_an_open_connection_while_it_stops_is_answered(model):
    with running(model) as service:
        with socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE) as connection:
            connection.sendall(REQUEST)
            assert answered(connection) == (200, False)
            service.send(signal.SIGTERM)
            time.sleep(0.5)
            connection.sendall(REQUEST)
            assert answered(connection) == (200, True)
        assert service.wait() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_client_that_hangs_does_not_hold_up_the_end(model, number):
    with running(model, "--grace", "1") as service:
        with socket.create_connection(("127.0.0.1", service.port)) as connection:
            connection.sendall(REQUEST[:-1])
            request_has_arrived(service.port)
            assert service.stop(number) == 0
        assert "Traceback" not in service.log()


def test_a_second_signal_ends_it_at_once(model):
    with running(model, "--grace", "60") as service, socket.socket() as connection:
        connection.connect(("127.0.0.1", service.port))
        connection.sendall(REQUEST[:-1])
        request_has_arrived(service.port)
        service.send(signal.SIGTERM)
        time.sleep(1.5)
        assert service.stop() == 0


@pytest.fixture
def refused(monkeypatch):
    monkeypatch.delenv("TEMPOCAL_TOKEN", raising=False)

    def runs(*words, code=1, **environment):
        result = CliRunner().invoke(tempocal, ["serve", *map(str, words)], env=environment)
        assert result.exit_code == code, result.output
        assert result.stderr.startswith("Error: ")
        assert len(result.stderr.splitlines()) == 1
        return result.stderr

    return runs


def test_what_cannot_be_served_is_one_sentence(model, refused, tmp_path):
    damaged = tmp_path / "damaged.json"
    damaged.write_bytes(model.read_bytes()[:-40])
    assert "gone.json does not exist" in refused("gone.json")
    assert "damaged.json is damaged: incomplete" in refused(damaged, code=3)
    assert "none does not exist" in refused(model, "--token-file", tmp_path / "none")
    assert "but it is empty" in refused(model, TEMPOCAL_TOKEN="")
    said = refused(model, "--host", "nowhere.invalid", "--port", 81)
    assert said.startswith("Error: cannot listen at nowhere.invalid, port 81: ")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"127.0.0.1, port {port}: Address already in" in refused(model, "--port", port)


def test_an_open_address_without_a_token_is_warned_of(model):
    with running(model, "--host", "0.0.0.0") as service:
        assert (
            "Warning: anybody who reaches 0.0.0.0 may ask, for there is no token" in service.log()
        )
    with running(model, "--host", "0.0.0.0", TEMPOCAL_TOKEN="s3cret") as service:
        assert "Warning" not in service.log()
        assert "s3cret" not in service.log()
        url = f"http://127.0.0.1:{service.port}/v1/score"
        assert httpx.post(url, json=GOOD).status_code == 401
        borne = {"authorization": "Bearer s3cret"}
        assert httpx.post(url, json=GOOD, headers=borne).status_code == 200


def test_the_example_of_the_help_runs(model, tmp_path):
    text = CliRunner().invoke(tempocal, ["serve", "--help"]).stdout
    words = shlex.split(text[text.index("Example:") :].splitlines()[1])
    assert words[:3] == ["tempocal", "serve", "demo-output/model.json"]
    with running(model, *words[3:]) as service:  # whose own --port comes last, and counts
        assert httpx.get(f"{service.url}/readyz").status_code == 200


@pytest.mark.parametrize("package", ["fastapi", "uvicorn"])
def test_a_package_that_is_missing_is_one_sentence(model, package, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(f"import sys; sys.modules[{package!r}] = None\n")
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    words = [sys.executable, "-m", "tempocal", "serve", model]
    environment = os.environ | {"PYTHONPATH": paths}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 1
    assert done.stderr == f'Error: {package} is missing: pip install "tempocal[serve]"\n'


def test_it_loads_neither_numpy_nor_scikit_learn(model):
    code = (
        "import sys; from tempocal.serve.app import Service; from tempocal.serve import Settings;"
        f"Service(Settings({str(model)!r}));"
        "assert not {'numpy', 'scipy', 'sklearn'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

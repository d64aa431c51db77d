"""The start page and the description of the paths: read without scripts and without a network."""

import json
import re
import shlex
from html import unescape

import numpy as np
import pytest

from serve.asking import ask, model_of, refused, service_of
from serve.test_openapi import MODELS

PATHS = ("/", "/docs")
COMMAND = re.compile(r"<pre>(curl.*?)</pre><p>The answer:</p><pre>(.*?)</pre>")


@pytest.mark.parametrize("name", MODELS)
def test_the_example_requests_are_answered_as_shown(tmp_path, name):
    service = service_of(MODELS[name], tmp_path / "model.json")
    found = COMMAND.findall(ask(service, path="/").text)
    assert len(found) == 2
    for command, shown in found:
        words = shlex.split(unescape(command))
        assert words[-1].endswith("/v1/score")
        answer = ask(service, json.loads(words[words.index("--json") + 1]))
        assert answer.status_code == 200
        assert answer.json() == json.loads(unescape(shown))


@pytest.mark.parametrize("path", PATHS)
def test_nothing_is_loaded_from_elsewhere(along_time, path):
    page = ask(along_time, path=path)
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert not re.search(r"<(script|link|img|iframe)|src=|@import|url\(", page.text)
    links = re.findall(r'href="(.*?)"', page.text)
    assert all(ask(along_time, path=link).status_code == 200 for link in links)


def test_every_path_is_described(along_time):
    text = ask(along_time, path="/docs").text
    for path, methods in ask(along_time, path="/openapi.json").json()["paths"].items():
        for method, operation in methods.items():
            assert f"{method.upper()} {path}</th><td>{operation['summary']}" in text


def test_names_of_classes_are_escaped(tmp_path):
    service = service_of(model_of(classes=np.array(["<b>", "&"])), tmp_path / "model.json")
    for path in PATHS:
        assert "<b>" not in ask(service, path=path).text


@pytest.mark.parametrize("path", PATHS)
def test_they_need_the_token_if_there_is_one(tmp_path, path):
    service = service_of(model_of(), tmp_path / "model.json", token="s3cret")
    assert refused(service, 401, path=path)["code"] == "unauthorized"
    page = ask(service, path=path, headers={"authorization": "Bearer s3cret"})
    assert page.status_code == 200
    assert "s3cret" not in page.text

"""The page on the service: its requests are answered as it says."""

import json
import re
import shlex
from pathlib import Path

import httpx
import pytest

from benchmarks.load.service import running

PAGE = Path(__file__).parents[2] / "docs" / "serve.md"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_the_requests_of_the_page_are_answered_as_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = FENCE.findall(PAGE.read_text(encoding="utf-8"))
    exec(next(code for language, code in blocks if language == "python"), {})
    commands = [shlex.split(code) for language, code in blocks if language == "shell"]
    asked = [words for words in commands if words[0] == "curl"]
    shown = [json.loads(code) for language, code in blocks if language == "json"]
    assert len(asked) == len(shown) == 3
    assert ["tempocal", "serve", "model.json", "--port", "8000"] in commands
    with running("model.json") as service:
        for (curl, flag, body, url), wanted in zip(asked, shown, strict=True):
            assert (curl, flag) == ("curl", "--json")
            found = httpx.post(
                url.replace("http://127.0.0.1:8000", service.url),
                content=body,
                headers={"content-type": "application/json"},
            ).json()
            assert list(found) == list(wanted)
            if "error" in wanted:
                assert found == wanted
            else:
                assert len(found["model"]) == len(wanted["model"])
                assert found["classes"] == wanted["classes"]
                pairs = zip(found["probabilities"], wanted["probabilities"], strict=True)
                assert all(a == pytest.approx(b, abs=1e-3) for a, b in pairs)

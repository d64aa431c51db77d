import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

import tempocal as tc
from tempocal.report import write

MATCHES = tc.datasets.simulate_match(150, seed=2)
COMMAND = 'tempocal report "a & b.csv" --label y'
NASTY = ["<script>alert(1)</script>", "$x_{", 'ü & "q"\'']


def several_classes(n_classes, names=None):
    random = np.random.default_rng(n_classes)
    sequence, time = np.repeat(np.arange(60), 6), np.tile(np.arange(6), 60)
    label = np.repeat(random.integers(0, n_classes, 60), 6)
    logits = random.normal(size=(360, n_classes)) + 2.0 * np.eye(n_classes)[label]
    logits *= np.where(time < 3, 6.0, 2.0)[:, None]
    classes = np.arange(n_classes) if names is None else np.array(names)
    return tc.assess(logits, classes[label], time=time, sequence=sequence, classes=classes)


@pytest.fixture(scope="module")
def found():
    return tc.assess(MATCHES.logits, MATCHES.label, time=MATCHES.time, sequence=MATCHES.sequence)


@pytest.fixture(scope="module")
def page(found, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    tc.report.write_report(found, path, command=COMMAND, time_name="rounds played")
    return path


@pytest.mark.usefixtures("few_candidates")
def test_several_classes(browser, opened, tmp_path):
    path = tmp_path / "report.html"
    found = several_classes(5)
    tc.report.write_report(found, path)
    with opened(browser, path) as (tab, said):
        tab.locator("#when").fill("2")
        tabs = tab.locator(".tabs button")
        assert tabs.all_inner_texts() == ["the most probable class", *"01234"]
        line = tab.locator("#auc .plot .trace path.js-line").nth(1)
        top = line.get_attribute("d")
        tabs.nth(2).click()
        assert tabs.nth(2).get_attribute("aria-pressed") == "true"
        assert line.get_attribute("d") != top
        label = tab.locator("#auc .plot").get_attribute("aria-label")
        auc = found.scores["raw"].classes[1].auc
        assert f"from {auc.value[0]:.4f} ({auc.lower[0]:.4f} to {auc.upper[0]:.4f})" in label
        assert tab.locator("#when").input_value() == "2"
        assert said == []


@pytest.mark.usefixtures("few_candidates")
def test_names_from_the_data_stay_text(browser, opened, tmp_path):
    path = tmp_path / "report.html"
    tc.report.write_report(
        several_classes(3, NASTY), path, title=NASTY[0], command=NASTY[0], time_name=NASTY[1]
    )
    with opened(browser, path) as (tab, said):
        assert tab.locator("h1").inner_text() == NASTY[0]
        assert NASTY[0] in tab.locator("#facts").inner_text()
        assert tab.locator("script").count() == 4
        assert said == []


def test_the_most_wrong_sequences_are_shown(found, page):
    text = page.read_text(encoding="utf-8")
    worst = found.worst[0]
    assert worst.brier == max(one.brier for one in found.worst)
    title = f"Sequence {worst.sequence}: probability of {worst.followed}, outcome {worst.label}"
    assert f"{title}, Brier score {worst.brier:.3f}" in text


def test_the_page_is_whole_and_asks_for_nothing(page):
    text = page.read_text(encoding="utf-8")
    own = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    assert not re.search(r"(src|href)=\"(?!data:,|#)", own)
    assert "@import" not in own
    assert "url(http" not in own
    # And the browser is told to allow nothing else.
    assert "default-src 'none'" in own
    assert page.stat().st_size < 4_000_000


def test_every_element_is_closed(page):
    class Depth(HTMLParser):
        void = ("meta", "link", "input", "br", "path", "use", "rect")
        open: list[str]

        def handle_starttag(self, tag, attrs):
            if tag not in self.void:
                self.open.append(tag)

        def handle_endtag(self, tag):
            if tag not in self.void:
                assert self.open.pop() == tag

    parser = Depth()
    parser.open = []
    parser.feed(page.read_text(encoding="utf-8"))
    assert parser.open == []


def test_the_same_assessment_gives_the_same_page(found, page, tmp_path):
    again = tmp_path / "again.html"
    tc.report.write_report(found, again, command=COMMAND, time_name="rounds played")
    assert again.read_bytes() == page.read_bytes()


def test_a_page_that_cannot_be_written_leaves_the_old_one(found, tmp_path, monkeypatch):
    monkeypatch.setattr(write, "report_html", lambda found, **named: "drawn in other tests")
    with pytest.raises(OSError, match="cannot save the report"):
        tc.report.write_report(found, tmp_path / "nowhere" / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_jinja_is_asked_for_in_one_sentence():
    code = (
        "import sys; sys.modules['jinja2'] = None\n"
        "from tempocal.report.write import _template\n"
        "try: _template()\n"
        "except ImportError as error: print(error)"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert b'pip install "tempocal[report]"' in printed.stdout

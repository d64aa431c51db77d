import json
import re
import subprocess
import sys
from html.parser import HTMLParser

import matplotlib
import numpy as np
import pytest

import tempocal as tc
from tempocal.assessment.wording import span_text
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


def opened(browser, path, **settings):
    """Open a page, and fail on anything that its console says or that it asks the network for."""
    context = browser.new_context(**settings)
    context.set_default_timeout(300_000)  # the machine may be busy
    tab = context.new_page()
    said = []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("request", lambda request: said.append(request.url) if "http" in request.url else None)
    tab.goto(path.as_uri())
    return context, tab, said


def test_it_loads_without_a_word_and_the_slider_moves_the_picture(browser, page, found):
    context, tab, said = opened(browser, page)
    frames = tab.locator("#reliability .frame")
    count = len(found.scores["raw"].reliability_over_time)
    assert frames.count() == count
    shown = tab.locator("#reliability .frame:visible")
    before = shown.inner_html()
    tab.locator("#when").fill("7")
    assert shown.count() == 1
    assert shown.get_attribute("data-time-bin") == "7"
    assert shown.inner_html() != before
    table = found.scores["raw"].ece_over_time
    assert tab.locator("#when-text").inner_text() == span_text(table.time_from[7], table.time_to[7])
    tab.locator("#when").press("ArrowRight")
    assert shown.get_attribute("data-time-bin") == "8"
    assert said == []
    context.close()


def test_its_numbers_are_those_of_python(browser, page, found):
    context, tab, _ = opened(browser, page)
    numbers = json.loads(tab.locator("#numbers").inner_text())
    for name, scores in found.scores.items():
        assert numbers["scores"][name]["nll"]["value"] == scores.nll.value
        assert numbers["scores"][name]["ece_over_time"]["value"] == list(scores.ece_over_time.value)
        assert numbers["scores"][name]["ece_over_time"]["upper"] == list(scores.ece_over_time.upper)
    rows = tab.locator("#scores tbody tr")
    for k, scores in enumerate(found.scores.values()):
        cells = rows.nth(k).locator("td").all_inner_texts()
        assert cells[1].split("\n")[0] == f"{scores.nll:.4f}"
        assert cells[5].split("\n")[0] == f"{scores.ece_over_time.mean:.4f}"
    assert tab.locator("#verdict .headline").inner_text() == found.verdict.headline
    assert tab.locator("#candidates tbody tr").count() == len(found.candidates)
    bold = tab.locator("#candidates tr.chosen td:first-child").all_inner_texts()
    assert bold == [one["name"] for one in found.candidates if one["weight"] > 0]
    assert tab.locator("#command").inner_text() == COMMAND
    context.close()


def test_points_of_the_picture_are_the_numbers(browser, page, found):
    """Of the drawn line through the bins, in pixels, the data come back."""
    context, tab, _ = opened(browser, page)
    table = found.scores["raw"].reliability_over_time[0]
    drawn = tab.locator("#reliability .frame[data-time-bin='0'] svg")
    ends = tab.evaluate(
        """() => [...document.querySelectorAll(
             "#reliability .frame[data-time-bin='0'] svg path")]
           .map(path => [path.getAttribute('style') || '', path.getAttribute('d')])"""
    )
    lines = [d for style, d in ends if "#d55e00" in style and d.count("L") == len(table.count) - 1]
    assert drawn.count() == 1
    assert lines
    points = np.array(re.findall(r"[ML] ([\d.]+) ([\d.]+)", lines[0]), dtype=float)
    for column, values in ((0, table.confidence), (1, table.frequency)):
        assert abs(np.corrcoef(points[:, column], values)[0, 1]) > 1 - 1e-6
    context.close()


@pytest.mark.parametrize("width", [360, 390, 1200])
def test_it_fits_every_width(browser, page, width):
    context, tab, _ = opened(browser, page, viewport={"width": width, "height": 800})
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_dark_mode_is_dark_and_its_text_light(browser, page):
    context, tab, _ = opened(browser, page, color_scheme="dark")
    back, front = tab.evaluate(
        "() => { const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]; }"
    )
    brightness = [np.mean([int(n) for n in re.findall(r"\d+", one)[:3]]) for one in (back, front)]
    assert brightness[0] < 50
    assert brightness[1] > 200
    fill = tab.evaluate("getComputedStyle(document.querySelector('#error svg text')).fill")
    assert np.mean([int(n) for n in re.findall(r"\d+", fill)[:3]]) > 200
    context.close()


def test_it_prints(browser, page):
    context, tab, _ = opened(browser, page)
    assert len(tab.pdf()) > 10_000
    context.close()


@pytest.mark.usefixtures("few_candidates")
def test_several_classes(browser, tmp_path):
    path = tmp_path / "report.html"
    tc.report.write_report(several_classes(5), path)
    context, tab, said = opened(browser, path)
    tab.locator("#when").fill("2")
    assert "most probable class" in tab.locator("body").inner_text()
    assert said == []
    context.close()


@pytest.mark.usefixtures("few_candidates")
def test_names_from_the_data_stay_text(browser, tmp_path):
    path = tmp_path / "report.html"
    tc.report.write_report(
        several_classes(3, NASTY), path, title=NASTY[0], command=NASTY[0], time_name=NASTY[1]
    )
    context, tab, said = opened(browser, path)
    assert tab.locator("h1").inner_text() == NASTY[0]
    assert NASTY[0] in tab.locator("#facts").inner_text()
    assert tab.locator("script").count() == 2
    assert said == []
    context.close()


def test_the_page_is_whole_and_asks_for_nothing(page):
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"(src|href)=\"(?!data:,|#)", text)
    assert "@import" not in text
    assert "url(http" not in text
    assert page.stat().st_size < 2_000_000


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


def test_the_same_assessment_gives_the_same_page_in_any_style(found, page, tmp_path):
    again = tmp_path / "again.html"
    with matplotlib.rc_context({"font.size": 31.0}):
        before = dict(matplotlib.rcParams)
        tc.report.write_report(found, again, command=COMMAND, time_name="rounds played")
        assert dict(matplotlib.rcParams) == before
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

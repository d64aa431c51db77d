"""The page in a real browser: what it shows and offers are the numbers of the API."""

import csv
import json
import re

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe

import tempocal as tc
from tempocal.assessment.chance import may_be_chance
from tempocal.assessment.wording import METHOD_NAMES, span_text

MATCHES = tc.datasets.simulate_match(150, seed=2)
COMMAND = 'tempocal report "a & b.csv" --label y'
TEXT = "document.querySelector('#error .plot text')"
RAW = METHOD_NAMES["raw"][0]


@pytest.fixture(scope="module")
def found():
    return tc.assess(
        MATCHES.logits,
        MATCHES.label,
        time=MATCHES.time,
        sequence=MATCHES.sequence,
        time_name="round",
    )


@pytest.fixture(scope="module")
def page(found, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    tc.report.write_report(found, path, command=COMMAND)
    return path


@pytest.fixture(scope="module")
def shared_tab(browser, page, opened):
    with opened(browser, page, viewport={"width": 1200, "height": 900}) as (tab, said):
        yield tab
        assert said == []


@pytest.fixture
def tab(shared_tab):
    shared_tab.reload()
    return shared_tab


def figure(tab, name):
    """Return the table that the page draws."""
    columns = json.loads(tab.locator("#figures").inner_text())[name]["columns"]
    texts = {key: one for key, one in columns.items() if isinstance(one, dict)}
    decoded = {key: [one["levels"][code] for code in one["codes"]] for key, one in texts.items()}
    return {**columns, **decoded}


def rows_of(columns, **given):
    """Return the rows in which some columns have these values."""
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return [row for row in rows if all(row[name] == value for name, value in given.items())]


def lines(tab, name):
    """Count the lines that are drawn in a figure."""
    return tab.locator(f"#{name} .plot .trace path.js-line:visible").count()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200, 1900])
def test_it_fits_is_readable_and_silent(browser, page, opened, width, scheme):
    """Nothing is cut, axe finds nothing, with all that is folded away unfolded."""
    size = {"width": width, "height": 900}
    # The page forbids itself to run what is not in it; axe is not.
    with opened(browser, page, viewport=size, color_scheme=scheme, bypass_csp=True) as (tab, said):
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        boxes = "[...document.querySelectorAll('figure, table, .plot')]"
        assert max(tab.evaluate(f"{boxes}.map(e => e.scrollWidth - e.clientWidth)")) <= 1
        tab.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        assert [one["id"] for one in Axe().run(tab).response["violations"]] == []
        parts = ("document.body).backgroundColor", "document.body).color", f"{TEXT}).fill")
        colors = [re.findall(r"\d+", tab.evaluate(f"getComputedStyle({part}")) for part in parts]
        shades = [np.mean([int(number) for number in one[:3]]) for one in colors]
        dark = [shade < 80 for shade in shades]
        assert dark == ([True, False, False] if scheme == "dark" else [False, True, True])
        assert said == []


def test_hover_shows_the_numbers_of_the_api(tab, found):
    box = tab.locator("#error .plot").bounding_box()
    tab.locator("#error .plot").scroll_into_view_if_needed()
    table = found.scores["raw"].ece_over_time
    markers = tab.locator("#error .plot .trace").filter(has=tab.locator("path.point"))
    assert markers.count() == 1 + len(found.scores)  # the first is invisible: the times
    at = markers.nth(1).locator("path.point").nth(0).bounding_box()
    tab.mouse.move(at["x"] + at["width"] / 2, at["y"] + at["height"] / 2)
    shown = tab.locator("#error .hoverlayer")
    shown.locator("text").first.wait_for()
    text = shown.text_content()
    assert f"{RAW}: {table.value[0]:.4f} ({table.lower[0]:.4f} to {table.upper[0]:.4f})" in text
    assert f"chance limit: {found.scores['raw'].chance_limit[0]:.4f}" in text
    assert f"round {table.time_from[0]:g} to {table.time_to[0]:g}" in text
    assert box is not None


def test_a_legend_click_hides_a_line_and_another_shows_it(tab, found):
    before = lines(tab, "error")
    button = tab.locator("#error .legend button", has_text=RAW)
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert lines(tab, "error") == before - 2  # the line and its band
    button.focus()
    tab.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "true"
    assert lines(tab, "error") == before


@pytest.mark.parametrize("name", ["error", "reliability", "gain", "auc", "curve", "worst"])
def test_the_files_it_offers_are_its_tables(tab, name):
    columns, read = figure(tab, name), {}
    for kind in ("CSV", "JSON"):
        with tab.expect_download() as download:
            tab.locator(f"#{name} .tools button", has_text=kind).click()
        assert download.value.suggested_filename == f"{name}.{kind.lower()}"
        read[kind] = download.value.path().read_text(encoding="utf-8")
    assert json.loads(read["JSON"]) == columns
    head, *rows = csv.reader(read["CSV"].splitlines())
    assert head == list(columns)
    for written, row in zip(rows, zip(*columns.values(), strict=True), strict=True):
        for text, value in zip(written, row, strict=True):
            if isinstance(value, bool) or not isinstance(value, int | float):
                assert text == {True: "true", False: "false", None: ""}.get(value, value)
            else:
                assert float(text) == value


def test_gains_are_those_of_the_assessment(tab, found):
    columns, table = figure(tab, "gain"), found.scores["along time"].gain_over_time
    rows = list(zip(*(columns[name] for name in ("gain", "lower", "upper", "surely")), strict=True))
    wanted = zip(table.value, table.lower_all, table.upper_all, table.effect.tolist(), strict=True)
    assert rows[-len(table) :] == list(wanted)
    assert len(rows) == len(table) * (len(found.scores) - 1)


def test_tables_of_the_figures_are_the_numbers_of_the_api(tab, found):
    errors, diagrams = figure(tab, "error"), figure(tab, "reliability")
    for name, scores in found.scores.items():
        label, table = METHOD_NAMES[name][0], scores.ece_over_time
        rows = rows_of(errors, predictions=label)
        names = {"error": table.value, "lower": table.lower, "upper": table.upper}
        names |= {"chance_limit": scores.chance_limit, "may_be_chance": may_be_chance(table)}
        for column, values in names.items():
            assert [row[column] for row in rows] == values.tolist()
        for k, diagram in enumerate(scores.reliability_over_time):
            rows = rows_of(diagrams, predictions=label, time_bin=k)
            assert [row["predicted"] for row in rows] == diagram.confidence.tolist()
            assert [row["observed"] for row in rows] == diagram.frequency.tolist()
    curve = rows_of(figure(tab, "curve"), line="fitted curve")
    values = np.concatenate(list(found.curve.values.values()))
    assert [row["value"] for row in curve] == values.tolist()


def test_hollow_points_are_those_that_may_be_chance(tab, found):
    """One rule for the picture, the table and the words."""
    chance = may_be_chance(found.scores["raw"].ece_over_time)
    points = tab.locator("#error .plot .trace").filter(has=tab.locator("path.point")).nth(1)
    fills = points.locator("path.point").evaluate_all("all => all.map(e => e.style.fill)")
    assert [one == fills[chance.argmax()] for one in fills] == chance.tolist()
    tab.locator("#time-bin-numbers summary").click()
    said = tab.locator("#time-bins tbody tr td:last-child").all_inner_texts()
    assert [one == "may be chance" for one in said] == chance.tolist()
    in_spells = sum(not one for one in chance)
    assert bool(found.verdict.spells) == bool(in_spells)


def test_the_slider_moves_the_picture(tab, found):
    place = "e => e.getAttribute('d')"
    line = tab.locator("#reliability .plot .trace path.js-line").nth(1)
    before = line.evaluate(place)
    tab.locator("#when").fill("7")
    table = found.scores["raw"].ece_over_time
    text = span_text(table.time_from[7], table.time_to[7], "round")
    assert tab.locator("#when-text").inner_text() == text
    assert line.evaluate(place) != before
    tab.locator("#when").press("ArrowRight")
    assert tab.locator("#when").input_value() == "8"
    assert tab.locator("#time-bins tr.here").get_attribute("class") == "here"


def test_points_of_the_picture_are_the_numbers(tab, found):
    """Of the drawn points, in pixels, the data come back."""
    table = found.scores["raw"].reliability_over_time[0]
    points = tab.locator("#reliability .plot .trace").filter(has=tab.locator("path.point")).nth(0)
    drawn = points.locator("path.point").evaluate_all(
        "all => all.map(e => { const m = e.getCTM(); return [m.e, m.f]; })"
    )
    for pixels, values in zip(
        np.transpose(drawn), (table.confidence, table.frequency), strict=True
    ):
        assert abs(np.corrcoef(pixels, values)[0, 1]) > 1 - 1e-6


def test_it_zooms_by_mouse_and_by_button_and_the_axis_can_be_logarithmic(tab):
    axis = "() => document.querySelector('#error .plot')._fullLayout.xaxis.range"
    whole = tab.evaluate(axis)
    tab.locator("#error .tools button", has_text="Zoom in").click()
    half = tab.evaluate(axis)
    assert half[1] - half[0] == pytest.approx((whole[1] - whole[0]) / 2)
    tab.locator("#error .tools button", has_text="Reset").click()
    assert tab.evaluate(axis) == pytest.approx(whole)
    box = tab.locator("#error .plot .nsewdrag").bounding_box()
    tab.mouse.move(box["x"] + box["width"] / 4, box["y"] + 50)
    tab.mouse.down()
    tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + 50, steps=4)
    tab.mouse.up()
    zoomed = tab.evaluate(axis)
    assert zoomed[1] - zoomed[0] == pytest.approx((whole[1] - whole[0]) / 4, rel=0.05)
    tab.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + 50)
    assert tab.evaluate(axis) == pytest.approx(whole)
    button = tab.locator("#error .tools button", has_text="Log axis")
    before = button.get_attribute("aria-pressed")
    button.click()
    assert button.get_attribute("aria-pressed") != before
    gaps = np.diff(
        tab.locator("#error .plot .trace")
        .filter(has=tab.locator("path.point"))
        .nth(1)
        .locator("path.point")
        .evaluate_all("all => all.map(e => e.getCTM().e)")
    )
    linear = np.diff(figure(tab, "error")["time"][: len(gaps) + 1])
    is_log = before == "false"
    assert (gaps[0] / gaps[-1] > 2 * linear[0] / linear[-1]) == is_log


def test_its_numbers_are_those_of_python(tab, found):
    numbers = json.loads(tab.locator("#numbers").inner_text())
    for name, scores in found.scores.items():
        assert numbers["scores"][name]["nll"]["value"] == scores.nll.value
        assert numbers["scores"][name]["ece_over_time"]["value"] == list(scores.ece_over_time.value)
    rows = tab.locator("#scores tbody tr")
    for k, (name, scores) in enumerate(found.scores.items()):
        cells = rows.nth(k).locator("th, td").all_inner_texts()
        assert cells[0].startswith(METHOD_NAMES[name][0])
        assert cells[1].startswith(f"{scores.nll:.4f}")
        assert cells[5].startswith(f"{scores.ece_over_time.mean:.4f}")
    assert tab.locator("#verdict .headline").inner_text() == found.verdict.headline
    assert tab.locator("#candidates tbody tr").count() == len(found.candidates)
    weighed = [one for one in found.candidates if one["weight"] > 0]
    assert tab.locator("#candidates tr.marked").count() == len(weighed)
    assert tab.locator("#command").inner_text() == COMMAND


def test_a_screen_reader_is_told_the_numbers(tab, found):
    label = tab.locator("#error .plot").get_attribute("aria-label")
    table = found.scores["raw"].ece_over_time
    assert f"{RAW}: from {table.value[0]:.4f}" in label
    assert "calibration error over time" in label.lower()


def test_it_prints_in_light_colors(browser, page, opened):
    with opened(browser, page, color_scheme="dark") as (tab, _):
        tab.evaluate(
            "addEventListener('beforeprint', () => { window.ink = getComputedStyle("
            "document.querySelector('#error .plot text')).fill; })"
        )
        assert len(tab.pdf()) > 20_000
        assert tab.evaluate("window.ink") == "rgb(0, 0, 0)"
        assert tab.evaluate("document.documentElement.className") == ""


def test_a_finger_scrolls_the_page_and_a_tap_shows_the_numbers(browser, page, opened, found):
    phone = {"viewport": {"width": 390, "height": 800}, "has_touch": True, "is_mobile": True}
    with opened(browser, page, **phone) as (tab, said):
        tab.locator("#error .plot").scroll_into_view_if_needed()
        box = tab.locator("#error .plot").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        before, touch = tab.evaluate("scrollY"), tab.context.new_cdp_session(tab)
        for kind, points in (
            ("touchStart", [{"x": x, "y": y}]),
            *(("touchMove", [{"x": x, "y": y - 20 * k}]) for k in range(1, 11)),
            ("touchEnd", []),
        ):
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        tab.wait_for_function("before => scrollY > before", arg=before)
        tab.locator("#error .plot").scroll_into_view_if_needed()
        box = tab.locator("#error .plot").bounding_box()
        tab.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        tab.locator("#error .hoverlayer text").first.wait_for()
        assert RAW in tab.locator("#error .hoverlayer").text_content()
        assert said == []


@pytest.mark.parametrize(
    ("time", "words"),
    [
        (np.datetime64("2026-01-01", "s") + MATCHES.time * np.timedelta64(36, "h"), "2026-01-01"),
        (MATCHES.time * np.timedelta64(90, "s"), "minutes"),
        (MATCHES.time - 5.0, "-5"),
    ],
    ids=["dates", "durations", "below 0"],
)
@pytest.mark.usefixtures("few_candidates")
def test_any_kind_of_time_is_drawn(browser, opened, tmp_path, time, words):
    found = tc.assess(MATCHES.logits, MATCHES.label, time=time, sequence=MATCHES.sequence)
    tc.report.write_report(found, tmp_path / "report.html")
    with opened(browser, tmp_path / "report.html") as (tab, said):
        assert words in tab.locator("#error .plot").get_attribute("aria-label")
        can_be_log = tab.locator("#error .tools button", has_text="Log axis").count() == 1
        assert can_be_log == (words == "minutes")
        for text in ("Zoom in", "Left", "Right", "Zoom out", "Reset"):
            tab.locator("#error .tools button", has_text=text).click()
        assert said == []

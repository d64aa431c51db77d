"""HTML of tables: escaped, without scripts, and readable by machines."""

from html.parser import HTMLParser

from tempocal.notebook import HtmlTable, TextCell, render


class Checker(HTMLParser):
    """Collects tags and text, and checks that tags are closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts = [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] != "style":
            self.texts.append(data)


BAD = "<script>alert(\"1\")</script> & 'x'"


def test_text_is_escaped_everywhere():
    table = HtmlTable(BAD, [BAD, TextCell(BAD)], [[BAD, TextCell(BAD)], [TextCell(BAD), BAD]])
    found = Checker(render(BAD, table))
    assert {tag for tag, _ in found.tags}.isdisjoint({"script"})
    assert set(found.texts) == {BAD}
    assert len(found.texts) == 8


def test_heads_and_names_of_rows_are_heads():
    found = Checker(render(HtmlTable("Caption", ["name", "n"], [["a", "1"]], frozenset({0}))))
    scopes = [attrs["scope"] for tag, attrs in found.tags if tag == "th"]
    assert scopes == ["col", "col", "row"]
    assert ("tr", {"class": "marked"}) in found.tags
    assert found.texts == ["Caption", "name", "n", "a", "1"]
    (region,) = [attrs for tag, attrs in found.tags if attrs.get("role") == "region"]
    assert (region["aria-label"], region["tabindex"]) == ("Caption", "0")


def test_colors_are_those_of_the_page():
    text = render(HtmlTable("Caption", ["name"], [["a"]]))
    style = text[: text.index("</style>")]
    assert "color: inherit" in style
    assert "#" not in style

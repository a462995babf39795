"""HTML: what a reader sees, and nothing that hangs."""

import pytest

from quintet.formats.blocks import Block
from quintet.indexing.parse import parse

PAGE = """\
<!doctype html>
<html><head><title>The &amp; page</title>
<meta name="Description" content='About &lt;it&gt;'><meta name=author content=Ann>
<style>p { color: red }</style></head>
<body><!-- <p>hidden</p> -->
<h1>Top <em>level</em></h1>
<p>One   two<br>three
four &eacute;</p>
<ul><li>a<li><p>b</p>
</ul>
<h2>Part</h2>
<table><tr><th>x</th><th>y</th></tr><tr><td><p>1</p></td><td>2 &lt; 3</td></tr></table>
<pre>
  keep
    <b>this</b>
</pre>
<script>var a = "<p>no</p>";</script><noscript>no</noscript>
<dl><dt>term<dd>meaning</dl>
tail 1 < 2
</body></html>
"""


def test_a_page_becomes_blocks_with_lines_and_headings() -> None:
    top, part = ("Top level",), ("Top level", "Part")
    assert parse("a.html", PAGE).blocks == (
        Block("Top level", 6, 6, top, heading=True),
        Block("One two\nthree four é", 7, 8, top),
        Block("a", 9, 9, top),
        Block("b", 9, 9, top, tight=False),
        Block("Part", 11, 11, part, heading=True),
        Block("x | y", 12, 12, part),
        Block("1 | 2 < 3", 12, 12, part, tight=True),
        Block("  keep\n    this", 14, 15, part, "code"),
        Block("term", 18, 18, part),
        Block("meaning", 18, 18, part, tight=True),
        Block("tail 1 < 2", 19, 19, part),
    )


def test_title_and_meta_are_read_from_the_head() -> None:
    parsed = parse("a.html", PAGE)
    assert parsed.title == "The & page"
    assert parsed.metadata == {"description": "About <it>", "author": "Ann"}


@pytest.mark.parametrize(("text", "title"), [("<h2>H</h2>", "H"), ("<p>x", "my page")])
def test_without_a_title_the_first_heading_or_the_stem_serves(text: str, title: str) -> None:
    assert parse("x/my page.htm", text).title == title


def test_a_row_without_an_end_does_not_swallow_the_next() -> None:
    blocks = parse("a.html", "<table><tr><td>a<td>b<tr><td>c").blocks
    assert [block.text for block in blocks] == ["a | b", "c"]


@pytest.mark.parametrize(
    "text",
    [
        "<div>" * 200_000 + "end",
        "<a " * 300_000,
        "<a b='" * 150_000,
        "<a \"'>" * 150_000,
        "<!--" * 200_000,
        "<![CDATA[" * 100_000,
        "<p title='" + "x" * 1_000_000 + "'>end",
        "<meta " + "a = " * 250_000 + ">",
        "&" * 500_000,
        "&#" + "9" * 500_000,
        "</" * 400_000,
        "<script>" * 100_000,
        "<td>" * 200_000,
        "<table><tr>" + "<td>" * 200_000,
        "<template>" * 100_000,
    ],
    ids=range(15),
)
def test_hostile_pages_are_read_to_their_end(text: str) -> None:
    # Anything but linear time would not come back from these.
    assert parse("a.html", text + "<h1>the end</h1>").mime_type == "text/html"


def test_text_after_a_long_attribute_is_kept() -> None:
    assert [b.text for b in parse("a.html", "<p title='" + "x>" * 500_000 + "'>end").blocks] == ["end"]


@pytest.mark.parametrize(
    "navigation",
    [
        "<nav><a href=x>Home</a> <a href=y>Next</a></nav>",
        "<footer>Copyright</footer>",
        "<div class='toc wide'><ul><li>One</li></ul><div>Two</div></div>",
        "<div role=navigation>Skip</div>",
        "<ul class=contents><li>One</li></ul>",
    ],
)
def test_what_leads_around_a_site_is_left_out(navigation: str) -> None:
    page = f"<body><p>Before.</p>{navigation}<p>After.</p></body>"
    assert [block.text for block in parse("a.html", page).blocks] == ["Before.", "After."]


def test_the_anchor_of_a_heading_is_left_out() -> None:
    page = "<h1>Title<a class=headerlink href=#t>¶</a></h1><h2>Next ¶</h2><h2>Last<a>¶</a></h2><p>Text.</p>"
    assert [block.text for block in parse("a.html", page).blocks] == ["Title", "Next ¶", "Last", "Text."]


@pytest.mark.parametrize("page", ["<nav><p>Only this.</p></nav>", "<nav><p>Only this."])
def test_a_page_of_nothing_but_navigation_keeps_it(page: str) -> None:
    assert [block.text for block in parse("a.html", page).blocks] == ["Only this."]


def test_navigation_that_is_never_closed_hides_nothing() -> None:
    blocks = parse("a.html", "<p>Before.</p><nav><a>Home</a><p>After.</p>").blocks
    assert [block.text for block in blocks] == ["Before.", "Home", "After."]

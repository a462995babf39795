"""Markdown: headings, lists, tables, fences, front matter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from quintet.formats.blocks import Block
from quintet.indexing.parse import parse

GUIDE = """\
Intro *text*.

Title `x` and [link](u)
=======================

First paragraph
goes on.

- one
  - nested
- two

## Part

| a | b |
|---|---|
| 1 | 2 |

```py
# no heading

x = 1
```

    indented

> quote
> more

[ref]: http://example.org
"""


def test_blocks_are_the_sources_own_lines_under_their_headings() -> None:
    top, part = ("Title x and link",), ("Title x and link", "Part")
    assert parse("a.md", GUIDE).blocks == (
        Block("Intro *text*.", 1, 1),
        Block("Title `x` and [link](u)\n=======================", 3, 4, top, heading=True),
        Block("First paragraph\ngoes on.", 6, 7, top),
        Block("- one\n  - nested", 9, 10, top),
        Block("- two", 11, 11, top, tight=True),
        Block("## Part", 13, 13, part, heading=True),
        Block("| a | b |", 15, 15, part),
        Block("|---|---|", 16, 16, part, tight=True),
        Block("| 1 | 2 |", 17, 17, part, tight=True),
        Block("```py\n# no heading\n\nx = 1\n```", 19, 23, part, "code"),
        Block("    indented", 25, 25, part, "code"),
        Block("> quote\n> more", 27, 28, part),
        Block("[ref]: http://example.org", 30, 30, part),
    )


def test_a_higher_heading_closes_the_lower_ones() -> None:
    blocks = parse("a.md", "# A\n### C\n## B\n# D\n").blocks
    assert [block.heading_path for block in blocks] == [("A",), ("A", "C"), ("A", "B"), ("D",)]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: Given\n---\n# H\n", "Given"),
        ("## Low\n# High\n", "High"),
        ("## Low\n", "Low"),
        ("words\n", "my-file"),
        ("---\ntitle:\n---\n# H\n", "H"),
    ],
)
def test_the_title_is_given_or_a_heading_or_the_stem(text: str, title: str) -> None:
    assert parse("docs/my-file.md", text).title == title


def test_yaml_front_matter_becomes_metadata_in_json_types() -> None:
    text = "---\ntags: [a, 2]\nday: 2024-02-03\nat: 2024-02-03T04:05:06\nodd: .nan\n1: x\n---\nBody\n"
    parsed = parse("a.md", text)
    assert parsed.metadata == {
        "tags": ["a", 2],
        "day": "2024-02-03",
        "at": "2024-02-03T04:05:06",
        "odd": "nan",
        "1": "x",
    }
    assert parsed.blocks == (Block("Body", 8, 8),)


def test_toml_front_matter_becomes_metadata() -> None:
    parsed = parse("a.md", '+++\ntitle = "T"\nday = 2024-02-03\n+++\n\nBody\n')
    assert (parsed.title, parsed.metadata) == ("T", {"title": "T", "day": "2024-02-03"})
    assert parsed.blocks == (Block("Body", 6, 6),)


@pytest.mark.parametrize(
    "front",
    [
        "a: &x [1]\nb: *x",
        "a: [",
        "just words",
        "- a list",
        "a: !!timestamp x",
        "a: !!python/object:os.system x",
        "a: " + "[" * 60_000,
        "a: " + "x" * 65_536,
        "a: 2024-13-45",
    ],
    ids=range(9),
)
def test_front_matter_that_is_refused_is_kept_as_text(front: str) -> None:
    parsed = parse("a.md", f"---\n{front}\n---\n# H\n")
    assert parsed.metadata == {}
    assert parsed.blocks[0].text == f"---\n{front}\n---"
    assert (parsed.blocks[1].text, parsed.title) == ("# H", "H")


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    assert [b.text for b in parse("a.md", "---\n\n# A\n\n---\n").blocks] == ["---", "# A", "---"]


@pytest.mark.parametrize("unit", [">", "- ", "[", "<a \n", "[a]: b '\n", "# *a **b `c\n", "| a\n", "\n"])
def test_hostile_text_is_read_to_its_end(unit: str) -> None:
    # Anything much slower than linear would not come back from these.
    assert parse("a.md", "# Title\n\n" + unit * (200_000 // len(unit))).title == "Title"


@given(st.text("aZ9 \t#-+:;.,()>{}|~@$%^='\"/?é検\u2028*_`[]!<&\\", max_size=30))
def test_a_heading_is_the_text_that_inline_parsing_gives(text: str) -> None:
    """Headings without markup are not parsed, which would take longer than all the rest of a short note."""
    line = f"Title {text} end"
    inline = MarkdownIt("commonmark").parseInline(line)[0].children or []
    words = "".join(token.content for token in inline if token.type in ("text", "code_inline", "image"))
    (heading,) = [block for block in parse("a.md", f"{line}\n===\n").blocks if block.heading]
    assert heading.heading_path == (" ".join(words.split()),)

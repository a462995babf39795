"""reStructuredText: sections, literal blocks, directives, lists."""

from quintet.formats.blocks import Block
from quintet.indexing.parse import parse

GUIDE = """\
=====
Guide
=====

Words follow::

    literal

    still literal

Back.

Part
----

- one
  more
- two

1. first

.. code-block:: python

   x = 1

   y = 2

.. note:: Mind
   this.

Deep
~~~~

>>> 1 + 1
2

Other
-----
"""


def test_a_guide_becomes_blocks_under_its_sections() -> None:
    top, part = ("Guide",), ("Guide", "Part")
    assert parse("a.rst", GUIDE).blocks == (
        Block("=====\nGuide\n=====", 1, 3, top, heading=True),
        Block("Words follow::", 5, 5, top),
        Block("    literal\n\n    still literal", 7, 9, top, "code"),
        Block("Back.", 11, 11, top),
        Block("Part\n----", 13, 14, part, heading=True),
        Block("- one\n  more", 16, 17, part),
        Block("- two", 18, 18, part, tight=True),
        Block("1. first", 20, 20, part, tight=True),
        Block(".. code-block:: python\n\n   x = 1\n\n   y = 2", 22, 26, part, "code"),
        Block(".. note:: Mind\n   this.", 28, 29, part),
        Block("Deep\n~~~~", 31, 32, (*part, "Deep"), heading=True),
        Block(">>> 1 + 1\n2", 34, 35, (*part, "Deep"), "code"),
        Block("Other\n-----", 37, 38, ("Guide", "Other"), heading=True),
    )


def test_the_first_section_is_the_title() -> None:
    assert parse("a.rst", GUIDE).title == "Guide"
    assert parse("x/a.rst", "words\n").title == "a"


def test_the_same_mark_with_an_overline_is_another_level() -> None:
    blocks = parse("a.rst", "===\nTop\n===\n\nSub\n===\n").blocks
    assert [block.heading_path for block in blocks] == [("Top",), ("Top", "Sub")]


def test_a_table_is_one_block() -> None:
    table = "+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |\n+---+---+"
    assert parse("a.rst", table).blocks == (Block(table, 1, 5, kind="table"),)


def test_labels_are_left_out() -> None:
    text = ".. _install:\n\n.. _setup guide:\n\nInstall\n=======\n\nSay so. See `it`_.\n\n.. _it: https://example.org\n"
    blocks = parse("a.rst", text).blocks
    assert [block.text for block in blocks] == [
        "Install\n=======",
        "Say so. See `it`_.",
        ".. _it: https://example.org",
    ]

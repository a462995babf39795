"""JSON and JSON Lines."""

import pytest

from quintet.formats.blocks import Block
from quintet.indexing.parse import parse


def test_an_object_becomes_lines_of_paths_grouped_by_item() -> None:
    text = (
        '{\n  "name": "x",\n  "scripts": {\n    "build": "tsc",\n    "n": [1, null]\n  },\n  "empty": {}\n}\n'
    )
    assert parse("package.json", text).blocks == (
        Block("name: x", 2, 2, kind="data", tight=True),
        Block("scripts.build: tsc\nscripts.n: 1, null", 3, 6, kind="data"),
        Block("empty: {}", 7, 7, kind="data", tight=True),
    )


def test_an_array_has_a_block_for_each_item() -> None:
    text = '[{"a": 1,\n "b": [{"c": true}, {"c": "é"}]},\n\n "s"]'
    assert [(b.text, b.first_line, b.last_line) for b in parse("a.json", text).blocks] == [
        ("a: 1\nb.c: true\nb.c: é", 1, 2),
        ("s", 4, 4),
    ]


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1,}',
        "{'a': 1}",
        "[1 2]",
        '{"a" 1}',
        "[1] x",
        "[",
        "// c\n{}",
        "[1,,2]",
        "9" * 5000,
        "[" * 100_000,
    ],
    ids=range(10),
)
def test_what_is_no_json_is_read_as_plain_text(text: str) -> None:
    assert parse("a.json", text).blocks == (Block(text, 1, 1 + text.count("\n")),)


def test_deep_values_are_kept_whole() -> None:
    (block,) = parse("a.json", '{"k": ' * 100 + '"leaf"' + "}" * 100).blocks
    assert "leaf" in block.text


def test_a_long_key_does_not_multiply_the_text() -> None:
    text = '{"' + "k" * 10_000 + '": [' + ",".join(['{"a": 1}'] * 1000) + "]}"
    assert sum(len(block.text) for block in parse("a.json", text).blocks) < 20 * len(text)


def test_a_record_with_text_is_its_title_and_text() -> None:
    text = '{"id": 1, "title": "T", "text": "Body\\nmore"}\n\n{"content": "Only"}\n'
    assert parse("a.jsonl", text).blocks == (
        Block("T\nBody\nmore", 1, 1, ("T",), alone=True),
        Block("Only", 3, 3, alone=True),
    )


def test_other_records_are_lines_and_bad_ones_stay_as_they_are() -> None:
    text = '{"a": {"b": 1}, "text": 7}\n{bad\n[1, 2]'
    assert parse("a.ndjson", text).blocks == (
        Block("a.b: 1\ntext: 7", 1, 1, kind="data", alone=True),
        Block("{bad", 2, 2, alone=True),
        Block("1, 2", 3, 3, kind="data", alone=True),
    )


@pytest.mark.parametrize("path", ["a.json", "a.jsonl"])
def test_a_lone_surrogate_is_replaced(path: str) -> None:
    (block,) = parse(path, '{"text": "x\\ud800"}').blocks
    assert block.text.endswith("x\ufffd")

"""JSON as lines of `key.path: value`, and JSON Lines as one block per record."""

import json
from collections.abc import Iterator
from json.decoder import JSONDecoder

from quintet.formats.blocks import Block, ParsedFile
from quintet.formats.lines import one_line, stem, well_formed
from quintet.formats.text import paragraphs
from quintet.model.documents import Json

MAX_DEPTH = 24  # deeper values stay JSON
MAX_PATH = 160  # every line repeats its path: without a limit a long key would multiply the size of a file
TEXT_FIELDS = ("text", "content", "body")
_WHITE = " \t\n"
_decode, _decode_line = JSONDecoder().raw_decode, JSONDecoder().decode


def parse_json(path: str, text: str, mime_type: str) -> ParsedFile:
    """One block for each item of the outermost object or array. Text that is not JSON is read as plain
    text."""
    try:
        blocks = tuple(_items(text))
    except (ValueError, RecursionError, IndexError):
        blocks = paragraphs(text)
    return ParsedFile(stem(path), mime_type, None, blocks)


def parse_jsonl(path: str, text: str, mime_type: str) -> ParsedFile:
    blocks = (_record(line, number) for number, line in enumerate(text.split("\n"), 1) if line.strip())
    return ParsedFile(stem(path), mime_type, None, tuple(block for block in blocks if block.text.strip()))


def _items(text: str) -> Iterator[Block]:
    """Decode item by item, so that the lines of each item are known."""
    at = _skip(text, 0)
    opening = text[at : at + 1]
    closing = {"{": "}", "[": "]"}.get(opening)
    if closing is None:
        value, end = _decode(text, at)
        yield from _item((), value, text.count("\n", 0, at) + 1, text.count("\n", 0, end) + 1)
        _expect_end(text, end)
        return
    line, counted, at = 1, 0, _skip(text, at + 1)
    while text[at] != closing:
        start = at
        key: tuple[str, ...] = ()
        if opening == "{":
            key, at = _key(text, at)
        value, at = _decode(text, at)
        line += text.count("\n", counted, start)
        last = line + text.count("\n", start, at)
        yield from _item(key, value, line, last)
        line, counted = last, at
        at = _after(text, at, closing)
    _expect_end(text, at + 1)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _WHITE:
        at += 1
    return at


def _key(text: str, at: int) -> tuple[tuple[str, ...], int]:
    key, at = _decode(text, at)
    at = _skip(text, at)
    if not isinstance(key, str) or text[at] != ":":
        raise ValueError("an object key is a string and a colon")
    return (key,), _skip(text, at + 1)


def _after(text: str, at: int, closing: str) -> int:
    """The position of the next item, or of the closing bracket."""
    at = _skip(text, at)
    if text[at] == closing:
        return at
    following = _skip(text, at + 1)
    if text[at] != "," or text[following] == closing:
        raise ValueError("items are separated by one comma")
    return following


def _expect_end(text: str, at: int) -> None:
    if text[at:].strip():
        raise ValueError("text after the end")


def _item(key: tuple[str, ...], value: Json, first: int, last: int) -> Iterator[Block]:
    content = "\n".join(_flatten(value, ".".join(key), 0))
    if content.strip():
        yield Block(content, first, last, kind="data", tight="\n" not in content)


def _flatten(value: Json, path: str, depth: int) -> Iterator[str]:
    """`value` as lines. Array items share the path of the array, because an index would only add noise."""
    if isinstance(value, dict) and value and depth < MAX_DEPTH:
        for key, item in value.items():
            yield from _flatten(item, f"{path}.{key}"[-MAX_PATH:].removeprefix("."), depth + 1)
    elif (
        isinstance(value, list)
        and any(isinstance(item, (dict, list)) for item in value)
        and depth < MAX_DEPTH
    ):
        for item in value:
            yield from _flatten(item, path, depth + 1)
    else:
        content = _value_text(value)
        yield well_formed(f"{path}: {content}" if path else content)


def _value_text(value: Json) -> str:
    """A value as text: strings without quotes, array items separated by commas or, if long, by newlines."""
    if isinstance(value, list) and value and not any(isinstance(item, (dict, list)) for item in value):
        items = [_value_text(item) for item in value]
        short = sum(map(len, items)) <= MAX_PATH and not any("\n" in item for item in items)
        return (", " if short else "\n").join(items)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _record(line: str, number: int) -> Block:
    try:
        value: Json = _decode_line(line)
        if isinstance(value, dict):
            for name in TEXT_FIELDS:
                text = value.get(name)
                if isinstance(text, str) and text.strip():
                    return _passage(value.get("title"), text, number)
        content, kind = "\n".join(_flatten(value, "", 0)), "data"
    except (ValueError, RecursionError):
        content, kind = line, "text"
    return Block(content, number, number, kind=kind, alone=True)


def _passage(title: Json, text: str, number: int) -> Block:
    if isinstance(title, str) and title.strip():
        title = well_formed(title)
        return Block(f"{title}\n{well_formed(text)}", number, number, (one_line(title),), alone=True)
    return Block(well_formed(text), number, number, alone=True)

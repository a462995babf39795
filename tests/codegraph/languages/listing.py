"""Outlines as short lines, so that a test can list what it expects."""

from textwrap import dedent

from quintet.codegraph.extractor import extract
from quintet.codegraph.languages.registry import BY_NAME
from quintet.codegraph.source import read_source
from quintet.indexing.parse import parse
from quintet.model.symbols import Outline, Relation


def read(language: str, text: str, path: str) -> Outline:
    text = dedent(text).lstrip("\n")
    file = read_source(path, text, BY_NAME[language])
    assert file is not None
    return extract(file).outline


def chunks(path: str, text: str) -> list[str]:
    """`3-9 method A.run`, in reading order, without the lists of members."""
    blocks = parse(path, dedent(text).lstrip("\n")).blocks
    return [
        f"{block.first_line}-{block.last_line} {block.kind} {'.'.join(block.heading_path)}".rstrip()
        for block in blocks
        if not block.text.startswith("…")
    ]


def symbols(outline: Outline) -> list[str]:
    """`3 method A.run private test`, in reading order; ` in B` if the path does not name the parent."""
    lines = []
    for symbol in sorted(outline.symbols[1:], key=lambda symbol: symbol.first_line):
        parent = outline.symbols[symbol.parent or 0].path
        words = [str(symbol.first_line), symbol.kind, ".".join(symbol.path), symbol.visibility]
        words += ["test"] * symbol.is_test
        words += [f"in {'.'.join(parent) or 'module'}"] * (parent != symbol.path[:-1])
        lines.append(" ".join(words))
    return lines


def headers(outline: Outline) -> list[str]:
    """`3-9 def run(self)`, in reading order; ` | Runs.` if it has a docstring."""
    return [
        f"{symbol.first_line}-{symbol.last_line} {symbol.signature}"
        + f" | {symbol.docstring}" * bool(symbol.docstring)
        for symbol in sorted(outline.symbols[1:], key=lambda symbol: symbol.first_line)
    ]


def imports(outline: Outline) -> list[str]:
    """`owner: module name as alias exported`, `-` for what is empty."""
    return [
        f"{_owner(outline, found.owner)}: {found.module} {found.name or '-'} as {found.alias or '-'}"
        + " exported" * found.exported
        for found in outline.imports
    ]


def mentions(outline: Outline, relation: Relation) -> list[str]:
    """`line owner: path base`, by line, then in alphabetical order."""
    found = [
        (mention.line, f"{_owner(outline, mention.owner)}: {'.'.join(mention.path)} {mention.base}")
        for mention in outline.mentions
        if mention.relation == relation
    ]
    return [f"{line} {text}" for line, text in sorted(found)]


def up_to(line: int, listed: list[str]) -> list[str]:
    return [entry for entry in listed if int(entry.split()[0]) <= line]


def after(line: int, listed: list[str]) -> list[str]:
    return [entry for entry in listed if int(entry.split()[0]) > line]


def _owner(outline: Outline, number: int) -> str:
    return ".".join(outline.symbols[number].path) or "module"

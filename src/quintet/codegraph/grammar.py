"""tree-sitter behind one function.

Hostile text can make a grammar run for minutes, take gigabytes or overflow the C stack. So nesting is
measured before parsing, and the parser gets the source slice by slice until a deadline. (The binding's own
progress callback crashes the process in 0.26.0.)
"""

import re
from functools import cache
from importlib import import_module
from time import monotonic
from typing import TYPE_CHECKING

from quintet.codegraph.language import Language

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Parser, Point, Tree

MAX_SECONDS = 2.0
MAX_NESTING = 250
SLICE = 1024

_OPENING, _CLOSING = b"([{", b")]}"
_LESS, _GREATER = b"<>"
_NOT_NESTING = bytes(byte for byte in range(256) if byte not in b"()[]{}<>;")


def tree_of(source: bytes, text: str, language: Language) -> "Tree | None":
    """The syntax tree, or None when the text is nested too deeply or takes too long."""
    if too_deep(text):
        return None
    deadline = monotonic() + MAX_SECONDS
    late = False

    def read(offset: int, _point: "Point") -> bytes:
        nonlocal late
        late = late or monotonic() > deadline
        return b"" if late else source[offset : offset + SLICE]

    tree = _parser(language).parse(read)
    return None if late else tree


def too_deep(text: str) -> bool:
    """Whether brackets nest deeper than people write. Brackets in strings count too: a false yes is
    harmless."""
    marks = text.encode("ascii", "ignore").translate(None, _NOT_NESTING)
    depth = 0
    for mark in marks:
        if mark in _OPENING:
            depth += 1
            if depth > MAX_NESTING:
                return True
        elif depth and mark in _CLOSING:
            depth -= 1
    return _angles_too_deep(marks)


def _angles_too_deep(marks: bytes) -> bool:
    """The same for `<`. It may be a comparison, so the end of a statement closes what is open."""
    for statement in re.split(b"[;{}]", marks) if marks.count(b"<") > MAX_NESTING else ():
        depth = 0
        for mark in statement:
            depth = max(depth + (mark == _LESS) - (mark == _GREATER), 0)
            if depth > MAX_NESTING:
                return True
    return False


@cache
def _grammar(language: Language) -> "Grammar":
    from tree_sitter import Language as Grammar

    package = import_module(language.grammar or f"tree_sitter_{language.name}")
    return Grammar(getattr(package, language.grammar_function)())


@cache
def _parser(language: Language) -> "Parser":
    from tree_sitter import Parser

    return Parser(_grammar(language))


@cache
def kind_ids(language: Language) -> dict[str, list[int]]:
    """The numbers of each node type. Reading a node's number costs half of reading its type."""
    grammar = _grammar(language)
    ids: dict[str, list[int]] = {}
    for kind in range(grammar.node_kind_count):
        ids.setdefault(grammar.node_kind_for_id(kind) or "", []).append(kind)
    return ids

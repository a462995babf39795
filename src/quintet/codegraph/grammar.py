"""tree-sitter behind one function, with the names of each language's definitions.

Hostile text can make a grammar run for minutes, take gigabytes or overflow the C stack. So nesting is
measured before parsing, and the source is handed over slice by slice until a deadline. (The binding's own
progress callback crashes the process in 0.26.0.)
"""

import re
from bisect import bisect_right
from functools import cache
from importlib import import_module
from itertools import accumulate
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser, Point, Tree

MAX_SECONDS = 2.0
MAX_NESTING = 250
SLICE = 1024

_MODULES = {
    "csharp": ("tree_sitter_c_sharp", "language"),
    "php": ("tree_sitter_php", "language_php"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
}

_SCRIPT = {
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "class_declaration": "class",
    "method_definition": "function",
}
_TYPED_SCRIPT = _SCRIPT | {
    "abstract_class_declaration": "class",
    "interface_declaration": "interface",
    "enum_declaration": "enum",
    "type_alias_declaration": "type",
    "internal_module": "namespace",
    "module": "namespace",
}
_C = {
    "function_definition": "function",
    "struct_specifier": "struct",
    "union_specifier": "union",
    "enum_specifier": "enum",
    "type_definition": "type",
}
_CURLY = {
    "class_declaration": "class",
    "interface_declaration": "interface",
    "enum_declaration": "enum",
    "record_declaration": "record",
    "method_declaration": "function",
    "constructor_declaration": "function",
}
# Node type -> kind of definition. A "function" inside a class is called a method.
DEFINITIONS: dict[str, dict[str, str]] = {
    "python": {"function_definition": "function", "class_definition": "class"},
    "javascript": _SCRIPT,
    "typescript": _TYPED_SCRIPT,
    "tsx": _TYPED_SCRIPT,
    "rust": {
        "function_item": "function",
        "struct_item": "struct",
        "enum_item": "enum",
        "union_item": "union",
        "trait_item": "trait",
        "impl_item": "impl",
        "mod_item": "module",
        "macro_definition": "macro",
    },
    "go": {"function_declaration": "function", "method_declaration": "method", "type_spec": "type"},
    "java": _CURLY
    | {"annotation_type_declaration": "interface", "compact_constructor_declaration": "function"},
    "c": _C,
    "cpp": _C
    | {"class_specifier": "class", "namespace_definition": "namespace", "concept_definition": "type"},
    "csharp": _CURLY
    | {
        "struct_declaration": "struct",
        "namespace_declaration": "namespace",
        "destructor_declaration": "function",
        "operator_declaration": "function",
    },
    "ruby": {"class": "class", "module": "module", "method": "function", "singleton_method": "function"},
    "php": {
        "class_declaration": "class",
        "interface_declaration": "interface",
        "trait_declaration": "trait",
        "enum_declaration": "enum",
        "function_definition": "function",
        "method_declaration": "function",
        "namespace_definition": "namespace",
    },
    "bash": {"function_definition": "function"},
}

_OPENING, _CLOSING = b"([{", b")]}"
_LESS, _GREATER = b"<>"
_NOT_NESTING = bytes(byte for byte in range(256) if byte not in b"()[]{}<>;")


def tree_of(source: bytes, text: str, language: str) -> "Tree | None":
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
    """Whether brackets nest deeper than people write. Those in strings count too: a wrong yes is harmless."""
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
    """The same of `<`, which may just as well compare: a statement's end closes what was left open."""
    for statement in re.split(b"[;{}]", marks) if marks.count(b"<") > MAX_NESTING else ():
        depth = 0
        for mark in statement:
            depth = max(depth + (mark == _LESS) - (mark == _GREATER), 0)
            if depth > MAX_NESTING:
                return True
    return False


@cache
def _grammar(language: str) -> "Language":
    from tree_sitter import Language

    module, function = _MODULES.get(language, (f"tree_sitter_{language}", "language"))
    return Language(getattr(import_module(module), function)())


@cache
def _parser(language: str) -> "Parser":
    from tree_sitter import Parser

    return Parser(_grammar(language))


@cache
def kind_ids(language: str) -> dict[str, list[int]]:
    """The numbers of each type of node. A node says its number at half the cost of its type."""
    grammar = _grammar(language)
    found: dict[str, list[int]] = {}
    for kind in range(grammar.node_kind_count):
        found.setdefault(grammar.node_kind_for_id(kind) or "", []).append(kind)
    return found


class Rows:
    """Which rows a node covers, counted from its bytes.

    Reading `row` of a node's `start_point` drops a reference too many in 0.26.0 and ends in a crash.
    """

    def __init__(self, source: bytes) -> None:
        self._starts = list(accumulate([len(line) + 1 for line in source.split(b"\n")], initial=0))

    def line(self, byte: int) -> int:
        """The line that a byte stands on, counted from 1."""
        return bisect_right(self._starts, byte)

    def of(self, node: "Node") -> tuple[int, int]:
        """The first and last row; a node that ends with a newline does not reach into the next row."""
        start, end = node.start_byte, node.end_byte
        first = bisect_right(self._starts, start) - 1
        return first, (bisect_right(self._starts, end - 1, first) - 1 if end > start else first)

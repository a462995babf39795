"""Helpers for the syntax of Python: dotted names, assignment targets, annotations, docstrings."""

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from quintet.codegraph.scan import MAX_DOCSTRING, MAX_PATH, Scan
from quintet.codegraph.scope import Type
from quintet.model.symbols import Visibility

if TYPE_CHECKING:
    from tree_sitter import Node

LITERALS = {"string", "concatenated_string", "list", "dictionary", "set", "tuple", "integer", "float"}
LITERALS |= {"list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression"}
_NESTED = {"pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "parenthesized_expression"}
_NESTED |= {"tuple", "list", "expression_list"}
# Types around another type: the object has the inner one.
_TRANSPARENT = {"Optional", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly"}
_TRANSPARENT |= {"Type", "type", "InitVar"}
_ANNOTATION = re.compile(r"([A-Za-z_][\w.]*+)\s*+(?:\[(.*)\])?", re.DOTALL)
_NAMES = re.compile(r"[^\W\d][\w]*+(?:\.[^\W\d][\w]*+)*+")
_MAX_TARGETS = 1000


def chain(scan: Scan, node: "Node | None") -> tuple[str, ...]:
    """The names of `a.b.c`; empty if it does not begin with a name."""
    members: list[str] = []
    while node is not None:
        kind = node.type
        if kind == "identifier":
            return (scan.name(node), *reversed(members))
        if kind != "attribute" or len(members) >= MAX_PATH:
            break
        members.append(scan.name(node.child_by_field_name("attribute")))
        node = node.child_by_field_name("object")
    return ()


def root_of(node: "Node") -> "Node":
    """The expression before `.a.b.c`."""
    while node.type == "attribute" and (inner := node.child_by_field_name("object")) is not None:
        node = inner
    return node


def base_path(scan: Scan, node: "Node") -> tuple[str, ...]:
    """The name of a base class, without the arguments of a generic class."""
    return chain(scan, node.child_by_field_name("value") if node.type == "subscript" else node)


def targets_of(left: "Node | None") -> tuple[list["Node"], list["Node"]]:
    """The names that the left side of an assignment binds, and the other targets (`a.b`, `a[0]`)."""
    if left is not None and left.type == "identifier":
        return [left], []
    names: list[Node] = []
    others: list[Node] = []
    stack = [left] if left is not None else []
    while stack and len(names) + len(others) < _MAX_TARGETS:
        node = stack.pop()
        if node.type == "identifier":
            names.append(node)
        elif node.type in _NESTED:
            stack.extend(reversed(node.named_children))
        else:
            others.append(node)
    return names, others


def parameter_parts(node: "Node") -> tuple[list["Node"], "Node | None", "Node | None"]:
    """The names a parameter binds, its annotation, and its default."""
    kind = node.type
    if kind == "identifier":
        return [node], None, None
    if kind == "typed_parameter":
        name = node.named_child(0)
    elif kind in ("list_splat_pattern", "dictionary_splat_pattern", "tuple_pattern"):
        name = node
    else:
        name = node.child_by_field_name("name")
    if name is not None and name.type == "dictionary_splat_pattern":
        name = name.named_children[0] if name.named_child_count else None
    return targets_of(name)[0], node.child_by_field_name("type"), node.child_by_field_name("value")


@lru_cache(maxsize=4096)  # a project writes the same types again and again
def annotation(text: str, depth: int = 0) -> Type:
    """The class that an annotation names, if it is one: `Foo`, `a.Foo | None`, `Optional["Foo[int]"]`.

    >>> annotation("Optional[model.Chunk]"), annotation("int | str")
    (('model', 'Chunk'), ())
    """
    text = text.strip().strip("\"'").strip()
    if "[" not in text and "|" in text:
        parts = [part for part in (part.strip() for part in text.split("|")) if part != "None"]
        text = parts[0] if len(parts) == 1 else ""
    match = _ANNOTATION.fullmatch(text.removesuffix("| None").rstrip())
    if match is None or depth > 3:
        return ()
    path = tuple(match.group(1).split("."))
    if path[-1] not in _TRANSPARENT:
        return path if all(path) and path != ("None",) else ()
    inside = match.group(2) or ""
    return annotation(inside.partition(",")[0] if path[-1] == "Annotated" else inside, depth + 1)


def names_in(scan: Scan, node: "Node | None") -> list[str]:
    """The dotted names in the strings of an annotation or an `__all__`."""
    if node is None:
        return []
    texts = [string_text(scan, part) for part in (node, *node.named_children) if part.type == "string"]
    return [name for text in texts[:_MAX_TARGETS] for name in _NAMES.findall(text)][:_MAX_TARGETS]


def string_text(scan: Scan, node: "Node") -> str:
    """The text between the quotes, up to twice the length of a docstring."""
    parts = node.children
    if len(parts) < 2 or parts[0].type != "string_start" or parts[-1].type != "string_end":
        return ""
    end = min(parts[-1].start_byte, parts[0].end_byte + 8 * MAX_DOCSTRING)
    return scan.source[parts[0].end_byte : end].decode("utf-8", "ignore")


def docstring_of(scan: Scan, body: "Node | None") -> str:
    for statement in body.named_children[:3] if body is not None else ():
        if statement.type == "expression_statement" and statement.named_child_count == 1:
            only = statement.named_children[0]
            return string_text(scan, only) if only.type == "string" else ""
        if statement.type != "comment":
            break
    return ""


def visibility_of(name: str, in_class: bool) -> Visibility:
    """The visibility by underscores: `_x` is for its file or for subclasses, `__x` for its class, `__x__`
    for all."""
    if not name.startswith("_") or (name.startswith("__") and name.endswith("__")):
        return "public"
    return "protected" if in_class and not name.startswith("__") else "private"


def is_test_file(path: str) -> bool:
    name = path.rpartition("/")[2]
    return (
        name.startswith("test_")
        or name.removesuffix(".py").endswith(("_test", "_tests"))
        or name == "tests.py"
    )

"""Helpers for the syntax of JavaScript and TypeScript: dotted names, patterns, types, comments."""

import re
from typing import TYPE_CHECKING

from quintet.codegraph.scan import MAX_NAME, MAX_PATH, Scan
from quintet.codegraph.scope import Type
from quintet.model.symbols import Visibility

if TYPE_CHECKING:
    from tree_sitter import Node

LITERALS = {"string", "template_string", "array", "object", "regex", "number", "true", "false", "null"}
FUNCTIONS = {"arrow_function", "function_expression", "generator_function", "function"}
_LINKS = {
    "member_expression": ("object", "property"),
    "nested_identifier": ("object", "property"),
    "nested_type_identifier": ("module", "name"),
}
_NAMES = {"identifier", "type_identifier", "this", "shorthand_property_identifier", "jsx_identifier"}
_AROUND = {"parenthesized_expression", "non_null_expression", "await_expression"}
_CAST = {"as_expression", "satisfies_expression"}
_BOUND = {"identifier", "shorthand_property_identifier_pattern"}
_PATTERNS = {"object_pattern", "array_pattern", "rest_pattern", "object_assignment_pattern"}
_TEST_FILE = re.compile(r"(?:\.|_|^)(?:test|spec)s?\.[cm]?[jt]sx?$")
_MAX_TARGETS = 1000
_COMMENT_MARKS = re.compile(r"^\s*\*?[ \t]?", re.MULTILINE)


def chain(scan: Scan, node: "Node | None") -> tuple[str, ...]:
    """The names of `a.b.c`, `this.a` and `A.B<T>`; empty if it does not begin with a name."""
    members: list[str] = []
    while node is not None and len(members) < MAX_PATH:
        if node.type in _LINKS:
            inner, member = _LINKS[node.type]
            members.append(scan.name(node.child_by_field_name(member)))
            node = node.child_by_field_name(inner)
        elif node.type == "non_null_expression":
            node = node.named_children[0] if node.named_child_count else None
        elif node.type == "generic_type":
            node = node.child_by_field_name("name")
        else:
            break
    return (scan.name(node), *reversed(members)) if node is not None and node.type in _NAMES else ()


def root_of(node: "Node") -> "Node":
    """The expression before `.a.b.c`."""
    while node.type in _LINKS:
        inner = node.child_by_field_name(_LINKS[node.type][0])
        if inner is None:
            break
        node = inner
    return node


def unwrapped(node: "Node | None") -> "Node | None":
    """`node` without brackets, `!` and `await` around it."""
    while node is not None and node.type in _AROUND and node.named_child_count:
        node = node.named_children[0]
    return node


def cast_type(node: "Node") -> "Node | None":
    """The type of `x as Foo` or `<Foo>x`."""
    if node.type in _CAST and node.named_child_count == 2:
        return node.named_children[1]
    if node.type == "type_assertion" and node.named_child_count:
        return next(iter(node.named_children[0].named_children), None)
    return None


def type_path(scan: Scan, node: "Node | None") -> Type:
    """The class or interface that a type names, if it names one; `| null` and `| undefined` do not count."""
    if node is not None and node.type == "type_annotation":
        node = node.named_children[0] if node.named_child_count else None
    while node is not None and node.type in ("parenthesized_type", "union_type", "readonly_type"):
        parts = [part for part in node.named_children if scan.name(part) not in ("null", "undefined")]
        node = parts[0] if len(parts) == 1 else None
    return chain(scan, node) if node is not None else ()


def bound_names(pattern: "Node | None") -> tuple[list["Node"], list["Node"]]:
    """The names that a pattern binds, and the expressions in it (defaults, computed keys)."""
    names: list[Node] = []
    values: list[Node] = []
    stack = [pattern] if pattern is not None else []
    while stack and len(names) + len(values) < _MAX_TARGETS:
        node = stack.pop()
        if node.type in _BOUND:
            names.append(node)
        elif node.type == "assignment_pattern" or node.type == "object_assignment_pattern":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            stack.extend([left] if left is not None else [])
            values.extend([right] if right is not None else [])
        elif node.type == "pair_pattern":
            value = node.child_by_field_name("value")
            stack.extend([value] if value is not None else [])
        elif node.type in _PATTERNS:
            stack.extend(reversed(node.named_children))
        else:
            values.append(node)
    return names, values


def string_value(scan: Scan, node: "Node | None") -> str:
    """The text of a plain string; empty for any other node, or if it is too long for the name of a module."""
    if node is None or node.type != "string" or node.end_byte - node.start_byte > 5 * MAX_NAME:
        return ""
    return scan.text(node)[1:-1]


def required_parts(scan: Scan, value: "Node | None") -> tuple[str, str]:
    """The module and the member of `require("m")`, `import("m")` or `require("m").member`."""
    member = ""
    if value is not None and value.type == "member_expression":
        member = scan.name(value.child_by_field_name("property"))
        value = value.child_by_field_name("object")
    if value is None or value.type != "call_expression":
        return "", ""
    function, arguments = value.child_by_field_name("function"), value.child_by_field_name("arguments")
    if function is None or arguments is None or scan.name(function) not in ("require", "import"):
        return "", ""
    return string_value(scan, next(iter(arguments.named_children), None)), member


def comment_text(scan: Scan, node: "Node") -> str:
    """The words of a JSDoc comment, without its `@` tags."""
    text = scan.source[node.start_byte : min(node.end_byte, node.start_byte + 4000)].decode("utf-8", "ignore")
    if not text.startswith("/**"):
        return ""
    words = _COMMENT_MARKS.sub("", text.removeprefix("/**").removesuffix("*/")).strip()
    return "" if words.startswith("@") else words.partition("\n@")[0]


def visibility_of(scan: Scan, node: "Node", name: str) -> Visibility:
    """The visibility of a member, by its modifier or its `#`."""
    for child in node.children:
        if child.type == "accessibility_modifier":
            word = scan.name(child)
            return "private" if word == "private" else "protected" if word == "protected" else "public"
    return "private" if name.startswith("#") else "public"


def is_test_file(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return bool(_TEST_FILE.search(name)) or "__tests__" in folder.split("/")

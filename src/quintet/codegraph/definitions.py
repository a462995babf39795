"""The definitions of a syntax tree: what they are called, where they stand, what they hold."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from quintet.codegraph.grammar import DEFINITIONS, Rows

if TYPE_CHECKING:
    from tree_sitter import Node

CLASSES = {"class", "struct", "union", "interface", "trait", "impl", "enum", "record"}
MAX_DEPTH = 12
# Around a definition: its rows belong to it.
_WRAPPERS = {"decorated_definition", "export_statement", "ambient_declaration", "expression_statement"}
_WRAPPERS |= {"template_declaration", "lexical_declaration", "variable_declaration", "type_declaration"}
# Around many definitions: looked through as if it were not there.
_TRANSPARENT = {
    "preproc_if",
    "preproc_ifdef",
    "preproc_else",
    "preproc_elif",
    "linkage_specification",
    "ERROR",
}
_TRANSPARENT |= {"declaration_list", "enum_body_declarations", "singleton_class", "body_statement"}
_SIGNATURES = {"function_signature", "method_signature"}  # TypeScript's overloads: a name, but no body
_LEADING = {"comment", "line_comment", "block_comment", "attribute_item", "decorator"}
_ONLY_WITH_BODY = {"struct_specifier", "union_specifier", "enum_specifier", "class_specifier", "mod_item"}
_ONLY_WITH_BODY |= {"method_declaration", "namespace_definition", "namespace_declaration"}
_BOUND = {"variable_declarator", "field_definition", "public_field_definition"}
_BOUND_KINDS = {"arrow_function": "function", "function_expression": "function", "class": "class"}
_KIND_BY_TYPE = {"struct_type": "struct", "interface_type": "interface"}
_KIND_BY_TYPE |= {"struct_specifier": "struct", "union_specifier": "union", "enum_specifier": "enum"}
_NAME_FIELDS = ("name", "property", "declarator", "type")
_RECEIVER = re.compile(r"(\w+)\s*(?:\[[^\]]*\])?\s*,?\s*\)$")


class Definition(NamedTuple):
    """`path` names the definition and what it stands in. Rows count from 0 and include comments above it."""

    kind: str
    name: str
    path: tuple[str, ...]
    first: int
    last: int
    members: tuple["Definition", ...] = ()


class Stretch(NamedTuple):
    """A node that is no comment, and its rows: from `above` on they belong to it, from `leading` on there are
    comments and attributes only, from `first` on it is the node itself."""

    node: "Node"
    above: int
    leading: int
    first: int
    last: int


class Definitions(NamedTuple):
    """The outermost definitions in reading order; no two share a row. `above` tells, by the row that
    something starts on, where the comments, attributes and overloads above it start, if it has any."""

    outermost: tuple[Definition, ...]
    above: dict[int, int]


def outline(root: "Node", source: bytes, language: str) -> Definitions:
    found = _Outline(source, DEFINITIONS[language], Rows(source), {})
    return Definitions(found.members(root.children, (), False, 0), found.above)


@dataclass(frozen=True, slots=True)
class _Outline:
    source: bytes
    kinds: dict[str, str]
    rows: Rows
    above: dict[int, int]

    def members(
        self, nodes: Sequence["Node"], path: tuple[str, ...], in_class: bool, depth: int
    ) -> tuple[Definition, ...]:
        found: list[Definition] = []
        for one in self._with_overloads(_with_comments(_seen_through(nodes, 0), self.rows)):
            # What is defined may start at any of its attributes.
            self.above.update(dict.fromkeys(range(max(one.leading, one.above + 1), one.first + 1), one.above))
            if inner := self._inner(one.node, 0):
                item = self._definition(inner, (one.above, one.last), path, in_class, depth)
                if found and item.first <= found[-1].last:
                    found[-1] = found[-1]._replace(last=max(found[-1].last, item.last))
                else:
                    found.append(item)
        return tuple(found)

    def _with_overloads(self, stretches: Iterator[Stretch]) -> Iterator[Stretch]:
        """Signatures belong to the function of their name below them, if nothing stands between."""
        name: tuple[str, ...] = ()
        start = -1
        for one in stretches:
            signature = self._signature(one.node)
            if signature is not None:
                if self._names(signature) != name:
                    name, start = self._names(signature), one.above
            elif one.node.is_named and name:
                inner = self._inner(one.node, 0)
                if inner is not None and self._names(inner) == name:
                    one = one._replace(above=start)
                name = ()
            yield one

    def _signature(self, node: "Node") -> "Node | None":
        if node.type == "export_statement":
            node = node.child_by_field_name("declaration") or node
        return node if node.type in _SIGNATURES else None

    def _inner(self, node: "Node", depth: int) -> "Node | None":
        """The definition that `node` is or wraps."""
        type = node.type
        if type in self.kinds:
            needs_body = type in _ONLY_WITH_BODY or self._is_alias(node)
            return None if needs_body and node.child_by_field_name("body") is None else node
        if type in _BOUND:
            value = node.child_by_field_name("value")
            return node if value is not None and value.type in _BOUND_KINDS else None
        if type in _WRAPPERS and depth < 4:
            for child in node.named_children:
                inner = self._inner(child, depth + 1)
                if inner is not None:
                    return inner
        return None

    def _is_alias(self, node: "Node") -> bool:
        """A C typedef that only renames."""
        type_node = node.child_by_field_name("type") if node.type == "type_definition" else None
        return type_node is not None and type_node.child_by_field_name("body") is None

    def _definition(
        self, node: "Node", lines: tuple[int, int], path: tuple[str, ...], in_class: bool, depth: int
    ) -> Definition:
        kind = self._kind(node)
        names = self._names(node)
        if kind == "function" and (in_class or len(names) > 1):
            kind = "method"
        path = (*path, *names)
        body = node.child_by_field_name("body")
        members: tuple[Definition, ...] = ()
        if body is not None and kind not in ("function", "method") and depth < MAX_DEPTH:
            above = [
                child
                for child in node.children
                if child.type in _LEADING and child.end_byte <= body.start_byte
            ]
            members = self.members([*above, *body.children], path, kind in CLASSES, depth + 1)
        return Definition(kind, names[-1] if names else "", path, lines[0], lines[1], members)

    def _kind(self, node: "Node") -> str:
        if node.type in _BOUND:
            value = node.child_by_field_name("value")
            return _BOUND_KINDS[value.type] if value is not None else "function"
        kind = self.kinds[node.type]
        type_node = node.child_by_field_name("type") if kind == "type" else None
        return _KIND_BY_TYPE.get(type_node.type, kind) if type_node is not None else kind

    def _names(self, node: "Node") -> tuple[str, ...]:
        """The name, after the names it is qualified with (`A::f`, a Go receiver)."""
        name = self._name_node(node)
        if name is None:
            return ()
        text = " ".join(self._text(name).split())
        type = node.type
        if type == "impl_item":
            text = text.partition("<")[0].strip()
        receiver = node.child_by_field_name("receiver") if type == "method_declaration" else None
        owner = _RECEIVER.search(self._text(receiver)) if receiver is not None else None
        parts = text.split("::") if "operator" not in text else [text]
        return (*((owner.group(1),) if owner else ()), *(part.strip("'\" ") for part in parts if part))

    def _name_node(self, node: "Node") -> "Node | None":
        for field in _NAME_FIELDS:
            name = node.child_by_field_name(field)
            if name is not None:
                break
        else:
            return None
        for _ in range(MAX_DEPTH):  # C hides the name inside pointers, arrays and parameters
            inner = name.child_by_field_name("declarator")
            if inner is None and name.type == "reference_declarator" and name.named_children:
                inner = name.named_children[-1]
            if inner is None:
                break
            name = inner
        return name

    def _text(self, node: "Node") -> str:
        return self.source[node.start_byte : node.end_byte].decode(errors="replace")


def _seen_through(nodes: Sequence["Node"], depth: int) -> Iterator["Node"]:
    for node in nodes:
        if node.type in _TRANSPARENT and depth < MAX_DEPTH:
            yield from _seen_through(node.children, depth + 1)
        else:
            yield node


def _with_comments(nodes: Iterator["Node"], rows: Rows) -> Iterator[Stretch]:
    """Each node that is no comment or attribute, with those directly above it."""
    start = end = previous = -1
    for node in nodes:
        first, last = rows.of(node)
        if node.type in _LEADING:
            if start < 0 or first > end + 1:
                start = first if first > previous else -1
            end = last
        else:
            above = start if 0 <= start <= first <= end + 1 else first
            yield Stretch(node, above, above, first, last)
            start = -1
        previous = last

"""The definitions that chunks are cut along: their names, rows and members.

Only the outermost nodes and the bodies of classes and namespaces are read, not the rest of the tree.
"""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from quintet.codegraph.source import ParsedSource

if TYPE_CHECKING:
    from tree_sitter import Node

CLASSES = {"class", "struct", "union", "interface", "trait", "impl", "enum", "record"}
MAX_DEPTH = 12
_NAME_FIELDS = ("name", "property", "declarator", "type")
MAX_SIGNATURE = 160  # characters; the rest of a longer one says little
_RECEIVER = re.compile(r"(\w+)\s*(?:\[[^\]]*\])?\s*,?\s*\)$")
# Node types that bring names in or place the file, in all grammars: they say nothing by themselves.
_IMPORTS = re.compile(r"import|include|package|^use_|_use_|using_directive|extern_crate|php_tag|declare_st")


class Definition(NamedTuple):
    """`path` is the name, after the names of what is around it. Rows count from 0, comments above
    included; `start` is the row of the definition itself. `signature` is the text before the body, on one
    line."""

    kind: str
    name: str
    path: tuple[str, ...]
    first: int
    last: int
    start: int
    signature: str
    members: tuple["Definition", ...] = ()


class NodeRows(NamedTuple):
    """A node that is not a comment, and its rows. `above` is the first row that belongs to it, `leading`
    the first comment or attribute directly above it, `first` the first row of the node itself."""

    node: "Node"
    above: int
    leading: int
    first: int
    last: int


class DefinitionTree(NamedTuple):
    """The outermost definitions in reading order; no two share a row. `above` maps the row on which something
    starts to the row where the comments, attributes and overloads above it start. `code` are the rows on
    which anything but a comment or an import starts."""

    outermost: tuple[Definition, ...]
    above: dict[int, int]
    code: frozenset[int]


def find_definitions(file: ParsedSource) -> DefinitionTree:
    reader = _DefinitionReader(file)
    outermost = reader.members(file.root.children, (), False, 0)
    return DefinitionTree(outermost, reader.above, frozenset(reader.code))


class _DefinitionReader:
    def __init__(self, file: ParsedSource) -> None:
        self.source, self.types, self.lines = file.source, file.language.definitions, file.lines
        self.above: dict[int, int] = {}
        self.code: set[int] = set()

    def members(
        self, nodes: Sequence["Node"], path: tuple[str, ...], in_class: bool, depth: int
    ) -> tuple[Definition, ...]:
        definitions: list[Definition] = []
        for stretch in self._with_overloads(self._with_comments(self._looked_through(nodes, 0))):
            # A definition may start at any of its attributes.
            self.above.update(
                dict.fromkeys(
                    range(max(stretch.leading, stretch.above + 1), stretch.first + 1), stretch.above
                )
            )
            if stretch.node.is_named and not _IMPORTS.search(stretch.node.type):
                self.code.add(stretch.first)
            if inner := self._inner(stretch.node, 0):
                item = self._definition(inner, (stretch.above, stretch.last), path, in_class, depth)
                if definitions and item.first <= definitions[-1].last:
                    definitions[-1] = definitions[-1]._replace(last=max(definitions[-1].last, item.last))
                else:
                    definitions.append(item)
        return tuple(definitions)

    def _with_overloads(self, stretches: Iterator[NodeRows]) -> Iterator[NodeRows]:
        """Signatures belong to the function of the same name directly below them."""
        name: tuple[str, ...] = ()
        start = -1
        for stretch in stretches:
            signature = self._signature(stretch.node)
            if signature is not None:
                if self._names(signature) != name:
                    name, start = self._names(signature), stretch.above
            elif stretch.node.is_named and name:
                inner = self._inner(stretch.node, 0)
                if inner is not None and self._names(inner) == name:
                    stretch = stretch._replace(above=start)
                name = ()
            yield stretch

    def _signature(self, node: "Node") -> "Node | None":
        if node.type == "export_statement":
            node = node.child_by_field_name("declaration") or node
        return node if node.type in self.types.overloads else None

    def _inner(self, node: "Node", depth: int) -> "Node | None":
        """The definition that `node` is, or wraps."""
        type = node.type
        if type in self.types.kinds:
            needs_body = type in self.types.needs_body or self._is_alias(node)
            return None if needs_body and node.child_by_field_name("body") is None else node
        if type in self.types.variables:
            value = node.child_by_field_name("value")
            return node if value is not None and value.type in self.types.values else None
        if type in self.types.wrappers and depth < 4:
            for child in node.named_children:
                inner = self._inner(child, depth + 1)
                if inner is not None:
                    return inner
        return None

    def _is_alias(self, node: "Node") -> bool:
        """Whether it is a typedef of C that only renames a type."""
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
                if child.type in self.types.comments and child.end_byte <= body.start_byte
            ]
            members = self.members([*above, *body.children], path, kind in CLASSES, depth + 1)
        signature = self._opening(node, body)
        start = self.lines.rows(node)[0]
        return Definition(kind, names[-1] if names else "", path, *lines, start, signature, members)

    def _opening(self, node: "Node", body: "Node | None") -> str:
        end = node.end_byte if body is None else body.start_byte
        start = node.start_byte
        text = self.source[start : min(end, start + 4 * MAX_SIGNATURE)].decode(errors="ignore")
        return " ".join(text.split())[:MAX_SIGNATURE].rstrip(" {:=;")

    def _kind(self, node: "Node") -> str:
        if node.type in self.types.variables:
            value = node.child_by_field_name("value")
            return self.types.values[value.type] if value is not None else "function"
        kind = self.types.kinds[node.type]
        type_node = node.child_by_field_name("type") if kind == "type" else None
        return self.types.kind_of_type.get(type_node.type, kind) if type_node is not None else kind

    def _names(self, node: "Node") -> tuple[str, ...]:
        """The name, after the names that qualify it (`A::f`, a receiver in Go)."""
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
        for _ in range(MAX_DEPTH):  # in C the name is inside pointers, arrays and parameters
            inner = name.child_by_field_name("declarator")
            if inner is None and name.type == "reference_declarator" and name.named_children:
                inner = name.named_children[-1]
            if inner is None:
                break
            name = inner
        return name

    def _text(self, node: "Node") -> str:
        return self.source[node.start_byte : node.end_byte].decode(errors="replace")

    def _looked_through(self, nodes: Sequence["Node"], depth: int) -> Iterator["Node"]:
        containers = self.types.containers
        for node in nodes:
            type = node.type
            if (type in containers or type == "ERROR") and depth < MAX_DEPTH:
                yield from self._looked_through(node.children, depth + 1)
            else:
                yield node

    def _with_comments(self, nodes: Iterator["Node"]) -> Iterator[NodeRows]:
        """Each node that is not a comment or attribute, with the comments and attributes directly above
        it."""
        start = end = previous = -1
        for node in nodes:
            first, last = self.lines.rows(node)
            if node.type in self.types.comments:
                if start < 0 or first > end + 1:
                    start = first if first > previous else -1
                end = last
            else:
                above = start if 0 <= start <= first <= end + 1 else first
                yield NodeRows(node, above, above, first, last)
                start = -1
            previous = last

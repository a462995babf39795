"""Zig: a type is the value of a constant, or of a function that returns a `type`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quintet.codegraph.languages.outlined import OutlinedExtractor
from quintet.codegraph.scan import Scan, Step
from quintet.codegraph.scope import Scope
from quintet.model.symbols import Outline, Visibility

if TYPE_CHECKING:
    from tree_sitter import Node

_TYPES = {"struct_declaration": "struct", "enum_declaration": "enum", "union_declaration": "union"}
_TYPES |= {"opaque_declaration": "struct", "error_set_declaration": "enum"}


def outline_of(scan: Scan) -> Outline:
    return _ZigExtractor(scan).read()


class _ZigExtractor(OutlinedExtractor):
    def definition(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name = self.scan.name(self.name_node(node))
        body = self.body(node)
        visibility: Visibility = "public" if self._is_public(node) else "private"
        if node.type == "test_declaration":
            text = next((self.scan.name(child) for child in node.named_children[:1]), "").strip('"')
            return self.add("function", (text or "test",), node, body, scope, is_test=True)
        if node.type == "function_declaration":
            makes_type = body is not None and self.scan.name(node.child_by_field_name("type")) == "type"
            kind = "struct" if makes_type else "function"
            return self.add(kind, (name,), node, body, scope, visibility)
        value = next((child for child in node.named_children if child.type in _TYPES), None)
        if value is not None and node.type == "variable_declaration":
            return self.add(_TYPES[value.type], (name,), node, value, scope, visibility)
        if node.type == "variable_declaration" and self._is_import(node):
            self.scan.layout.add_import(node)
        return self.add("variable", (name,), node, None, scope, visibility)

    def _is_public(self, node: "Node") -> bool:
        return node.type == "container_field" or any(child.type == "pub" for child in node.children[:1])

    def _is_import(self, node: "Node") -> bool:
        return b"@import" in self.scan.source[node.start_byte : min(node.end_byte, node.start_byte + 200)]

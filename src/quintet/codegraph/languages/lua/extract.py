"""Lua: functions by the tables they are put into."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quintet.codegraph.extractor import chain, steps
from quintet.codegraph.languages.outlined import OutlinedExtractor
from quintet.codegraph.scan import Scan, Step
from quintet.codegraph.scope import Scope
from quintet.model.symbols import Outline, Visibility

if TYPE_CHECKING:
    from tree_sitter import Node

_LEAVES = frozenset({"identifier"})
_LINKS = {"dot_index_expression": ("table", "field"), "method_index_expression": ("table", "method")}


def outline_of(scan: Scan) -> Outline:
    return _LuaExtractor(scan).read()


class _LuaExtractor(OutlinedExtractor):
    def definition(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if node.type == "assignment_statement":
            name, value = self._first(node, 0), self._first(node, 1)
        path = chain(name, self.scan, _LEAVES, _LINKS)
        if not path:
            return steps(node, scope)
        if node.type == "function_declaration":
            return self.add("function", path, node, self._end(node), scope, self._visibility(node))
        if value is not None and value.type == "function_definition":
            return self.add("function", path, node, self._end(value), scope, self._visibility(node))
        if node.type == "field":
            return steps(node, scope, name)
        if scope.is_file and len(path) == 1 and path[0] not in scope.names:
            self.bind_symbol(scope, path[0])
            visibility = self._visibility(node)
            number = self.define("variable", path[0], node, scope, visibility=visibility, shown="")
            scope = scope.inner(number)
        return steps(node, scope)

    def _first(self, node: "Node", place: int) -> "Node | None":
        """The first name or value of an assignment."""
        part = node.named_children[place] if node.named_child_count > place else None
        return part.named_children[0] if part is not None and part.named_children else None

    def _end(self, node: "Node") -> "Node | None":
        """The body; of an empty function its `end`."""
        return node.child_by_field_name("body") or (node.children[-1] if node.children else None)

    def _visibility(self, node: "Node") -> Visibility:
        start = node.start_byte
        before = self.scan.source[max(start - 8, 0) : start + 6]
        return "private" if b"local" in before else "public"

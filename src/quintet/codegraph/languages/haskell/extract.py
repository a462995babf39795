"""Haskell: the signature and all equations of a function are one definition."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quintet.codegraph.extractor import steps
from quintet.codegraph.languages.clauses import ClausesExtractor
from quintet.codegraph.scan import Handler, Scan, Step, handlers_by_type
from quintet.codegraph.scope import Scope
from quintet.model.symbols import Outline

if TYPE_CHECKING:
    from tree_sitter import Node

_EQUATIONS = frozenset({"function", "bind"})


def outline_of(scan: Scan) -> Outline:
    return _HaskellExtractor(scan).read()


class _HaskellExtractor(ClausesExtractor):
    def handlers(self) -> dict[str, Handler]:
        return super().handlers() | handlers_by_type(
            {
                self.clauses: "declarations class_declarations instance_declarations",
                self._function: "function bind signature",
                self._instance: "instance",
                self._constructor: "data_constructor newtype_constructor",
            }
        )

    def _function(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name, last = self.clause_name(node), self.last_clause(node)
        is_defined = (last or node).type in _EQUATIONS
        if not name:
            return ()
        match = node.child_by_field_name("match")
        return self.add("function", (name,), node, match, scope, last=last, is_defined=is_defined)

    def _instance(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """An instance belongs to its type."""
        types = node.child_by_field_name("patterns")
        name = "".join(self.scan.name(types).split()[:1]).strip("([")
        body = node.child_by_field_name("declarations")
        return self.extend((name,), node, body, scope) if name else steps(node, scope)

    def _constructor(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name = node.child_by_field_name("name")
        for _ in range(3):  # the name of a record is deeper
            if name is not None or not node.named_children:
                break
            node = node.named_children[0]
            name = node.child_by_field_name("name")
        return self.add("variable", (self.scan.name(name),), node, None, scope) if name is not None else ()

    def clause_name(self, node: "Node") -> str:
        if node.type not in _EQUATIONS and node.type != "signature":
            return ""
        name = node.child_by_field_name("name")
        if name is None and node.named_children and node.named_children[0].type == "infix":
            name = node.named_children[0].child_by_field_name("operator")
        return self.scan.name(name).strip("()`")

    def body(self, node: "Node") -> "Node | None":
        return node.child_by_field_name("declarations") or node.child_by_field_name("constructors")

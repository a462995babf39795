"""Elixir: everything is a call; `def` and its like define something."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quintet.codegraph.extractor import steps
from quintet.codegraph.language import words
from quintet.codegraph.languages.clauses import ClausesExtractor
from quintet.codegraph.scan import Handler, Scan, Step, handlers_by_type
from quintet.codegraph.scope import Scope
from quintet.model.symbols import Outline, Visibility

if TYPE_CHECKING:
    from tree_sitter import Node

_MODULES = {"defmodule": "class", "defprotocol": "interface", "defimpl": "impl"}
_FUNCTIONS = words("def defp defdelegate defguard defguardp defmacro defmacrop defn defnp")
_TESTS = frozenset({"test", "property"})
# Attributes of the function below.
_ABOVE = words("doc spec impl typedoc deprecated dialyzer tag")
_IMPORTS = frozenset({"alias", "import", "require", "use"})


def outline_of(scan: Scan) -> Outline:
    return _ElixirExtractor(scan).read()


class _ElixirExtractor(ClausesExtractor):
    def handlers(self) -> dict[str, Handler]:
        return super().handlers() | handlers_by_type(
            {self.definition: "call", self._attribute: "unary_operator", self.clauses: "source do_block"}
        )

    def definition(self, node: "Node", scope: Scope) -> Sequence[Step]:
        word, body = self._word(node), self.body(node)
        arguments = self._arguments(node)
        if word in _MODULES and arguments:
            path = tuple(self.scan.name(arguments[0]).split("."))
            if word == "defimpl":
                return self.extend(path, node, body, scope)
            return self.add(_MODULES[word], path, node, body, scope)
        if word in _FUNCTIONS:
            name = self.clause_name(node)
            visibility: Visibility = "private" if word.endswith("p") else "public"
            body = body or self._comma(node)
            last = self.last_clause(node)
            return self.add("function", (name,), node, body, scope, visibility, last=last) if name else ()
        if word in _TESTS and arguments and arguments[0].type == "string":
            name = self.scan.name(arguments[0]).strip('"')
            return self.add("function", (name,), node, body, scope, is_test=True)
        if word in _IMPORTS:
            self.scan.layout.add_import(node)
            return ()
        return steps(node, scope)

    def clause_name(self, node: "Node") -> str:
        """`f` of `def f`, `def f(x)` and `def f(x) when x > 0`."""
        arguments = self._arguments(node)
        head = arguments[0] if self._word(node) in _FUNCTIONS and arguments else None
        if head is not None and head.type == "binary_operator":
            head = head.child_by_field_name("left")
        if head is not None and head.type == "call":
            head = head.child_by_field_name("target")
        return self.scan.name(head) if head is not None and head.type == "identifier" else ""

    def _word(self, node: "Node") -> str:
        target = node.child_by_field_name("target") if node.type == "call" else None
        return self.scan.name(target) if target is not None and target.type == "identifier" else ""

    def _arguments(self, node: "Node") -> Sequence["Node"]:
        listed = next((child for child in node.named_children[:2] if child.type == "arguments"), None)
        return listed.named_children if listed is not None else ()

    def _comma(self, node: "Node") -> "Node | None":
        """The end of the head of `def f(x), do: y`."""
        listed = next((child for child in node.named_children[:2] if child.type == "arguments"), None)
        return next((child for child in listed.children if child.type == ","), None) if listed else None

    def _attribute(self, node: "Node", scope: Scope) -> Sequence[Step]:
        operand = node.child_by_field_name("operand")
        if operand is not None and self._word(operand) in _ABOVE:
            self.scan.layout.add_comment(node)
        return steps(node, scope)

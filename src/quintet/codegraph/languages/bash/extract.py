"""Bash: functions, the variables a script sets, what it sources and calls."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from quintet.codegraph.extractor import Extractor, steps
from quintet.codegraph.scan import Handler, Scan, Step, handlers_by_type
from quintet.codegraph.scope import Scope
from quintet.model.symbols import Outline

if TYPE_CHECKING:
    from tree_sitter import Node

_SOURCES = frozenset({"source", "."})
_PREFIXES = frozenset({"time", "eval"})
_PROGRAMS_ONLY = frozenset({"command", "builtin", "exec", "env", "sudo"})  # these run no function
_NAME = re.compile(r"[A-Za-z_][\w:.+-]*")
_TEST_PATH = re.compile(r"(?:^|/)tests?/|(?:^|[/_])tests?\.(?:ba)?sh$|(?:^|/)test_[^/]*$|\.bats$")


def outline_of(scan: Scan) -> Outline:
    scan.describe_module(is_test=bool(_TEST_PATH.search(scan.path)))
    return _BashExtractor(scan).read()


class _BashExtractor(Extractor):
    def handlers(self) -> dict[str, Handler]:
        return handlers_by_type(
            {
                self.comment: "comment",
                self._function: "function_definition",
                self._assignment: "variable_assignment",
                self._declaration: "declaration_command",
                self._loop: "for_statement",
                self._command: "command",
                self._variable: "variable_name",
            }
        )

    def _loop(self, node: "Node", scope: Scope) -> Sequence[Step]:
        return steps(node, scope, node.child_by_field_name("variable"))

    def _function(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        text = self.scan.name(name)
        is_test = text.startswith("test_")
        number = self.define("function", text, node, self.scan.file, body=body, is_test=is_test)
        self.bind_symbol(self.scan.file, text)
        return steps(node, scope.inner(number), name)

    def _assignment(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """The first assignment outside of functions defines a variable of the file."""
        name = node.child_by_field_name("name")
        key = "$" + self.scan.name(name)
        if not scope.is_file or name is None or name.type != "variable_name" or key in scope.names:
            return steps(node, scope, name)
        number = self.define("variable", self.scan.name(name), node, scope)
        self.bind_symbol(scope, key)
        return steps(node, scope.inner(number), name)

    def _declaration(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """`local x=1` hides the file's `x`; `export`, `readonly` and `declare` of the file set it."""
        if not scope.is_file and node.children[0].type != "export":
            for child in node.named_children:
                name = child.child_by_field_name("name") or child
                if name.type == "variable_name":
                    scope.local("$" + self.scan.name(name))
        return [(child, scope) for child in node.named_children if child.type != "variable_name"]

    def _command(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name = node.child_by_field_name("name")
        arguments = node.children_by_field_name("argument")
        word = self._word(name)
        if word in _SOURCES and arguments:
            self._source(node, arguments[0], scope)
            return steps(node, scope, name)
        if word in _PROGRAMS_ONLY:
            return steps(node, scope)
        if word in _PREFIXES and arguments:
            word = self._word(arguments[0])
        if word == "trap" and arguments:
            word = self.scan.name(arguments[0]).strip("'\"")
        if _NAME.fullmatch(word):
            self.mention_later(scope, "calls", (word,), node, "name")
        return steps(node, scope)

    def _word(self, node: "Node | None") -> str:
        """The command, if it is written out; empty if it is the value of a variable."""
        if node is not None and node.type == "command_name" and node.named_child_count == 1:
            node = node.named_children[0]
        return self.scan.name(node) if node is not None and node.type == "word" else ""

    def _source(self, node: "Node", argument: "Node", scope: Scope) -> None:
        path = self.scan.name(argument).strip("'\"")
        if path and not any(char.isspace() for char in path.replace("$(dirname ", "")):
            self.scan.add_import(scope, node, path, name="*", exported=True)

    def _variable(self, node: "Node", scope: Scope) -> Sequence[Step]:
        binding = scope.find("$" + self.scan.name(node))
        if binding is not None and binding.kind == "symbol":
            self.scan.mention(scope, "references", (self.scan.name(node),), node)
        return ()

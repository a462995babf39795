"""PHP: namespaces, `use`, included files, classes and what they call."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from quintet.codegraph.extractor import steps, symbol_kinds
from quintet.codegraph.languages.php.values import NAMES, PhpValues
from quintet.codegraph.scan import Handler, Scan, Step, handlers_by_type, skip
from quintet.codegraph.scope import Binding, Scope
from quintet.model.symbols import Outline, Relation, SymbolKind, Visibility

if TYPE_CHECKING:
    from tree_sitter import Node

_TYPES = symbol_kinds(
    "class_declaration:class enum_declaration:class trait_declaration:interface"
    " interface_declaration:interface"
)
_INCLUDES = tuple(f"{word}{once}_expression" for word in ("require", "include") for once in ("", "_once"))
_TEST = re.compile(r"@test\b|#\[(?:\w+\\)*Test\b")
_TEST_PATH = re.compile(r"Test\.php$|(?:^|/)tests?/")


def outline_of(scan: Scan) -> Outline:
    scan.describe_module(is_test=bool(_TEST_PATH.search(scan.path)))
    return _PhpExtractor(scan).read()


class _PhpExtractor(PhpValues):
    """Variables are bound with their `$`, so that they cannot hide a function or class."""

    def handlers(self) -> dict[str, Handler]:
        return handlers_by_type(
            {
                self._type: _TYPES,
                self._function: "function_definition method_declaration",
                self._parameter: "simple_parameter variadic_parameter property_promotion_parameter",
                self._include: _INCLUDES,
                self.constant_name: "name qualified_name",
                self.closure: "arrow_function anonymous_function",
                self.member_call: "member_call_expression nullsafe_member_call_expression",
                self.comment: "comment",
                self._namespace: "namespace_definition",
                self._use: "namespace_use_declaration",
                self._traits: "use_declaration",
                self._constants: "const_declaration",
                self._properties: "property_declaration",
                self._case: "enum_case",
                self.named_type: "named_type",
                self.assignment: "assignment_expression",
                self.loop: "foreach_statement",
                self.catch: "catch_clause",
                self.call: "function_call_expression",
                self.static_call: "scoped_call_expression",
                self.new: "object_creation_expression",
                self.class_constant: "class_constant_access_expression",
                self.member: "member_access_expression",
                skip: "variable_name",
                self.mention_attribute: "attribute",
            }
        )

    # Namespaces and imports

    def _namespace(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """The first namespace is the file's package; another one is a module inside the file."""
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        parts = self.path(self.scan.name(name))
        if not self.scan.package or not parts:
            self.scan.package = self.scan.package or "\\".join(parts)
            self.scan.add_package(node, body)
            return [(body, scope)] if body is not None else ()
        number = self.define("module", parts[-1], node, scope, inside=parts[:-1], body=body)
        return [(body, scope.inner(number))] if body is not None else ()

    def _use(self, node: "Node", scope: Scope) -> Sequence[Step]:
        group = node.child_by_field_name("body")
        prefix = next((c for c in node.named_children if c.type == "namespace_name"), None)
        for clause in (group or node).named_children:
            if clause.type != "namespace_use_clause":
                continue
            alias = clause.child_by_field_name("alias")
            target = next((c for c in clause.named_children if c.type in NAMES), None)
            path = (*self.path(self.scan.name(prefix)), *self.path(self.scan.name(target)))
            if path:
                module, name = "\\".join(path[:-1]), path[-1]
                self.scan.add_import(scope, clause, module, name=name, alias=self.scan.name(alias) or name)
        return ()

    def _include(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """`require 'a.php'`, and `__DIR__ . '/a.php'`, which is `./a.php`."""
        target = node.named_children[0] if node.named_children else None
        while target is not None and target.type == "parenthesized_expression" and target.named_children:
            target = target.named_children[0]
        if target is None:
            return ()
        here = ""
        if target.type == "binary_expression":
            left, right = target.child_by_field_name("left"), target.child_by_field_name("right")
            if self.scan.name(left) != "__DIR__" or right is None:
                return [(target, scope)]
            here, target = ".", right
        content = target.named_children
        if target.type in ("string", "encapsed_string") and [c.type for c in content] == ["string_content"]:
            self.scan.add_import(scope, node, here + self.scan.name(content[0]), name="*", exported=True)
            return ()
        return [(target, scope)]

    # Definitions

    def _add(
        self, kind: SymbolKind, name: str, node: "Node", scope: Scope, body: "Node | None" = None
    ) -> int:
        words = [self.scan.name(c) for c in node.named_children if c.type == "visibility_modifier"]
        visibility: Visibility = "public"
        if words and words[0] in ("private", "protected"):
            visibility = "private" if words[0] == "private" else "protected"
        attributes = self.scan.name(node.child_by_field_name("attributes"))
        in_tests = bool(_TEST_PATH.search(self.scan.path)) and name.startswith("test")
        marked = bool(_TEST.search(attributes) or _TEST.search(self.doc(node)))
        is_test = kind == "method" and (in_tests or marked)
        return self.define(kind, name, node, scope, body=body, visibility=visibility, is_test=is_test)

    def _type(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        number = self._add(_TYPES[node.type], self.scan.name(name), node, scope, body)
        self.bind_symbol(scope, self.scan.name(name))
        inner = scope.inner(number, class_number=number)
        for clause in node.named_children:
            if clause.type in ("base_clause", "class_interface_clause"):
                relation: Relation = "extends" if clause.type == "base_clause" else "implements"
                for base in clause.named_children:
                    self.mention_name(inner, relation, base)
        return [*self._attributes(node, inner), *([(body, inner)] if body is not None else [])]

    def _attributes(self, node: "Node", scope: Scope) -> list[Step]:
        attributes = node.child_by_field_name("attributes")
        return [(attributes, scope)] if attributes is not None else []

    def _traits(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """The methods of a trait become methods of the class, as if it extended the trait."""
        for name in node.named_children:
            if name.type in NAMES:
                self.mention_name(scope, "extends", name)
        return ()

    def _function(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        in_class = scope.is_class_body
        number = self._add("method" if in_class else "function", self.scan.name(name), node, scope, body)
        inner = scope.inner(number)
        if in_class:
            inner.bind("$this", Binding("self", number=scope.enclosing_class))
        else:
            self.bind_symbol(scope, self.scan.name(name))
        return steps(node, inner, name)

    def _constants(self, node: "Node", scope: Scope) -> Sequence[Step]:
        next_steps: list[Step] = []
        for element in node.named_children:
            if element.type == "const_element" and element.named_children:
                name = element.named_children[0]
                number = self._add("variable", self.scan.name(name), node, scope)
                if not scope.is_class_body:
                    self.bind_symbol(scope, self.scan.name(name))
                next_steps += steps(element, scope.inner(number), name)
        return next_steps

    def _case(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name = node.child_by_field_name("name")
        number = self._add("variable", self.scan.name(name), node, scope)
        return steps(node, scope.inner(number), name)

    def _properties(self, node: "Node", scope: Scope) -> Sequence[Step]:
        written = node.child_by_field_name("type")
        next_steps: list[Step] = []
        for element in (c for c in node.named_children if c.type == "property_element"):
            name = element.child_by_field_name("name")
            inner = self._field(node, name, written, scope)
            next_steps += self._attributes(node, inner)
            next_steps += [(written, inner)] if written is not None else []
            next_steps += steps(element, inner, name)
        return next_steps

    def _field(self, node: "Node", name: "Node | None", written: "Node | None", scope: Scope) -> Scope:
        text = self.scan.name(name).lstrip("$")
        class_scope = scope if scope.is_class_body else scope.parent
        if class_scope is None or not class_scope.is_class_body:
            return scope
        number = self._add("variable", text, node, class_scope)
        self.scan.bind_field(class_scope.owner, text, self.static_type(written), class_scope, declared=True)
        return class_scope.inner(number)

    def _parameter(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name, written = node.child_by_field_name("name"), node.child_by_field_name("type")
        if node.type == "property_promotion_parameter":
            self._field(node, name, written, scope)
        type = () if node.type == "variadic_parameter" else self.static_type(written)
        scope.local(self.scan.name(name), type, declared=True)
        return steps(node, scope, name)

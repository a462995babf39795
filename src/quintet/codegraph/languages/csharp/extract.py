"""C#: namespaces, usings, types and what their members call."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from quintet.codegraph.extractor import chain, steps, symbol_kinds
from quintet.codegraph.languages.java_like import JavaLikeExtractor
from quintet.codegraph.scan import Handler, Scan, Step, handlers_by_type, skip
from quintet.codegraph.scope import Scope
from quintet.model.symbols import Outline, SymbolKind, Visibility

if TYPE_CHECKING:
    from tree_sitter import Node

_TEST = re.compile(r"^(?:Fact|Theory|Test|TestCase|TestMethod|DataTestMethod|TestClass|TestFixture)$")
_TEST_PATH = re.compile(r"Tests?\.cs$|(?:^|/)[^/]*\.?[Tt]ests?/")
_INTERFACE = re.compile(r"I[A-Z]")
_NAMES = frozenset({"identifier", "qualified_name", "alias_qualified_name"})


def outline_of(scan: Scan) -> Outline:
    scan.describe_module(is_test=bool(_TEST_PATH.search(scan.path)))
    return _CSharpExtractor(scan).read()


class _CSharpExtractor(JavaLikeExtractor):
    kinds: ClassVar[Mapping[str, SymbolKind]] = symbol_kinds(
        "class_declaration:class struct_declaration:class enum_declaration:class"
        " record_declaration:class record_struct_declaration:class delegate_declaration:class"
        " interface_declaration:interface"
    )
    type_names = _NAMES
    typed_values: ClassVar[Mapping[str, str]] = {**JavaLikeExtractor.typed_values, "as_expression": "right"}
    links: ClassVar = {
        "member_access_expression": ("expression", "name"),
        "qualified_name": ("qualifier", "name"),
    }

    def handlers(self) -> dict[str, Handler]:
        return super().handlers() | handlers_by_type(
            {
                self._fields: "field_declaration event_field_declaration",
                self._namespace: "namespace_declaration file_scoped_namespace_declaration",
                self.local: (
                    "parameter declaration_pattern catch_declaration declaration_expression from_clause"
                ),
                self.block: "using_statement accessor_declaration switch_expression_arm",
                self._special: (
                    "operator_declaration destructor_declaration indexer_declaration "
                    "conversion_operator_declaration"
                ),
                self._property: "property_declaration event_declaration",
                self._using: "using_directive",
                self._locals: "variable_declaration",
                self.constant: "enum_member_declaration",
                self._loop: "foreach_statement",
                self._local_function: "local_function_statement",
                self._call: "invocation_expression",
                self._arguments: "type_argument_list",
                self.typed: "type_parameter_constraint",
                self._as: "as_expression",
                skip: "name_colon",
                self._attribute: "attribute",
            }
        )

    def visibility(self, node: "Node", scope: Scope) -> Visibility:
        words = {self.scan.name(child) for child in node.named_children if child.type == "modifier"}
        if "public" in words:
            return "public"
        if words & {"protected", "internal"}:
            return "protected"
        owner = self.scan.symbol_at(scope.owner)
        if owner.kind == "interface" or node.type in ("enum_member_declaration", "parameter"):
            return "public"
        return "private" if owner.kind == "class" or "private" in words else "protected"

    def is_test(self, node: "Node") -> bool:
        lists = [child for child in node.named_children if child.type == "attribute_list"]
        attributes = (attribute for attribute_list in lists for attribute in attribute_list.named_children)
        names = (self.scan.name(attribute.child_by_field_name("name")) for attribute in attributes)
        return any(_TEST.match(name.rpartition(".")[2]) for name in names)

    # Namespaces and types

    def _namespace(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """The first namespace is the file's package; another one is a module inside the file."""
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        parts = tuple(part.strip() for part in self.scan.name(name).split("."))
        if not self.scan.package and scope.is_file:
            self.scan.package = ".".join(parts)
            self.scan.add_package(node, body)
            return [(body, scope)] if body is not None else ()
        number = self.define("module", parts[-1], node, scope, inside=parts[:-1], body=body)
        self.bind_symbol(scope, parts[0])
        return [(body, scope.inner(number))] if body is not None else ()

    def _using(self, node: "Node", scope: Scope) -> Sequence[Step]:
        alias = node.child_by_field_name("name")
        target = next((child for child, _ in steps(node, scope, alias) if child.type in _NAMES), None)
        path = "".join(self.scan.name(target).split()).replace("::", ".").removeprefix("global.")
        exported = any(child.type == "global" for child in node.children)
        if alias is None:
            self.scan.add_import(scope, node, path, name="*", exported=exported)
        else:
            module, _, name = path.rpartition(".")
            self.scan.add_import(
                scope, node, module, name=name, alias=self.scan.name(alias), exported=exported
            )
        return ()

    def heading(self, node: "Node", scope: Scope) -> Sequence[Step]:
        bases = next((child for child in node.named_children if child.type == "base_list"), None)
        types = bases.named_children if bases is not None else []
        self.refer(node.child_by_field_name("type"), scope)
        for place, written in enumerate(types):
            if written.type == "primary_constructor_base_type":
                written = written.named_children[0]
            path = self.static_type(written)
            is_class = node.type in ("class_declaration", "record_declaration") and place == 0
            extends = node.type == "interface_declaration" or (
                is_class and path[-1:] and not _INTERFACE.match(path[-1])
            )
            self.inherits("extends" if extends else "implements", [written], scope)
        return self._components(node, scope) if node.type.startswith("record") else ()

    def read_in_heading(self, node: "Node") -> list["Node | None"]:
        read = [child for child in node.named_children if child.type == "base_list"]
        if node.type.startswith("record"):
            read += [child for child in node.named_children if child.type == "parameter_list"]
        return [*read, node.child_by_field_name("type")]

    def _components(self, node: "Node", scope: Scope) -> Sequence[Step]:
        lists = [child for child in node.named_children if child.type == "parameter_list"]
        for parameter in lists[0].named_children if lists else ():
            written = parameter.child_by_field_name("type")
            name = self.scan.name(parameter.child_by_field_name("name"))
            number = self.field(parameter, name, self.static_type(written), scope)
            self.refer(written, scope.inner(number))
        return ()

    def _fields(self, node: "Node", scope: Scope) -> Sequence[Step]:
        declaration = next((c for c in node.named_children if c.type == "variable_declaration"), None)
        return self._declare(node, declaration, scope) if declaration is not None else ()

    def _locals(self, node: "Node", scope: Scope) -> Sequence[Step]:
        return self._declare(node, node, scope)

    def _declare(self, node: "Node", declaration: "Node", scope: Scope) -> Sequence[Step]:
        declarators = [c for c in declaration.named_children if c.type == "variable_declarator"]
        return self.variables(node, declaration.child_by_field_name("type"), declarators, scope)

    def _property(self, node: "Node", scope: Scope) -> Sequence[Step]:
        written, name = node.child_by_field_name("type"), node.child_by_field_name("name")
        inner = scope.inner(self.field(node, self.scan.name(name), self.static_type(written), scope))
        self.refer(written, inner)
        return steps(node, inner, written, name)

    def _special(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """Operators, indexers and finalisers are methods, named as they are written."""
        operator, body = node.child_by_field_name("operator"), node.child_by_field_name("body")
        name = {"destructor_declaration": "~", "indexer_declaration": "this[]"}.get(node.type, "operator ")
        written = operator or node.child_by_field_name("name")
        if node.type == "conversion_operator_declaration":
            written = node.child_by_field_name("type")
        name += self.scan.name(written) if node.type != "indexer_declaration" else ""
        inner = scope.inner(self.member("method", name, node, scope, body))
        types = node.child_by_field_name("type")
        self.refer(types, inner)
        return steps(node, inner, types, node.child_by_field_name("name"))

    def _local_function(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name, written = node.child_by_field_name("name"), node.child_by_field_name("type")
        text = self.scan.name(name)
        number = self.define("function", text, node, scope, body=node.child_by_field_name("body"))
        self.bind_symbol(scope, text)
        inner = scope.inner(number)
        self.refer(written, inner)
        return steps(node, inner, name, written)

    def _loop(self, node: "Node", scope: Scope) -> Sequence[Step]:
        return self.local(node, scope.inner(), "left")

    # Mentions

    def _arguments(self, node: "Node", scope: Scope) -> Sequence[Step]:
        self.refer(node, scope)
        return ()

    def _attribute(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """`[Fact]` means a class `Fact` or `FactAttribute`."""
        path = chain(node.child_by_field_name("name"), self.scan, self.leaves, self.links)
        if path:
            self.scan.mention(scope, "references", (*path[:-1], f"{path[-1]}Attribute"), node)
        return self.annotation(node, scope)

    def _as(self, node: "Node", scope: Scope) -> Sequence[Step]:
        right = node.child_by_field_name("right")
        self.refer(right, scope)
        return steps(node, scope, right)

    def _call(self, node: "Node", scope: Scope) -> Sequence[Step]:
        function = node.child_by_field_name("function")
        rest = steps(node, scope, function)
        if function is None:
            return rest
        receiver, name, types = self._call_parts(function)
        if name is None:
            return [(function, scope), *rest]
        rest = [*((child, scope) for child in types), *rest]
        if receiver is not None:
            return [*self.member_call(scope, receiver, self.scan.name(name), node), *rest]
        if self.scan.name(name) != "nameof":
            self.mention_later(scope, "calls", (self.scan.name(name),), node, "name")
        return rest

    def _call_parts(self, function: "Node") -> tuple["Node | None", "Node | None", list["Node"]]:
        """The receiver, the name and the type arguments of a call."""
        receiver: Node | None = None
        name: Node | None = function
        if function.type == "member_access_expression":
            receiver, name = function.child_by_field_name("expression"), function.child_by_field_name("name")
        elif function.type == "conditional_access_expression":
            receiver, binding = function.child_by_field_name("condition"), function.named_children[-1]
            name = (
                binding.child_by_field_name("name") if binding.type == "member_binding_expression" else None
            )
        if name is not None and name.type == "generic_name" and name.named_children:
            return receiver, name.named_children[0], name.named_children[1:]
        return receiver, name if name is not None and name.type == "identifier" else None, []

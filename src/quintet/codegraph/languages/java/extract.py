"""Java: packages, imports, classes and what their methods call."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from quintet.codegraph.extractor import steps, symbol_kinds
from quintet.codegraph.languages.java_like import JavaLikeExtractor
from quintet.codegraph.scan import Handler, Scan, Step, handlers_by_type
from quintet.codegraph.scope import Scope
from quintet.model.symbols import Base, Outline, Relation, SymbolKind, Visibility

if TYPE_CHECKING:
    from tree_sitter import Node

_TEST = re.compile(r"@(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate)\b")
_TEST_PATH = re.compile(r"(?:^|/)src/test/|(?:Tests?|IT|TestCase)\.java$")
_HEADING: dict[str, Relation] = {
    "superclass": "extends",
    "extends_interfaces": "extends",
    "super_interfaces": "implements",
}


def outline_of(scan: Scan) -> Outline:
    scan.describe_module(is_test=bool(_TEST_PATH.search(scan.path)))
    return _JavaExtractor(scan).read()


class _JavaExtractor(JavaLikeExtractor):
    kinds: ClassVar[Mapping[str, SymbolKind]] = symbol_kinds(
        "class_declaration:class enum_declaration:class record_declaration:class"
        " interface_declaration:interface annotation_type_declaration:interface"
    )
    type_names = frozenset({"type_identifier", "scoped_type_identifier"})
    methods_are_values = False
    links: ClassVar = {"field_access": ("object", "field"), "scoped_identifier": ("scope", "name")}

    def handlers(self) -> dict[str, Handler]:
        return super().handlers() | handlers_by_type(
            {
                self._variables: "field_declaration constant_declaration local_variable_declaration",
                self._type_name: "type_identifier scoped_type_identifier",
                self.local: "formal_parameter resource",
                self.block: (
                    "constructor_body lambda_body switch_block_statement_group switch_rule "
                    "try_with_resources_statement"
                ),
                self.method: "compact_constructor_declaration annotation_type_element_declaration",
                self.annotation: "annotation marker_annotation",
                self._package: "package_declaration",
                self._import: "import_declaration",
                self.constant: "enum_constant",
                self._loop: "enhanced_for_statement",
                self._typed_name: (
                    "catch_formal_parameter spread_parameter type_pattern record_pattern_component"
                ),
                self._instance_of: "instanceof_expression",
                self._call: "method_invocation",
                self._reference: "method_reference",
                self._label: "labeled_statement",
            }
        )

    def visibility(self, node: "Node", scope: Scope) -> Visibility:
        words = self._modifiers(node)
        written = next((word for word in ("public", "protected", "private") if word in words.split()), "")
        if written == "public" or node.type in ("enum_constant", "formal_parameter"):
            return "public"  # a parameter is a record's component, which others read by its name
        if written:
            return "private" if written == "private" else "protected"
        if node.type == "constructor_declaration" and _is_in_enum(node):
            return "private"
        in_interface = self.scan.symbol_at(scope.owner).kind == "interface"
        return "public" if in_interface else "protected"  # without a word: for the package

    def is_test(self, node: "Node") -> bool:
        return bool(_TEST.search(self._modifiers(node)))

    def _modifiers(self, node: "Node") -> str:
        first = node.named_children[0] if node.named_children else None
        return self.scan.text(first)[:1000] if first is not None and first.type == "modifiers" else ""

    def heading(self, node: "Node", scope: Scope) -> Sequence[Step]:
        for part in (child for child in node.named_children if child.type in _HEADING):
            types = part.named_children
            if types and types[0].type == "type_list":
                types = types[0].named_children
            self.inherits(_HEADING[part.type], types, scope)
        if node.type == "record_declaration":
            return self._components(node, scope)
        return ()

    def read_in_heading(self, node: "Node") -> list["Node | None"]:
        read = [child for child in node.named_children if child.type in _HEADING]
        return [*read, node.child_by_field_name("parameters")]

    def _components(self, node: "Node", scope: Scope) -> Sequence[Step]:
        parameters = node.child_by_field_name("parameters")
        for parameter in parameters.named_children if parameters is not None else ():
            written = parameter.child_by_field_name("type")
            name = self.scan.name(parameter.child_by_field_name("name"))
            number = self.field(parameter, name, self.static_type(written), scope)
            self.refer(written, scope.inner(number))
        return ()

    def _package(self, node: "Node", _scope: Scope) -> Sequence[Step]:
        self.scan.package = self._dotted(node)
        return ()

    def _import(self, node: "Node", scope: Scope) -> Sequence[Step]:
        path = self._dotted(node)
        if any(child.type == "asterisk" for child in node.named_children):
            self.scan.add_import(scope, node, path, name="*")
        else:
            module, _, name = path.rpartition(".")
            self.scan.add_import(scope, node, module, name=name, alias=name)
        return ()

    def _dotted(self, node: "Node") -> str:
        names = (c for c in node.named_children if c.type in ("scoped_identifier", "identifier"))
        return "".join(self.scan.name(next(names, None)).split())

    def _variables(self, node: "Node", scope: Scope) -> Sequence[Step]:
        declarators = node.children_by_field_name("declarator")
        return self.variables(node, node.child_by_field_name("type"), declarators, scope)

    def _loop(self, node: "Node", scope: Scope) -> Sequence[Step]:
        return self.local(node, scope.inner())

    def _typed_name(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """A type and a name that have no fields in the grammar: of a `catch`, a pattern, the last
        parameter."""
        if not node.named_children:
            return ()
        last = node.named_children[-1]
        name = last.child_by_field_name("name") or last
        types = [child for child in node.named_children[:-1] if child.type != "modifiers"]
        type = self.static_type(types[0]) if len(types) == 1 and node.type != "spread_parameter" else ()
        if types and types[0].type == "catch_type" and types[0].named_child_count == 1:
            type = self.static_type(types[0].named_children[0])
        scope.local(self.scan.name(name), type, declared=True)
        for written in types:
            self.refer(written, scope)
        return ()

    def _instance_of(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name, right = node.child_by_field_name("name"), node.child_by_field_name("right")
        if name is not None:
            scope.local(self.scan.name(name), self.static_type(right))
        return steps(node, scope, name)

    def _label(self, node: "Node", scope: Scope) -> Sequence[Step]:
        return steps(node, scope)[1:]

    def _type_name(self, node: "Node", scope: Scope) -> Sequence[Step]:
        self.refer(node, scope)
        return ()

    def _call(self, node: "Node", scope: Scope) -> Sequence[Step]:
        receiver, name = node.child_by_field_name("object"), node.child_by_field_name("name")
        text = self.scan.name(name)
        rest = steps(node, scope, receiver, name)
        if any(child.type == "super" for child in node.named_children[1:2]):
            self.scan.mention(scope, "calls", (text,), node, "super")
            return rest
        if receiver is not None:
            return [*self.member_call(scope, receiver, text, node), *rest]
        apart = Scope(scope.owner, enclosing_class=scope.enclosing_class)  # no variable hides a method
        self.scan.mention(apart, "calls", (text,), node)
        return rest

    def _reference(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """`this::run`, `Item::name`, `Item::new`."""
        if node.named_child_count < 2:
            return steps(node, scope)
        holder, name = node.named_children[0], self.scan.name(node.named_children[-1])
        if holder.type in ("this", "super"):
            base: Base = "self" if holder.type == "this" else "super"
            self.scan.mention(scope, "references", (name,), node, base)
        elif holder.type == "identifier":
            self.mention_later(scope, "references", (self.scan.name(holder), name), node, "drop")
        else:
            return [(holder, scope)]
        return ()


def _is_in_enum(node: "Node") -> bool:
    return node.parent is not None and node.parent.type == "enum_body_declarations"

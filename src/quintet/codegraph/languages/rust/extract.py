"""Rust: items, their impls and `use` trees. `names.py` reads their bodies."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from quintet.codegraph.extractor import descendants, steps, symbol_kinds
from quintet.codegraph.languages.rust.names import NAMES, SCOPED, RustNames
from quintet.codegraph.languages.rust.use_trees import uses
from quintet.codegraph.scan import Handler, Scan, Step, handlers_by_type, skip
from quintet.codegraph.scope import Binding, Scope, Type
from quintet.model.symbols import Outline, Relation, SymbolKind, Visibility

if TYPE_CHECKING:
    from tree_sitter import Node

_TYPES = symbol_kinds(
    "struct_item:class enum_item:class union_item:class type_item:class trait_item:interface"
)
_TEST = re.compile(r"#\s*\[\s*(?:\w+::)*(?:test|rstest|test_case|bench)\b|cfg\s*\(\s*(?:all\s*\(\s*)?test\b")
_TEST_PATH = re.compile(r"(?:^|/)tests/|(?:^|[/_])tests?\.rs$")


def outline_of(scan: Scan) -> Outline:
    scan.describe_module(is_test=bool(_TEST_PATH.search(scan.path)))
    for name in ("crate", "super"):
        scan.file.bind(name, Binding("import"))
    return _RustExtractor(scan).read()


class _RustExtractor(RustNames):
    types_first = frozenset({*_TYPES, "line_comment", "block_comment", "attribute_item", "use_declaration"})

    def handlers(self) -> dict[str, Handler]:
        return super().handlers() | handlers_by_type(
            {
                self._type: _TYPES,
                self._function: "function_item function_signature_item",
                self._constant: "const_item static_item",
                self.first_steps: "source_file declaration_list",
                self.attribute: "attribute_item",
                skip: "inner_attribute_item",
                self._impl: "impl_item",
                self._mod: "mod_item",
                self._field: "field_declaration",
                self._variant: "enum_variant",
                self._macro_definition: "macro_definition",
                self._use: "use_declaration extern_crate_declaration",
            }
        )

    def _item(self, kind: SymbolKind, node: "Node", scope: Scope) -> int:
        return self.define(
            kind,
            self.scan.name(node.child_by_field_name("name")),
            node,
            scope,
            inside=self._home(scope),
            body=node.child_by_field_name("body"),
            visibility=self._visibility(node, scope),
            is_test=self._is_test(node, scope),
        )

    def _type(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name, bounds = node.child_by_field_name("name"), node.child_by_field_name("bounds")
        number = self._item(_TYPES[node.type], node, scope)
        if "Self" not in scope.names:
            self.bind_symbol(scope, self.scan.name(name))
        inner = scope.inner(number, class_number=number)
        inner.bind("Self", Binding("self", number=number))
        for bound in descendants(bounds, NAMES | SCOPED, frozenset()) if bounds else ():
            self.mention_later(inner, "extends", self.path(bound), bound, self.elsewhere(self.path(bound)))
        return steps(node, inner, name, bounds)

    def _impl(self, node: "Node", scope: Scope) -> Sequence[Step]:
        target, trait = node.child_by_field_name("type"), node.child_by_field_name("trait")
        path = self.static_type(target, scope) or (self.path(trait)[-1:] if trait else ())
        number = self.type_number(scope, path)
        inner = scope.inner(number, class_number=number or 0)
        receiver = Binding("local", path, scope, declared=True)
        if number is not None:
            receiver = Binding("self", number=number)
        for name in ("self", "Self"):
            inner.bind(name, receiver)
        self.scan.add_definition("impl", path, node, scope)
        if trait is not None:
            relation: Relation = "implements" if number is not None else "references"
            self.mention_later(inner, relation, self.path(trait), trait, self.elsewhere(self.path(trait)))
        return steps(node, inner, target, trait)

    def _function(self, node: "Node", scope: Scope) -> Sequence[Step]:
        is_method = "Self" in scope.names
        number = self._item("method" if is_method else "function", node, scope)
        name = node.child_by_field_name("name")
        inner = scope.inner(number)
        if not is_method:
            self.bind_symbol(scope, self.scan.name(name))
        elif scope.enclosing_class:
            inner.bind("self", Binding("self", number=scope.enclosing_class))
        return steps(node, inner, name)

    def _home(self, scope: Scope) -> Type:
        """The type of an impl, if another file defines the type."""
        binding = scope.names.get("Self")
        return binding.type if binding is not None and binding.kind == "local" else ()

    def _macro_definition(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """It is no symbol, but a chunk of its own."""
        self.scan.add_definition("macro", (self.scan.name(node.child_by_field_name("name")),), node, scope)
        return ()

    def _mod(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name, body = self.scan.name(node.child_by_field_name("name")), node.child_by_field_name("body")
        if body is None:
            self.scan.add_import(scope, node, name, alias=name, exported=_is_pub(node))
            return ()
        number = self._item("module", node, scope)
        self.bind_symbol(scope, name)
        return [(body, scope.inner(number))]

    def _constant(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name = node.child_by_field_name("name")
        number = self._item("variable", node, scope)
        if "Self" not in scope.names:
            self.bind_variable(
                scope, self.scan.name(name), self.static_type(node.child_by_field_name("type"), scope)
            )
        return steps(node, scope.inner(number), name)

    def _field(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name, written = node.child_by_field_name("name"), node.child_by_field_name("type")
        number = self._item("variable", node, scope)
        type = self.static_type(written, scope)
        self.scan.bind_field(scope.enclosing_class, self.scan.name(name), type, scope, declared=True)
        return steps(node, scope.inner(number), name)

    def _variant(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """The fields of a variant are not symbols; the variant mentions their types."""
        number = self.define("variable", self.scan.name(node.child_by_field_name("name")), node, scope)
        inner = scope.inner(number)
        fields = descendants(node, frozenset({"field_declaration"}), frozenset({"field_declaration_list"}))
        types = [field.child_by_field_name("type") for field in fields]
        bodies = [c for c in node.named_children if c.type == "ordered_field_declaration_list"]
        return [(child, inner) for child in (*bodies, *types) if child is not None]

    def _use(self, node: "Node", scope: Scope) -> Sequence[Step]:
        for used in uses(node, self.scan.name):
            self.has_glob = self.has_glob or used.name == "*"
            self.scan.add_import(
                scope, node, used.module, name=used.name, alias=used.alias, exported=_is_pub(node)
            )
        return ()

    def _visibility(self, node: "Node", scope: Scope) -> Visibility:
        written = next((c for c in node.named_children[:3] if c.type == "visibility_modifier"), None)
        if written is not None:
            return "public" if self.scan.text(written) == "pub" else "protected"
        holder = node.parent.parent if node.parent is not None else None
        of_trait = holder is not None and holder.child_by_field_name("trait") is not None
        return "public" if of_trait or self.scan.symbol_at(scope.owner).kind == "interface" else "private"

    def _is_test(self, node: "Node", scope: Scope) -> bool:
        owner = self.scan.symbol_at(scope.owner)
        return bool(_TEST.search(self.attributes(node))) or (bool(owner.path) and owner.is_test)


def _is_pub(node: "Node") -> bool:
    return any(child.type == "visibility_modifier" for child in node.named_children[:1])

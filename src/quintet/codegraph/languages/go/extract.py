"""Go: declarations, methods by their receiver, imports, calls."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from quintet.codegraph.extractor import MAX_CHAIN, Extractor, chain, steps
from quintet.codegraph.languages.go.names import BUILT_IN, package_name
from quintet.codegraph.scan import Handler, Scan, Step, handlers_by_type
from quintet.codegraph.scope import Binding, Scope, Type
from quintet.model.symbols import Outline, SymbolKind

if TYPE_CHECKING:
    from tree_sitter import Node

_TYPE_LEAVES = frozenset({"type_identifier", "package_identifier"})
_TYPE_LINKS = {"qualified_type": ("package", "name"), "generic_type": ("type", "")}
_LEAVES = frozenset({"identifier"})
_LINKS = {"selector_expression": ("operand", "field")}
_BLOCKS = frozenset({"block", "if_statement", "for_statement", "func_literal", "expression_switch_statement"})
_BLOCKS |= {"expression_case", "default_case", "communication_case"}
_SHOWN = {"struct_type": "struct", "interface_type": "interface"}
_TEST = re.compile(r"(?:Test|Benchmark|Fuzz|Example)(?:[^a-z]\w*)?")


def outline_of(scan: Scan) -> Outline:
    scan.describe_module(is_test=scan.path.endswith("_test.go"))
    return _GoExtractor(scan).read()


class _GoExtractor(Extractor):
    types_first = frozenset({"comment", "package_clause", "import_declaration", "type_declaration"})

    def handlers(self) -> dict[str, Handler]:
        return handlers_by_type(
            {
                self._function: "function_declaration method_declaration method_elem",
                self._type: "type_spec type_alias",
                self._variables: "const_spec var_spec",
                self._assignment: "short_var_declaration range_clause receive_statement",
                self._parameter: "parameter_declaration variadic_parameter_declaration",
                self.block: _BLOCKS,
                self._type_name: "type_identifier qualified_type",
                self._call: "call_expression type_conversion_expression",
                self._value: "identifier selector_expression",
                self.first_steps: "source_file",
                self.comment: "comment",
                self._package: "package_clause",
                self._import: "import_spec",
                self._field: "field_declaration",
                self._embedded: "type_elem",
                self._generic: "type_parameter_declaration",
                self._type_switch: "type_switch_statement",
                self._type_case: "type_case",
                self._keyed: "keyed_element",
            }
        )

    # Declarations

    def _package(self, node: "Node", _scope: Scope) -> Sequence[Step]:
        self.scan.package = self.scan.name(node.named_children[0]) if node.named_children else ""
        return ()

    def _import(self, node: "Node", scope: Scope) -> Sequence[Step]:
        path = self.scan.name(node.child_by_field_name("path")).strip('"`')
        local_name = self.scan.name(node.child_by_field_name("name"))
        alias = "" if local_name in (".", "_") else local_name or package_name(path)
        self.scan.add_import(scope, node, path, name="*" if local_name == "." else "", alias=alias)
        return ()

    def _define_named(
        self,
        kind: SymbolKind,
        node: "Node",
        scope: Scope,
        body: "Node | None",
        *,
        inside: Type = (),
        home: int = 0,
        shown: str | None = None,
    ) -> int:
        name = self.scan.name(node.child_by_field_name("name"))
        in_tests = kind == "function" and self.scan.path.endswith("_test.go")
        return self.define(
            kind,
            name,
            node,
            scope,
            inside=inside,
            parent=home or None,
            body=body,
            visibility="public" if name[:1].isupper() else "private",
            is_test=in_tests and bool(_TEST.fullmatch(name)),
            shown=shown,
        )

    def _type(self, node: "Node", scope: Scope) -> Sequence[Step]:
        written, name = node.child_by_field_name("type"), node.child_by_field_name("name")
        is_interface = written is not None and written.type == "interface_type"
        inside = written.children if written is not None else []
        body = next((child for child in inside if child.type in ("{", "field_declaration_list")), None)
        shown = _SHOWN.get(written.type) if written is not None else None
        number = self._define_named("interface" if is_interface else "class", node, scope, body, shown=shown)
        self.bind_symbol(scope, self.scan.name(name))
        return steps(node, scope.inner(number, class_number=number), name)

    def _field(self, node: "Node", scope: Scope) -> Sequence[Step]:
        written = node.child_by_field_name("type")
        names = node.children_by_field_name("name")
        type = self._static_type(written)
        if scope.owner != scope.enclosing_class:
            return steps(node, scope, *names)  # a struct type without a name
        if not names and type:
            self.scan.bind_field(scope.enclosing_class, type[-1], type, scope, declared=True)
            self.mention_later(scope, "extends", type, node, "name")
            return ()
        for name in names:
            text = self.scan.name(name)
            number = self.define(
                "variable", text, node, scope, visibility="public" if text[:1].isupper() else "private"
            )
            self.scan.bind_field(scope.enclosing_class, text, type, scope, declared=True)
            scope = Scope(number, scope, enclosing_class=scope.enclosing_class) if len(names) == 1 else scope
        return [(written, scope)] if written is not None else ()

    def _embedded(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """An interface inside an interface; elsewhere a type argument or constraint."""
        in_interface = node.parent is not None and node.parent.type == "interface_type"
        if not in_interface or node.named_child_count != 1 or scope.owner != scope.enclosing_class:
            return steps(node, scope)
        type = self._static_type(node.named_children[0])
        if type and type[0] not in BUILT_IN:
            self.mention_later(scope, "extends", type, node, "name")
        return ()

    def _function(self, node: "Node", scope: Scope) -> Sequence[Step]:
        receiver, name = node.child_by_field_name("receiver"), node.child_by_field_name("name")
        if receiver is not None:
            return self._method(node, receiver, scope)
        kind: SymbolKind = "function" if node.type == "function_declaration" else "method"
        number = self._define_named(kind, node, scope, node.child_by_field_name("body"))
        if kind == "function":
            self.bind_symbol(scope, self.scan.name(name))
        return steps(node, scope.inner(number), name)

    def _method(self, node: "Node", receiver: "Node", scope: Scope) -> Sequence[Step]:
        declared = receiver.named_children[0] if receiver.named_children else receiver
        written = declared.child_by_field_name("type")
        type = self._static_type(written)
        owner = self.type_number(scope, type)
        body = node.child_by_field_name("body")
        number = self._define_named(
            "method", node, scope, body, inside=() if owner else type, home=owner or 0
        )
        inner = scope.inner(number, class_number=owner or 0)
        for parameter in self._type_arguments(written):
            inner.local(parameter)
        binding = Binding("self", number=owner) if owner else Binding("local", type, scope, declared=True)
        name = self.scan.name(declared.child_by_field_name("name"))
        if name:
            inner.bind(name, binding)
        return steps(node, inner, receiver, node.child_by_field_name("name"))

    def _type_arguments(self, node: "Node | None") -> list[str]:
        """The type parameters that a receiver such as `(l *List[T])` names again."""
        if node is not None and node.type == "pointer_type" and node.named_children:
            node = node.named_children[0]
        arguments = node.child_by_field_name("type_arguments") if node is not None else None
        return [self.scan.name(child) for child in arguments.named_children] if arguments is not None else []

    def _variables(self, node: "Node", scope: Scope) -> Sequence[Step]:
        names = node.children_by_field_name("name")
        names = [name for name in names if name.type == "identifier"]
        value = node.child_by_field_name("value")
        type = self._static_type(node.child_by_field_name("type")) or self._constructed_type(value)
        if not scope.is_file:
            outer = self.scope_before(scope, [self.scan.name(name) for name in names])
            for name in names:
                scope.local(self.scan.name(name), type)
            return steps(node, outer, *names)
        inner = scope
        for name in names:
            text = self.scan.name(name)
            number = self.define(
                "variable", text, node, scope, visibility="public" if text[:1].isupper() else "private"
            )
            self.bind_variable(scope, text, type if len(names) == 1 else ())
            inner = scope.inner(number)
        return steps(node, inner, *names)

    # What names stand for

    def _generic(self, node: "Node", scope: Scope) -> Sequence[Step]:
        names = node.children_by_field_name("name")
        for name in names:
            scope.local(self.scan.name(name))
        return steps(node, scope, *names)

    def _parameter(self, node: "Node", scope: Scope) -> Sequence[Step]:
        names = node.children_by_field_name("name")
        many = node.type == "variadic_parameter_declaration"
        type = () if many else self._static_type(node.child_by_field_name("type"))
        for name in names:
            scope.local(self.scan.name(name), type, declared=True)
        return steps(node, scope, *names)

    def _assignment(self, node: "Node", scope: Scope) -> Sequence[Step]:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        names = [child for child in left.named_children if child.type == "identifier"] if left else []
        outer = self.scope_before(scope, [self.scan.name(name) for name in names])
        type = self._constructed_type(right) if node.type == "short_var_declaration" else ()
        for place, name in enumerate(names):
            scope.local(self.scan.name(name), type if place == 0 else ())
        return steps(node, outer, left)

    def _type_switch(self, node: "Node", scope: Scope) -> Sequence[Step]:
        inner, alias = scope.inner(), node.child_by_field_name("alias")
        for name in alias.named_children if alias is not None else ():
            inner.local(self.scan.name(name))
        return steps(node, inner, alias)

    def _type_case(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """In a case of a single type, the variable of the switch has that type."""
        inner, types = scope.inner(), node.children_by_field_name("type")
        alias = node.parent.child_by_field_name("alias") if node.parent is not None else None
        for name in alias.named_children if alias is not None and len(types) == 1 else ():
            inner.local(self.scan.name(name), self._static_type(types[0]))
        return steps(node, inner)

    def _static_type(self, node: "Node | None") -> Type:
        for _ in range(MAX_CHAIN):
            if node is None or node.type not in ("pointer_type", "parenthesized_type"):
                break
            node = node.named_children[0] if node.named_children else None
        path = chain(node, self.scan, _TYPE_LEAVES, _TYPE_LINKS)
        return () if path[:1] and path[0] in BUILT_IN and path != ("error",) else path

    def _constructed_type(self, node: "Node | None") -> Type:
        """The type of `T{}`, `&T{}`, `new(T)`, `x.(T)`."""
        for _ in range(3):
            if node is None or node.type not in ("expression_list", "unary_expression"):
                break
            node = node.named_children[-1] if node.named_child_count == 1 else None
        if node is None or node.type not in (
            "composite_literal",
            "type_assertion_expression",
            "call_expression",
        ):
            return ()
        if node.type != "call_expression":
            return self._static_type(node.child_by_field_name("type"))
        arguments = node.child_by_field_name("arguments")
        is_new = self.scan.name(node.child_by_field_name("function")) == "new"
        types = arguments.named_children if is_new and arguments is not None else []
        return self._static_type(types[0]) if types else ()

    # Mentions

    def _type_name(self, node: "Node", scope: Scope) -> Sequence[Step]:
        path = chain(node, self.scan, _TYPE_LEAVES, _TYPE_LINKS)
        if path[:1] and path[0] not in BUILT_IN:
            self.mention_later(scope, "references", path, node, "name")
        return ()

    def _value(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """A name that the file does not bind belongs to the package; before a dot it may also be a
        package."""
        path = chain(node, self.scan, _LEAVES, _LINKS)
        if path:
            is_package_wide = len(path) == 1 and path[0] not in BUILT_IN
            self.mention_later(scope, "references", path[:2], node, "name" if is_package_wide else "drop")
            return ()
        return steps(node, scope)

    def _keyed(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """The key of a struct literal is a field, not a name of the package."""
        key = node.child_by_field_name("key")
        is_name = (
            key is not None and key.named_child_count == 1 and key.named_children[0].type == "identifier"
        )
        return steps(node, scope, key if is_name else None)

    def _call(self, node: "Node", scope: Scope) -> Sequence[Step]:
        function = node.child_by_field_name("function") or node.child_by_field_name("type")
        rest = steps(node, scope, function)
        if function is None:
            return rest
        path = chain(function, self.scan, _LEAVES | _TYPE_LEAVES, _LINKS | _TYPE_LINKS)
        if len(path) == 1 and path[0] not in BUILT_IN:
            self.mention_later(scope, "calls", path, function, "name")
        elif len(path) > 1:
            self.mention_later(scope, "calls", path, function, "unknown")
        elif function.type == "selector_expression":
            operand = function.child_by_field_name("operand")
            name = self.scan.name(function.child_by_field_name("field"))
            self.scan.mention_call_on(scope, self._constructed_type(operand), name, function)
            return [(operand, scope), *rest] if operand is not None else rest
        return rest if path else [(function, scope), *rest]

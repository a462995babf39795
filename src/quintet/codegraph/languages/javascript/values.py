"""JavaScript and TypeScript inside a definition: bindings, calls and references."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quintet.codegraph.languages.javascript.syntax import (
    FUNCTIONS,
    LITERALS,
    bound_names,
    cast_type,
    chain,
    required_parts,
    root_of,
    string_value,
    type_path,
    unwrapped,
)
from quintet.codegraph.scan import Handler, Scan, Step, handlers_by_type, skip
from quintet.codegraph.scope import Binding, Scope, Type

if TYPE_CHECKING:
    from tree_sitter import Node

_TEST_CALLS = {"describe", "it", "test", "suite"}


class ScriptValues:
    """Handlers of statements that bind names and of expressions that mention them."""

    def __init__(self, scan: Scan) -> None:
        self.scan = scan
        self.is_module = False  # a script without imports and exports shares its names with all others
        self.assigned: list[tuple[Scope, str, Binding]] = []  # a name may be assigned above its declaration
        self.handlers: dict[str, Handler] = handlers_by_type(
            {
                self.block: "statement_block for_statement switch_body class_static_block",
                self.loop: "for_in_statement",
                self.catch: "catch_clause",
                self.assignment: "assignment_expression",
                self.call: "call_expression",
                self.construction: "new_expression",
                self.element: "jsx_opening_element jsx_self_closing_element",
                skip: "jsx_closing_element",
                self.mapped_type: "mapped_type_clause",
                self.value: (
                    "member_expression nested_identifier nested_type_identifier identifier "
                    "type_identifier shorthand_property_identifier"
                ),
            }
        )

    def finish(self) -> None:
        for scope, name, binding in self.assigned:
            known = scope.find(name)
            if known is not None:
                known.rebind(binding, keep=True)

    # Bindings

    def block(self, node: "Node", scope: Scope) -> Sequence[Step]:
        inside = scope.inner()
        return [(child, inside) for child in node.named_children]

    def loop(self, node: "Node", scope: Scope) -> Sequence[Step]:
        inside = scope.inner()
        left = node.child_by_field_name("left")
        kind = self.scan.name(node.child_by_field_name("kind"))
        names, values = bound_names(left)
        for item in names if kind else ():
            (scope.function if kind == "var" else inside).local(self.scan.name(item))
        rest = [child for child in node.named_children if left is None or child.id != left.id]
        return [(child, inside) for child in (*values, *rest)]

    def catch(self, node: "Node", scope: Scope) -> Sequence[Step]:
        inside = scope.inner()
        parameter, body = node.child_by_field_name("parameter"), node.child_by_field_name("body")
        names, _ = bound_names(parameter)
        for item in names:
            inside.local(self.scan.name(item))
        return [(body, inside)] if body is not None else ()

    def mapped_type(self, node: "Node", scope: Scope) -> Sequence[Step]:
        scope.inner().local(self.scan.name(node.child_by_field_name("name")))
        value_type = node.child_by_field_name("type")
        return [(value_type, scope)] if value_type is not None else ()

    def assignment(self, node: "Node", scope: Scope) -> Sequence[Step]:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return [(child, scope) for child in node.named_children]
        path = chain(self.scan, left)
        type = self.static_type(right, scope)
        if len(path) == 1:
            self.assigned.append((scope, path[0], Binding("local", type, scope)))
        elif len(path) == 2 and path[0] == "this":
            self.assign_field(path[1], type, scope)
        steps = [(right, scope)]
        return steps if path else [(left, scope), *steps]

    def assign_field(self, name: str, type: Type, scope: Scope) -> None:
        binding = scope.find("this")
        if binding is not None and binding.kind == "self":
            self.scan.bind_field(binding.number, name, type, scope, declared=False)

    def static_type(self, value: "Node | None", scope: Scope) -> Type:
        """The class that `value` constructs or is cast to, or the declared type of the variable that it
        names."""
        value = unwrapped(value)
        if value is None:
            return ()
        if value.type == "new_expression":
            return chain(self.scan, value.child_by_field_name("constructor"))
        if cast := cast_type(value):
            return type_path(self.scan, cast)
        if value.type == "call_expression":
            function = value.child_by_field_name("function")
            binding = scope.find(self.scan.name(function))
            return (
                self.type_of_binding(binding, scope)
                if binding is not None and binding.kind == "symbol"
                else ()
            )
        binding = scope.find(self.scan.name(value)) if value.type == "identifier" else None
        return self.type_of_binding(binding, scope) if binding is not None and binding.kind == "local" else ()

    def type_of_binding(self, binding: Binding, scope: Scope) -> Type:
        return binding.type if binding.has_type_in(scope) else ()

    # Mentions

    def call(self, node: "Node", scope: Scope) -> Sequence[Step]:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        steps = [
            (part, scope)
            for part in (node.child_by_field_name("type_arguments"), arguments)
            if part is not None
        ]
        if function is None:
            return steps
        module, _ = required_parts(self.scan, node)
        path = chain(self.scan, function)
        if module and scope.find("require") is None:
            self.is_module = True
            self.scan.add_import(scope, node, module)
            return ()
        if function.type == "super":
            self.scan.mention(scope, "calls", ("constructor",), function, "super")
        elif path:
            self.note_test(path, arguments, scope)
            self.scan.mention(scope, "calls", path, function)
        else:
            steps = [*self.computed_call(function, scope), *steps]
        return steps

    def computed_call(self, function: "Node", scope: Scope) -> Sequence[Step]:
        """A call on the value of an expression: `super.m()`, `new Foo().m()`, `x[0].m()`."""
        receiver = function.child_by_field_name("object") if function.type == "member_expression" else None
        value = unwrapped(receiver)
        return self.scan.mention_computed_call(
            function,
            receiver,
            scope,
            self.scan.name(function.child_by_field_name("property")),
            self.static_type(receiver, scope),
            is_super=receiver is not None and receiver.type == "super",
            is_literal=value is None or value.type in LITERALS,
        )

    def note_test(self, path: tuple[str, ...], arguments: "Node | None", scope: Scope) -> None:
        """Mark a file with `describe("...", () => ...)` at its top as a test."""
        if path[0] not in _TEST_CALLS or scope.owner != 0 or arguments is None:
            return
        values = arguments.named_children
        if len(values) > 1 and string_value(self.scan, values[0]) and values[1].type in FUNCTIONS:
            self.scan.describe_module(is_test=True)

    def construction(self, node: "Node", scope: Scope) -> Sequence[Step]:
        maker = node.child_by_field_name("constructor")
        path = chain(self.scan, maker)
        if maker is not None and path:
            self.scan.mention(scope, "calls", path, maker)
        return [
            (child, scope)
            for child in node.named_children
            if not path or maker is None or child.id != maker.id
        ]

    def element(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """A component is called when it is rendered; a tag in lower case is HTML."""
        name = node.child_by_field_name("name")
        path = chain(self.scan, name)
        if name is not None and path and (len(path) > 1 or path[0][:1].isupper()):
            self.scan.mention(scope, "calls", path, name)
        return [(child, scope) for child in node.named_children if name is None or child.id != name.id]

    def value(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """A name, or a member of one, that is used but not called."""
        path, root = chain(self.scan, node), root_of(node)
        self.scan.mention(scope, "references", path, node)
        return () if path or root.id == node.id else [(root, scope)]

"""Classes and interfaces of JavaScript and TypeScript, and their members."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quintet.codegraph.languages.javascript.definitions import ScriptDefinitions, parameters_of
from quintet.codegraph.languages.javascript.syntax import FUNCTIONS, chain, type_path, visibility_of
from quintet.codegraph.scan import Scan, Step, handlers_by_type
from quintet.codegraph.scope import Binding, Scope
from quintet.model.symbols import Relation, SymbolKind

if TYPE_CHECKING:
    from tree_sitter import Node

_METHODS = {"method_definition", "method_signature", "abstract_method_signature"}
_FIELDS = {"public_field_definition", "field_definition", "property_signature"}


class ScriptClasses(ScriptDefinitions):
    """Adds the handlers of classes and interfaces."""

    def __init__(self, scan: Scan) -> None:
        super().__init__(scan)
        self.handlers |= handlers_by_type(
            {
                self.class_declaration: (
                    "class_declaration abstract_class_declaration class interface_declaration"
                ),
            }
        )

    def class_declaration(self, node: "Node", scope: Scope) -> Sequence[Step]:
        return self.bound_class(self.name_of(node), node, node, scope) if node.is_named else ()

    def variable(self, node: "Node", whole: "Node", target: Scope, scope: Scope) -> Sequence[Step]:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None and value is not None and value.type == "class" and name.type == "identifier":
            return self.bound_class(self.scan.name(name), value, whole, target)
        return super().variable(node, whole, target, scope)

    def bound_class(self, name: str, value: "Node", whole: "Node", scope: Scope) -> Sequence[Step]:
        """A class that `whole` names: a declaration, or a variable that holds it."""
        kind: SymbolKind = "interface" if value.type == "interface_declaration" else "class"
        body = value.child_by_field_name("body")
        number = self.define(kind, name, whole, scope, body=body)
        if name:
            scope.bind(name, Binding("symbol", (name,), scope, number))
        outside = scope.inner(number)
        self.bind_type_parameters(value, outside)
        steps: list[Step] = []
        for child in value.named_children:
            if child.type in ("class_heritage", "extends_type_clause"):
                steps += self.heritage(child, outside)
            elif child.type == "decorator":
                steps.append((child, outside))
        inside = outside.inner(number, hidden=True, class_number=number)
        return [*steps, *(self.members(body, inside) if body is not None else ())]

    def heritage(self, node: "Node", scope: Scope) -> list[Step]:
        """`extends` and `implements`. In plain JavaScript the base class has no clause of its own."""
        steps: list[Step] = []
        for child in node.named_children:
            if child.type in ("extends_clause", "implements_clause"):
                relation: Relation = "extends" if child.type == "extends_clause" else "implements"
                for part in child.named_children:
                    steps += self.inherited(part, relation, scope)
            else:
                steps += self.inherited(child, "extends", scope)
        return steps

    def inherited(self, node: "Node", relation: Relation, scope: Scope) -> list[Step]:
        path = chain(self.scan, node) if node.type != "type_arguments" else ()
        maker = chain(self.scan, node.child_by_field_name("function"))
        self.scan.mention(scope, relation, path, node)
        self.scan.mention(scope, relation, maker[-1:], node, "unknown")
        arguments = node.child_by_field_name("type_arguments") if path else node
        return [(arguments, scope)] if arguments is not None else []

    def members(self, body: "Node", scope: Scope) -> list[Step]:
        """The members of a class; decorators stand before the member they belong to."""
        steps: list[Step] = []
        first: Node | None = None
        above: list[Node] = []
        for child in body.named_children:
            if child.type == "comment":
                self.comment = child
                steps.append((child, scope))
            elif child.type == "decorator":
                above.append(child)
            else:
                first = above[0] if above else None
                steps += self.member(child, scope, first, above)
                above = []
        return steps

    def member(self, node: "Node", scope: Scope, first: "Node | None", above: Sequence["Node"]) -> list[Step]:
        if node.type not in _METHODS | _FIELDS:
            return [(node, self.instance(scope))]
        name_node = node.child_by_field_name("name") or node.child_by_field_name("property")
        computed = name_node is not None and name_node.type == "computed_property_name"
        name = "" if computed else self.scan.name(name_node).strip("'\"")
        value = node if node.type in _METHODS else node.child_by_field_name("value")
        called = value is not None and (node.type in _METHODS or value.type in FUNCTIONS)
        number = self.scan.add_symbol(
            "method" if called else "variable",
            name,
            node,
            scope.owner,
            first=first,
            body=value.child_by_field_name("body") if called and value is not None else None,
            docstring=self.docstring(first or node),
            visibility=visibility_of(self.scan, node, name),
        )
        owner = scope.owned_by(number)
        within = [child for child in node.named_children if child.type == "decorator"]
        steps: list[Step] = [(child, owner) for child in (*above, *within)]
        if called and value is not None:
            return [*steps, *self.method_steps(name, node, value, number, scope)]
        return [*steps, *self.field_steps(name, node, scope)]

    def method_steps(self, name: str, node: "Node", value: "Node", number: int, scope: Scope) -> list[Step]:
        inside = scope.inner(number)
        inside.bind("this", Binding("self", number=scope.enclosing_class))
        if any(child.type == "get" for child in node.children):
            gives = type_path(self.scan, node.child_by_field_name("return_type"))
            self.scan.bind_field(scope.enclosing_class, name, gives, scope, declared=True)
        if name == "constructor":
            self.parameter_fields(value, scope)
        return self.function_steps(value, inside)

    def parameter_fields(self, node: "Node", scope: Scope) -> None:
        """`constructor(private store: Store)` declares a field."""
        for parameter in parameters_of(node):
            marks = {child.type for child in parameter.children}
            if not marks & {"accessibility_modifier", "readonly"}:
                continue
            name = self.scan.name(parameter.child_by_field_name("pattern"))
            type = type_path(self.scan, parameter.child_by_field_name("type"))
            self.scan.add_symbol(
                "variable",
                name,
                parameter,
                scope.owner,
                visibility=visibility_of(self.scan, parameter, name),
            )
            self.scan.bind_field(scope.enclosing_class, name, type, scope, declared=True)

    def field_steps(self, name: str, node: "Node", scope: Scope) -> list[Step]:
        type_node, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        inside = self.instance(scope)
        declared = type_node is not None
        type = type_path(self.scan, type_node) if declared else self.static_type(value, inside)
        self.scan.bind_field(scope.enclosing_class, name, type, scope, declared=declared)
        return [(part, inside) for part in (type_node, value) if part is not None]

    def instance(self, scope: Scope) -> Scope:
        """The scope of a field's value, where `this` is the object."""
        inside = scope.inner()
        inside.bind("this", Binding("self", number=scope.enclosing_class))
        return inside

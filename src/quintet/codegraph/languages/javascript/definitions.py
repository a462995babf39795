"""Definitions of JavaScript and TypeScript outside classes: functions, variables, objects, namespaces."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quintet.codegraph.languages.javascript.syntax import (
    FUNCTIONS,
    bound_names,
    comment_text,
    required_parts,
    type_path,
    unwrapped,
)
from quintet.codegraph.languages.javascript.values import ScriptValues
from quintet.codegraph.scan import Scan, Step, handlers_by_type
from quintet.codegraph.scope import Binding, Scope, Type
from quintet.model.symbols import SymbolKind, Visibility

if TYPE_CHECKING:
    from tree_sitter import Node

_ABOVE = (b"", b"export", b"export default", b"declare", b"export declare")


class ScriptDefinitions(ScriptValues):
    """Adds the handlers of all named definitions except classes."""

    def __init__(self, scan: Scan) -> None:
        super().__init__(scan)
        self.comment: Node | None = None
        self.exported: dict[int, Node] = {}  # a declaration's node id -> the `export` around it
        self.handlers |= handlers_by_type(
            {
                self.remember_comment: "comment",
                self.function: "function_declaration generator_function_declaration function_signature",
                self.unnamed_function: (*FUNCTIONS, "method_definition"),
                self.variables: "lexical_declaration variable_declaration",
                self.type_alias: "type_alias_declaration",
                self.enum: "enum_declaration",
                self.namespace: "internal_module module",
            }
        )

    def remember_comment(self, node: "Node", _scope: Scope) -> Sequence[Step]:
        self.comment = node
        return ()

    def docstring(self, node: "Node") -> str:
        """The comment directly above; only a modifier may stand between."""
        comment = self.comment
        if comment is None or not 0 <= node.start_byte - comment.end_byte < 1000:
            return ""
        between = self.scan.source[comment.end_byte : node.start_byte].strip()
        return comment_text(self.scan, comment) if between in _ABOVE else ""

    def define(
        self,
        kind: SymbolKind,
        name: str,
        node: "Node",
        scope: Scope,
        *,
        first: "Node | None" = None,
        body: "Node | None" = None,
        visibility: Visibility | None = None,
    ) -> int:
        """Add a symbol. Without a visibility, it is private unless the declaration exports it."""
        export = self.exported.get(node.id)
        first = first or export
        return self.scan.add_symbol(
            kind,
            name,
            node,
            scope.owner,
            first=first,
            body=body,
            docstring=self.docstring(first or node),
            visibility=visibility or ("private" if export is None else "public"),
        )

    def name_of(self, node: "Node") -> str:
        """The name; `default` for an export without one."""
        name = self.scan.name(node.child_by_field_name("name")).strip("'\"")
        return name or ("default" if node.id in self.exported else "")

    # Functions

    def function(self, node: "Node", scope: Scope) -> Sequence[Step]:
        return self.bound_function(self.name_of(node), node, node, scope)

    def bound_function(self, name: str, value: "Node", whole: "Node", scope: Scope) -> Sequence[Step]:
        """A function that `whole` names: a declaration, or a variable that holds it."""
        number = self.define("function", name, whole, scope, body=value.child_by_field_name("body"))
        gives = type_path(self.scan, value.child_by_field_name("return_type"))
        if name:
            scope.bind(name, Binding("symbol", gives, scope, number))
        return self.function_steps(value, scope.inner(number))

    def unnamed_function(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """A function without a name: its mentions belong to the definition around it."""
        if node.id in self.exported:
            return self.bound_function("default", node, node, scope)
        self.scan.layout.hide(node)
        return self.function_steps(node, scope.inner(scope.owner))

    def function_steps(self, node: "Node", inside: Scope) -> list[Step]:
        """Bind the parameters of a function; next come its types, defaults and body."""
        if node.type != "arrow_function":
            inside.names.setdefault("this", Binding("local"))
        own = self.scan.name(node.child_by_field_name("name")) if node.type in FUNCTIONS else ""
        if own and own != self.scan.symbol_at(inside.owner).name:
            inside.local(own)  # `const a = function b() {}`: only inside it is called `b`
        self.bind_type_parameters(node, inside)
        steps: list[Step] = []
        for parameter in parameters_of(node):
            steps += self.parameter(parameter, inside)
        rest = (node.child_by_field_name("return_type"), node.child_by_field_name("body"))
        return [*steps, *((part, inside) for part in rest if part is not None)]

    def parameter(self, node: "Node", inside: Scope) -> list[Step]:
        pattern, type_node = node.child_by_field_name("pattern"), node.child_by_field_name("type")
        names, values = bound_names(pattern or node)
        typed = pattern is not None and pattern.type == "identifier" and type_node is not None
        type = type_path(self.scan, type_node) if typed else ()
        for item in names:
            inside.bind(self.scan.name(item), Binding("local", type, inside, declared=typed))
        decorators = [child for child in node.named_children if child.type == "decorator"]
        parts = (*decorators, type_node, *values, node.child_by_field_name("value"))
        return [(part, inside) for part in parts if part is not None and part.type != "this"]

    def bind_type_parameters(self, node: "Node", inside: Scope) -> None:
        listed = node.child_by_field_name("type_parameters")
        for item in listed.named_children if listed is not None else ():
            inside.local(self.scan.name(item.child_by_field_name("name")))

    # Variables

    def variables(self, node: "Node", scope: Scope) -> Sequence[Step]:
        declarators = [child for child in node.named_children if child.type == "variable_declarator"]
        steps: list[Step] = []
        for item in declarators:
            whole = node if len(declarators) == 1 else item
            if node.id in self.exported:
                self.exported[whole.id] = self.exported[node.id]
            target = scope.function if node.type == "variable_declaration" else scope
            steps += self.variable(item, whole, target, scope)
        return steps

    def variable(self, node: "Node", whole: "Node", target: Scope, scope: Scope) -> Sequence[Step]:
        """A declarator `name = value`; the name is bound in `target`, the value is read in `scope`."""
        name_node, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        module, member = required_parts(self.scan, unwrapped(value))
        if module and scope.find("require") is None:
            return self.required(name_node, module, member, node, target)
        single = name_node is not None and name_node.type == "identifier"
        if single and value is not None and value.type in FUNCTIONS:
            own = [(node.child_by_field_name("type"), scope)]
            steps = self.bound_function(self.scan.name(name_node), value, whole, target)
            return [*((part, inner) for part, inner in own if part is not None), *steps]
        type_node = node.child_by_field_name("type")
        type = type_path(self.scan, type_node) if type_node is not None else self.static_type(value, scope)
        names, values = bound_names(name_node)
        number = target.owner
        for item in names:
            number = self.bind_variable(item, whole, target, type if single else (), type_node is not None)
        steps = [(part, scope) for part in (*values, type_node) if part is not None]
        if value is not None and value.type == "object" and single and number != target.owner:
            target.bind(self.scan.name(name_node), Binding("symbol", (), target, number))
            return [*steps, *self.object_steps(value, scope, number)]
        return [*steps, *([(value, scope)] if value is not None else [])]

    def bind_variable(self, item: "Node", whole: "Node", scope: Scope, type: Type, declared: bool) -> int:
        name = self.scan.name(item)
        if not self.is_top(scope):
            scope.local(name, type, declared=declared)
            return scope.owner
        number = self.define("variable", name, whole, scope)
        scope.bind(name, Binding("variable", type, scope, number, declared))
        return number

    def is_top(self, scope: Scope) -> bool:
        """Whether variables of this scope belong to the file or to a namespace."""
        return not scope.block and self.scan.symbol_at(scope.owner).kind == "module"

    def object_steps(self, node: "Node", scope: Scope, number: int) -> list[Step]:
        """The functions in a named object are symbols under it."""
        steps: list[Step] = []
        for child in node.named_children:
            value = child.child_by_field_name("value") if child.type == "pair" else child
            if child.type == "comment":
                self.comment = child
            if value is None or value.type not in (*FUNCTIONS, "method_definition"):
                steps.append((child, scope))
                continue
            key = child.child_by_field_name("key") or child.child_by_field_name("name")
            name = (
                self.scan.name(key).strip("'\"")
                if key is not None and key.type != "computed_property_name"
                else ""
            )
            within = scope.owned_by(number)
            body = value.child_by_field_name("body")
            inner = self.define("function", name, child, within, body=body, visibility="public")
            steps += self.function_steps(value, scope.inner(inner))
        return steps

    def required(
        self, name_node: "Node | None", module: str, member: str, node: "Node", scope: Scope
    ) -> Sequence[Step]:
        self.is_module = True
        if name_node is not None and name_node.type == "identifier":
            self.scan.add_import(scope, node, module, name=member, alias=self.scan.name(name_node))
            return ()
        for item in name_node.named_children if name_node is not None else ():
            key, value = item.child_by_field_name("key"), item.child_by_field_name("value")
            names, _ = bound_names(value or item)
            alias = self.scan.name(names[0]) if names else ""
            self.scan.add_import(scope, item, module, name=self.scan.name(key) or alias, alias=alias)
        return ()

    # Types and namespaces

    def type_alias(self, node: "Node", scope: Scope) -> Sequence[Step]:
        number = self.define("class", self.name_of(node), node, scope)
        scope.bind(self.name_of(node), Binding("symbol", (), scope, number))
        inside = scope.inner(number)
        self.bind_type_parameters(node, inside)
        value = node.child_by_field_name("value")
        return [(value, inside)] if value is not None else ()

    def enum(self, node: "Node", scope: Scope) -> Sequence[Step]:
        body, name = node.child_by_field_name("body"), self.name_of(node)
        number = self.define("class", name, node, scope, body=body)
        scope.bind(name, Binding("symbol", (name,), scope, number))
        inside = scope.inner(number)
        steps: list[Step] = []
        for member in body.named_children if body is not None else ():
            named = member.child_by_field_name("name") or member
            if named.type in ("property_identifier", "string"):
                name = self.scan.name(named).strip("'\"")
                self.scan.add_symbol("variable", name, member, number)
            value = member if member.type == "comment" else member.child_by_field_name("value")
            steps += [(value, inside)] if value is not None else []
        return steps

    def namespace(self, node: "Node", scope: Scope) -> Sequence[Step]:
        if not node.is_named:
            return ()
        body, inside = node.child_by_field_name("body"), scope
        for name in self.name_of(node).split("."):
            number = self.define("module", name, node, inside, body=body)
            inside.bind(name, Binding("symbol", (), inside, number))
            inside = inside.inner(number)
        return [(child, inside) for child in (body.named_children if body is not None else ())]


def parameters_of(node: "Node") -> list["Node"]:
    single = node.child_by_field_name("parameter")
    listed = node.child_by_field_name("parameters")
    return [single] if single is not None else listed.named_children if listed is not None else []

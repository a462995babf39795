"""Python inside a definition: bindings, calls and references."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quintet.codegraph.languages.python.syntax import (
    LITERALS,
    annotation,
    chain,
    names_in,
    root_of,
    targets_of,
    visibility_of,
)
from quintet.codegraph.scan import Handler, Scan, Step, handlers_by_type
from quintet.codegraph.scope import Binding, Scope, Type
from quintet.model.symbols import SymbolKind

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_AROUND = 10  # brackets and `a = b = ...` around a value


class PythonValues:
    """Handlers of statements that bind names and of expressions that mention them."""

    def __init__(self, scan: Scan) -> None:
        self.scan = scan
        self.assigned: dict[str, Node] = {}  # names of the file that are given a value, and where first
        self.handlers: dict[str, Handler] = handlers_by_type(
            {
                self.assignment: "assignment augmented_assignment",
                self.type_alias: "type_alias_statement",
                self.walrus: "named_expression",
                self.loop: "for_statement for_in_clause",
                self.comprehension: (
                    "list_comprehension set_comprehension dictionary_comprehension generator_expression"
                ),
                self.as_pattern: "as_pattern",
                self.case_pattern: "case_pattern keyword_pattern splat_pattern",
                self.class_pattern: "class_pattern",
                self.outward_statement: "global_statement nonlocal_statement",
                self.call: "call",
                self.value: "attribute",
                self.bare_name: "identifier",
                self.string: "string",
                self.keyword: "keyword_argument",
                self.type_node: "type",
            }
        )

    # Bindings

    def assignment(self, node: "Node", scope: Scope) -> Sequence[Step]:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        type_node = node.child_by_field_name("type")
        annotated = type_node is not None
        type = annotation(self.scan.name(type_node)) if annotated else self.static_type(right, scope)
        owner = self.bind_lambda(left, right, node, scope)
        steps = self.bind_targets(left, node, scope, type, annotated) if owner is None else []
        if type_node is not None:
            steps.append((type_node, scope))
        if right is not None:
            steps.append((right, scope if owner is None else scope.inner(owner)))
        return steps

    def bind_lambda(
        self, left: "Node | None", right: "Node | None", node: "Node", scope: Scope
    ) -> int | None:
        """The number of the function that `name = lambda ...` defines."""
        if left is None or right is None or right.type != "lambda" or left.type != "identifier":
            return None
        kind: SymbolKind = "method" if scope.hidden else "function"
        name = self.scan.name(left)
        number = self.define(kind, name, node, scope)
        scope.bind(name, Binding("symbol", (), scope, number))
        return number

    def define(self, kind: SymbolKind, name: str, node: "Node", scope: Scope) -> int:
        return self.scan.add_symbol(
            kind,
            name,
            node,
            scope.owner,
            visibility=visibility_of(name, scope.hidden),
        )

    def bind_targets(
        self, left: "Node | None", node: "Node", scope: Scope, type: Type, declared: bool
    ) -> list[Step]:
        """Bind the targets of an assignment. Returns those that are expressions, to be visited."""
        steps: list[Step] = []
        names, others = targets_of(left)
        if len(names) + len(others) != 1:
            type = ()
        for item in names:
            self.bind_name(item, node, scope.function, type, declared)
        for item in others:
            path = chain(self.scan, item)
            binding = scope.find(path[0]) if len(path) == 2 else None
            if binding is not None and binding.kind == "self":
                self.scan.bind_field(binding.number, path[1], type, scope, declared=declared)
            steps.append((item, scope))
        return steps

    def bind_name(self, item: "Node", node: "Node", scope: Scope, type: Type, declared: bool) -> None:
        name = self.scan.name(item)
        if not (scope.is_file or scope.hidden) or name in scope.outward:
            bare = declared and node.child_by_field_name("right") is None  # `x: T` before it is given a value
            self.bind_local(item, scope, type, declared=bare)
            return
        if name == "__all__" and scope.is_file:
            listed = names_in(self.scan, node.child_by_field_name("right"))
            self.scan.exports += [(exported, exported) for exported in listed]
        known = scope.names.get(name)
        if known is None or known.kind == "local":
            self.define("variable", name, node, scope)
        elif scope.is_file:
            self.assigned.setdefault(name, node)
        scope.bind(name, Binding("variable", type, scope, declared=declared))
        if scope.hidden:
            self.scan.bind_field(scope.enclosing_class, name, type, scope, declared=declared)

    def bind_local(self, item: "Node", scope: Scope, type: Type = (), *, declared: bool = False) -> None:
        name = self.scan.name(item)
        if scope.outward.get(name, scope).is_file:
            self.assigned.setdefault(name, item)
        scope.local(name, type, declared=declared)

    def define_rebound(self) -> None:
        """Make a variable of each imported name that the file assigns to, wherever that happens."""
        known, defined = self.scan.file.names, self.scan.outermost()
        for name, node in self.assigned.items():
            if name in known and known[name].kind == "import" and name not in defined:
                self.scan.add_symbol("variable", name, node, 0, visibility=visibility_of(name, False))

    def type_alias(self, node: "Node", scope: Scope) -> Sequence[Step]:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        name = self.scan.name(left).partition("[")[0].strip()
        number = self.scan.add_symbol("class", name, node, scope.owner)
        scope.bind(name, Binding("symbol", (), scope, number))
        return [(right, scope.owned_by(number))] if right is not None else []

    def static_type(self, value: "Node | None", scope: Scope) -> Type:
        """The class that `value` constructs, or the type of the parameter or variable that it names."""
        for _ in range(_MAX_AROUND):
            if value is None or value.type not in ("assignment", "parenthesized_expression"):
                break
            value = value.child_by_field_name("right") or next(iter(value.named_children), None)
        if value is None:
            return ()
        if value.type == "identifier":
            binding = scope.find(self.scan.name(value))
            held = binding is not None and binding.kind == "local" and binding.has_type_in(scope)
            return binding.type if held and binding is not None else ()
        path = chain(self.scan, value.child_by_field_name("function")) if value.type == "call" else ()
        return self.result_of(path, scope) if path else ()

    def result_of(self, path: tuple[str, ...], scope: Scope) -> Type:
        """The type that a call of `path` returns: the class itself (of this file, or named like one), or
        the return type of the function."""
        binding = scope.find(path[0])
        if len(path) == 1 and binding is not None and binding.kind == "symbol":
            return binding.type if binding.has_type_in(scope) else ()
        like_a_class = path[-1].lstrip("_")[:1].isupper() and not path[-1].isupper()
        return path if like_a_class else ()

    def walrus(self, node: "Node", scope: Scope) -> Sequence[Step]:
        value = node.child_by_field_name("value")
        names, _ = targets_of(node.child_by_field_name("name"))
        for item in names:
            self.bind_local(item, scope.function, self.static_type(value, scope))
        return [(value, scope)] if value is not None else []

    def loop(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """The `for` of a statement or a comprehension; a comprehension has its own scope."""
        left = node.child_by_field_name("left")
        names, others = targets_of(left)
        for item in names:
            self.bind_local(item, scope)
        rest = [child for child in node.named_children if left is None or child.id != left.id]
        return [(child, scope) for child in (*others, *rest)]

    def comprehension(self, node: "Node", scope: Scope) -> Sequence[Step]:
        inside = scope.inner()
        return [(child, inside) for child in node.named_children]

    def as_pattern(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """`with`, `except` and `case ... as name`."""
        *first, last = node.named_children or [node]
        names, others = targets_of(last.named_children[0] if last.type == "as_pattern_target" else last)
        for item in names:
            self.bind_local(item, scope.function)
        return [(child, scope) for child in (*first, *others)]

    def case_pattern(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """A bare name captures a value; the `x` of `Point(x=0)` is an attribute, and a dotted name is a
        value."""
        steps: list[Step] = []
        children = node.named_children
        for child in children[1:] if node.type == "keyword_pattern" else children:
            captures = child.type == "identifier" or (
                child.type == "dotted_name" and child.named_child_count == 1
            )
            if captures:
                self.bind_local(child, scope.function)
            elif child.type == "dotted_name":
                self.scan.mention(scope, "references", tuple(self.scan.name(child).split(".")), child)
            else:
                steps.append((child, scope))
        return steps

    def class_pattern(self, node: "Node", scope: Scope) -> Sequence[Step]:
        first, *rest = node.named_children or [node]
        self.scan.mention(scope, "references", tuple(self.scan.name(first).split(".")), first)
        return [(child, scope) for child in rest]

    def outward_statement(self, node: "Node", scope: Scope) -> Sequence[Step]:
        scope = scope.function
        target = self.scan.file if node.type == "global_statement" else scope.parent
        for item in node.named_children:
            if target is not None and target is not scope:
                scope.outward[self.scan.name(item)] = target
        return ()

    # Mentions

    def call(self, node: "Node", scope: Scope) -> Sequence[Step]:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        steps: list[Step] = []
        if function is not None:
            path = chain(self.scan, function)
            if path:
                self.scan.mention(scope, "calls", path, function)
            else:
                steps += self.computed_call(function, scope)
        if arguments is not None:
            steps.append((arguments, scope))
        return steps

    def computed_call(self, function: "Node", scope: Scope) -> Sequence[Step]:
        """A call on the value of an expression: `super().m()`, `Foo().m()`, `x[0].m()`."""
        receiver = function.child_by_field_name("object") if function.type == "attribute" else None
        maker = receiver.child_by_field_name("function") if receiver and receiver.type == "call" else None
        is_super = maker is not None and self.scan.name(maker) == "super" and scope.find("super") is None
        is_literal = receiver is not None and receiver.type in LITERALS
        type = () if is_super else self.static_type(receiver, scope)
        member = self.scan.name(function.child_by_field_name("attribute"))
        return self.scan.mention_computed_call(
            function, receiver, scope, member, type, is_super=is_super, is_literal=is_literal
        )

    def bare_name(self, node: "Node", scope: Scope) -> Sequence[Step]:
        self.scan.mention(scope, "references", (self.scan.name(node),), node)
        return ()

    def value(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """A member of a name that is used but not called."""
        path, root = chain(self.scan, node), root_of(node)
        self.scan.mention(scope, "references", path, node)
        return () if path or root.type in ("attribute", "identifier") else [(root, scope)]

    def string(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """Only a string with a prefix such as `f` can hold expressions (or one that is broken)."""
        if self.scan.source.startswith((b'"', b"'"), node.start_byte) and not node.has_error:
            return ()
        return [(child, scope) for child in node.named_children]

    def keyword(self, node: "Node", scope: Scope) -> Sequence[Step]:
        value = node.child_by_field_name("value")
        return [(value, scope)] if value is not None else ()

    def type_node(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """An annotation; a quoted one holds names too."""
        children = node.named_children
        kind = children[0].type if len(children) == 1 else ""
        if kind == "identifier":
            return self.bare_name(children[0], scope)
        if kind != "string":
            return [(child, scope) for child in children]
        for path in names_in(self.scan, children[0]):
            self.scan.mention(scope, "references", tuple(path.split(".")), children[0])
        return ()

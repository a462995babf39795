"""What Java and C# share: classes whose methods see their fields without `this`, and declared types."""

import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from quintet.codegraph.extractor import MAX_CHAIN, Extractor, Link, chain, is_constant, steps
from quintet.codegraph.scan import Handler, Scan, Step, handlers_by_type, skip
from quintet.codegraph.scope import Binding, Scope, Type
from quintet.model.symbols import Relation, SymbolKind, Visibility

if TYPE_CHECKING:
    from tree_sitter import Node

_DOTS = re.compile(r"\s*(?:\.|::)\s*")
_ARGUMENTS = re.compile(r"<.*>", re.DOTALL)
_MARKS = frozenset({"modifiers", "attribute_list"})
_WRAPPED_TYPES = frozenset({"nullable_type", "annotated_type", "ref_type", "scoped_type"})


class JavaLikeExtractor(Extractor):
    """A subclass lists its node types, and decides how visible a definition is and whether it is a test."""

    kinds: ClassVar[Mapping[str, SymbolKind]]
    type_names: ClassVar[frozenset[str]]  # a name or names with dots; not a generic or array type
    links: ClassVar[Mapping[str, Link]]
    leaves: ClassVar[frozenset[str]] = frozenset({"identifier", "this", "super", "base"})
    # An expression that names its type: the field of the type.
    typed_values: ClassVar[Mapping[str, str]] = {
        "object_creation_expression": "type",
        "cast_expression": "type",
    }
    implicit_types: ClassVar[frozenset[str]] = frozenset({"var", "dynamic"})
    methods_are_values: ClassVar[bool] = True  # otherwise a field and a method may share a name

    def __init__(self, scan: Scan) -> None:
        super().__init__(scan)
        self._superclasses: dict[int, Type] = {}

    @abstractmethod
    def visibility(self, node: "Node", scope: Scope) -> Visibility: ...

    @abstractmethod
    def is_test(self, node: "Node") -> bool: ...

    def handlers(self) -> dict[str, Handler]:
        return handlers_by_type(
            {
                self.type_declaration: self.kinds,
                self.method: "method_declaration constructor_declaration",
                self.block: "block for_statement switch_section catch_clause",
                self.comment: "comment line_comment block_comment",
                skip: "break_statement continue_statement goto_statement",
                self.value: (*self.links, "identifier"),
                self.typed: "cast_expression typeof_expression array_creation_expression",
                self._type_parameter: "type_parameter",
                self._creation: "object_creation_expression",
                self._lambda: "lambda_expression",
                self.other_constructor: "explicit_constructor_invocation constructor_initializer",
            }
        )

    # Definitions

    def member(
        self, kind: SymbolKind, name: str, node: "Node", scope: Scope, body: "Node | None" = None
    ) -> int:
        return self.define(
            kind,
            name,
            node,
            scope,
            body=body,
            visibility=self.visibility(node, scope),
            is_test=self.is_test(node),
        )

    def type_declaration(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        number = self.member(self.kinds[node.type], self.scan.name(name), node, scope, body)
        self.bind_symbol(scope, self.scan.name(name))
        inner = scope.inner(number, class_number=number)
        inner.bind("this", Binding("self", number=number))
        return [*self.heading(node, inner), *steps(node, inner, name, *self.read_in_heading(node))]

    @abstractmethod
    def heading(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """What a class extends and implements."""

    @abstractmethod
    def read_in_heading(self, node: "Node") -> Iterable["Node | None"]: ...

    def inherits(self, relation: Relation, types: Iterable["Node"], scope: Scope) -> None:
        for written in types:
            if relation == "extends":
                self._superclasses.setdefault(scope.owner, self.static_type(written))
            self.scan.mention(scope, relation, self.static_type(written), written)
            for arguments in written.named_children:
                if arguments.type in ("type_arguments", "type_argument_list"):
                    self.refer(arguments, scope)

    def method(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        result = node.child_by_field_name("type") or node.child_by_field_name("returns")
        text = self.scan.name(name)
        if not scope.is_class_body:
            return self.block(node, scope)  # of an anonymous class
        outer = scope.inner(self.member("method", text, node, scope, body))
        if node.type == "method_declaration" and self.methods_are_values:
            self.bind_symbol(scope, text)
        inner = outer.inner()
        self.refer(result, inner)
        return steps(node, inner, name, result)

    def variables(
        self, node: "Node", written: "Node | None", declarators: Sequence["Node"], scope: Scope
    ) -> Sequence[Step]:
        """Fields of a class, or the local variables of a block; `node` is the whole declaration."""
        next_steps: list[Step] = []
        for declarator in declarators:
            name = declarator.child_by_field_name("name")
            values = steps(declarator, scope, name)
            type = self.declared_type(written, [value for value, _ in values])
            if scope.is_class_body:
                inner = scope.inner(self.field(node, self.scan.name(name), type, scope))
                self.refer(written, inner)
                next_steps += [(mark, inner) for mark in node.named_children if mark.type in _MARKS]
                next_steps += [(value, inner) for value, _ in values]
            else:
                scope.local(self.scan.name(name), type, declared=True)
                self.refer(written, scope)
                next_steps += values
        return next_steps

    def field(self, node: "Node", name: str, type: Type, scope: Scope) -> int:
        self.bind_variable(scope, name, type)
        self.scan.bind_field(scope.enclosing_class, name, type, scope, declared=True)
        return self.member("variable", name, node, scope)

    def constant(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """A constant of an enum; its type is the enum."""
        name = node.child_by_field_name("name")
        type = self.scan.symbol_at(scope.enclosing_class).path[-1:]
        number = self.field(node, self.scan.name(name), type, scope)
        return steps(node, scope.inner(number), name)

    def local(self, node: "Node", scope: Scope, name_field: str = "name") -> Sequence[Step]:
        """A parameter, or anything else with a type and a name: a loop, a pattern, a resource."""
        written, name = node.child_by_field_name("type"), node.child_by_field_name(name_field)
        value = node.child_by_field_name("value")
        values = [value] if value is not None and not node.type.endswith("for_statement") else []
        scope.local(self.scan.name(name), self.declared_type(written, values), declared=True)
        self.refer(written, scope)
        return steps(node, scope, written, name)

    def _lambda(self, node: "Node", scope: Scope) -> Sequence[Step]:
        inner, parameters = scope.inner(), node.child_by_field_name("parameters")
        if parameters is None:
            return steps(node, inner)
        named = parameters.named_children if parameters.named_children else [parameters]
        plain = [child for child in named if child.type in ("identifier", "implicit_parameter")]
        for name in plain:
            inner.local(self.scan.name(name))
        if parameters.type in ("identifier", "implicit_parameter"):
            return steps(node, inner, parameters)
        return [*steps(parameters, inner, *plain), *steps(node, inner, parameters)]

    def _type_parameter(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name = node.child_by_field_name("name") or (node.named_children[0] if node.named_children else None)
        scope.local(self.scan.name(name))
        for bound in steps(node, scope, name):
            self.refer(bound[0], scope)
        return ()

    # Types

    def static_type(self, node: "Node | None") -> Type:
        for _ in range(MAX_CHAIN):
            if node is None or node.type not in _WRAPPED_TYPES:
                break
            node = node.child_by_field_name("type") or (
                node.named_children[-1] if node.named_children else None
            )
        if node is not None and node.type in ("generic_type", "generic_name") and node.named_children:
            node = node.named_children[0]
        return self._type_path(node) if node is not None else ()

    def _type_path(self, node: "Node") -> Type:
        if node.type not in self.type_names:
            return ()
        parts = _DOTS.split(_ARGUMENTS.sub("", self.scan.name(node)))
        return () if parts[0] in self.implicit_types else tuple(part for part in parts if part)

    def declared_type(self, written: "Node | None", values: Sequence["Node"]) -> Type:
        """The written type, or for `var x = new T()` the constructed type."""
        is_implicit = written is None or self.scan.name(written) in self.implicit_types
        return (
            (self.constructed_type(values[0]) if values else ()) if is_implicit else self.static_type(written)
        )

    def constructed_type(self, node: "Node | None") -> Type:
        if node is not None and node.type == "parenthesized_expression" and node.named_children:
            node = node.named_children[0]
        if node is None or node.type not in self.typed_values:
            return ()
        return self.static_type(node.child_by_field_name(self.typed_values[node.type]))

    def refer(self, node: "Node | None", scope: Scope) -> None:
        """Mention every type in a written type."""
        stack = [node] if node is not None else []
        while stack:
            current = stack.pop()
            self.scan.mention(scope, "references", self._type_path(current), current)
            if current.type not in self.type_names:
                stack.extend(reversed(current.named_children))

    def typed(self, node: "Node", scope: Scope) -> Sequence[Step]:
        written = node.child_by_field_name("type")
        self.refer(written, scope)
        return steps(node, scope, written)

    # Mentions

    def value(self, node: "Node", scope: Scope) -> Sequence[Step]:
        path = chain(node, self.scan, self.leaves, self.links)
        if not path:
            return steps(node, scope, node.child_by_field_name("name") or node.child_by_field_name("field"))
        if path[0] not in ("this", "super", "base"):
            is_elsewhere = (
                len(path) == 2 and path[0][:1].isupper()
            )  # a type of the same package needs no import
            self.mention_later(scope, "references", path[:2], node, "name" if is_elsewhere else "drop")
        return ()

    def annotation(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name = node.child_by_field_name("name")
        self.scan.mention(scope, "references", chain(name, self.scan, self.leaves, self.links), node)
        return steps(node, scope, name)

    def other_constructor(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """`super(x)` and `this(x)` call a constructor, as `new` does."""
        called = {child.type for child in node.children}
        number = scope.enclosing_class
        own = self.scan.symbol_at(number).path[-1:]
        path = own if "this" in called else self._superclasses.get(number, ())
        self.scan.mention(scope, "calls", path, node)
        return [step for step in steps(node, scope) if step[0].type == "argument_list"]

    def _creation(self, node: "Node", scope: Scope) -> Sequence[Step]:
        written = node.child_by_field_name("type")
        self.scan.mention(scope, "calls", self.static_type(written), node)
        if written is not None and written.type not in self.type_names:
            for arguments in written.named_children[1:]:
                self.refer(arguments, scope)
        body = next((child for child in node.named_children if child.type == "class_body"), None)
        if body is None:
            return steps(node, scope, written)
        nameless = scope.inner()
        nameless.local("this")
        return [*steps(node, scope, written, body), (body, nameless)]

    def member_call(self, scope: Scope, receiver: "Node | None", name: str, node: "Node") -> Sequence[Step]:
        """Record a call of `receiver.name`. Returns what is left to read of the receiver."""
        path = chain(receiver, self.scan, self.leaves, self.links)
        if path in (("super",), ("base",)):
            self.scan.mention(scope, "calls", (name,), node, "super")
        elif path:
            self.mention_later(scope, "calls", (*path, name), node, "static")
            if is_constant(path):
                self.mention_later(scope, "references", path[:2], node, "name")
        else:
            self.scan.mention_call_on(scope, self.constructed_type(receiver), name, node)
        return [(receiver, scope)] if receiver is not None and not path else ()

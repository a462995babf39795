"""C++: classes, namespaces, templates and what methods call, on top of what it shares with C."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quintet.codegraph.extractor import chain, steps
from quintet.codegraph.languages.c.extract import CExtractor
from quintet.codegraph.languages.c.names import arguments_of
from quintet.codegraph.scan import Handler, Scan, Step, handlers_by_type, skip
from quintet.codegraph.scope import Binding, Scope, Type
from quintet.model.symbols import Outline, Visibility

if TYPE_CHECKING:
    from tree_sitter import Node

_POINTERS = frozenset({"unique_ptr", "shared_ptr", "weak_ptr"})
_MAKERS = frozenset({"make_unique", "make_shared"})
_CASTS = frozenset({"static_cast", "dynamic_cast", "const_cast", "reinterpret_cast"})
_RECEIVERS = frozenset({"identifier", "this"})
_RECEIVER_LINKS = {"field_expression": ("argument", "field")}
_GENERICS = tuple(f"{kind}type_parameter_declaration" for kind in ("", "optional_", "variadic_"))
_ACCESS: dict[str, Visibility] = {"private": "private", "protected": "protected"}
_QUALIFIERS = frozenset({"type_qualifier", "storage_class_specifier"})
_BODIES = frozenset({"field_initializer_list", "compound_statement", "try_statement"})


def outline_of(scan: Scan) -> Outline:
    return _CppExtractor(scan).read()


class _CppExtractor(CExtractor):
    def __init__(self, scan: Scan) -> None:
        super().__init__(scan)
        self._access: dict[int, Visibility] = {}
        self._declared_access: dict[tuple[int, str], Visibility] = {}  # of methods, by class and name
        self._constructors: dict[int, set[str]] = {}  # of a class: the names that its initialisers may call
        self._scopes: dict[int, Scope] = {}
        self._generics: list[str] = []
        self._template: Node | None = None

    def handlers(self) -> dict[str, Handler]:
        return super().handlers() | handlers_by_type(
            {
                self.block: "lambda_expression catch_clause try_statement",
                skip: (*_GENERICS, "base_class_clause", "friend_declaration"),
                self.record: "class_specifier",
                self._access_specifier: "access_specifier",
                self._namespace: "namespace_definition",
                self._namespace_alias: "namespace_alias_definition",
                self._using: "using_declaration",
                self._alias: "alias_declaration concept_definition",
                self._template_declaration: "template_declaration",
                self.parameter: "optional_parameter_declaration",
                self._loop: "for_range_loop",
                self._initialiser: "field_initializer",
                self._new: "new_expression",
                self._built_in_place: "compound_literal_expression",
                self._qualified: "qualified_identifier",
                self._template_type: "template_type",
            }
        )

    # Definitions

    def visibility(self, node: "Node", scope: Scope) -> Visibility:
        if scope.is_class_body:
            return self._access.get(scope.owner, "public")
        if node.type == "declaration" and self.at_top(scope) and self._is_constant(node):
            return "public" if self.is_header else "private"
        return super().visibility(node, scope)

    def _is_constant(self, node: "Node") -> bool:
        """Whether it is a constant that only this file sees. A pointer to a constant is not one."""
        words = {self.scan.name(child) for child in node.named_children if child.type in _QUALIFIERS}
        declarators = node.children_by_field_name("declarator")
        inner = (declarator.child_by_field_name("declarator") for declarator in declarators)
        points = any(
            inner_declarator is not None and inner_declarator.type == "pointer_declarator"
            for inner_declarator in inner
        )
        is_fixed = "constexpr" in words or ("const" in words and not points)
        return is_fixed and not words & {"extern", "inline"}

    def _access_specifier(self, node: "Node", scope: Scope) -> Sequence[Step]:
        self._access[scope.owner] = _ACCESS.get(self.scan.name(node), "public")
        return ()

    def _template_declaration(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """Template parameters are names of the definition inside; a comment above the template belongs to
        it."""
        parameters = node.child_by_field_name("parameters")
        if node.parent is None or node.parent.type != "template_declaration":
            self._generics, self._template = [], node
        for parameter in parameters.named_children if parameters is not None else ():
            value = self.declarator_parts(parameter.child_by_field_name("declarator"))[0]
            types = (child for child in parameter.named_children if child.type == "type_identifier")
            self._generics.append(self.scan.name(value or next(types, None)))
        return steps(node, scope, parameters)

    def enter(self, number: int, scope: Scope, class_number: int = 0) -> Scope:
        inner = super().enter(number, scope, class_number)
        for name in self._generics:
            inner.local(name)
        self._generics, self._template = [], None
        return inner

    def commented_node(self, node: "Node") -> "Node":
        return self._template or node

    def class_body(self, node: "Node", name: str, body: "Node", scope: Scope) -> Sequence[Step]:
        if not name:
            return steps(body, scope)
        number = self.add("class", name, node, scope, body)
        self.bind_symbol(scope, name)
        inner = self.enter(number, scope, number)
        inner.bind("this", Binding("self", number=number))
        self._access[number] = "private" if node.type == "class_specifier" else "public"
        self._scopes.setdefault(number, inner)
        bases = [child for child in node.named_children if child.type == "base_class_clause"]
        next_steps: list[Step] = []
        constructors = self._constructors.setdefault(number, {name})
        for base in bases[0].named_children if bases else ():
            self.scan.mention(inner, "extends", self.path(base), base)
            constructors.update(self.path(base)[-1:])
            next_steps += [(argument, inner) for argument in arguments_of(base)]
        return [*next_steps, *steps(body, inner)]

    def field(self, name: str, type: Type, scope: Scope) -> None:
        super().field(name, type, scope)
        self.bind_variable(scope, name, type)

    def member(self, node: "Node", declarator: "Node", scope: Scope) -> tuple[Scope, list["Node"]]:
        name, is_function, whole = self.declarator_parts(declarator)
        if not is_function or whole is None or not scope.is_class_body:
            return super().member(node, declarator, scope)
        text = "".join(self.path(name)[-1:])
        number = self.add("method", text, node, scope)
        self._declared_access[scope.owner, text] = self.scan.symbol_at(number).visibility
        inner = self.enter(number, scope)
        self.bind_symbol(scope, text)
        return inner, [child for child, _ in steps(whole, inner, whole.child_by_field_name("declarator"))]

    def function(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name, _, whole = self.declarator_parts(node.child_by_field_name("declarator"))
        if name is None or (name.type != "qualified_identifier" and not scope.is_class_body):
            return super().function(node, scope)
        names = self.path(name)
        is_cast = name.type == "operator_cast"
        if is_cast:
            names = (" ".join(self.scan.name(name).partition("(")[0].split()),)
        home = self.type_number(scope, names[:-1]) if len(names) > 1 else scope.owner
        access = self._declared_access.get((home or 0, "".join(names[-1:])))
        number = self.define(
            "method",
            names[-1] if names else "",
            node,
            scope,
            inside=() if home else names[:-1],
            parent=home,
            body=next((c for c in node.named_children if c.type in _BODIES), None),
            visibility=access if access and len(names) > 1 else self.visibility(node, scope),
        )
        if scope.is_class_body:
            self.bind_symbol(scope, self.scan.symbol_at(number).name)
        inner = self.enter(number, self._scopes.get(home, scope) if home else scope, home or 0)
        if not home:
            inner.bind("this", Binding("local", names[:-1], scope, declared=True))
        return self.inside(node, whole, inner)

    def _namespace(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        parts = tuple(part.strip() for part in self.scan.name(name).split("::") if part.strip())
        if not parts or body is None:
            return [(body, scope)] if body is not None else ()
        for part in parts:
            self.bind_symbol(scope, part)
            scope = scope.inner(self.define("module", part, node, scope, body=body))
        return [(body, scope)]

    def _namespace_alias(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name = node.child_by_field_name("name")
        target = next((child for child, _ in steps(node, scope, name)), None)
        self.scan.add_import(scope, node, self._qualified_text(target), alias=self.scan.name(name))
        return ()

    def _using(self, node: "Node", scope: Scope) -> Sequence[Step]:
        target = node.named_children[0] if node.named_children else None
        if scope.is_class_body or target is None:
            return ()
        if any(child.type == "namespace" for child in node.children):
            self.scan.add_import(scope, node, self._qualified_text(target), name="*", exported=self.is_header)
        else:
            module, _, name = self._qualified_text(target).rpartition("::")
            self.scan.add_import(scope, node, module, name=name, alias=name, exported=self.is_header)
        return ()

    def _qualified_text(self, node: "Node | None") -> str:
        return "".join(self.scan.name(node).split())

    def _alias(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name = node.child_by_field_name("name")
        number = self.add("class", self.scan.name(name), node, scope)
        self.bind_symbol(scope, self.scan.name(name))
        return steps(node, self.enter(number, scope), name)

    # Local names and types

    def bind_local(
        self, declarator: "Node", written: "Node | None", value: "Node | None", scope: Scope
    ) -> None:
        inner = declarator.child_by_field_name("declarator") or declarator
        if inner.type == "reference_declarator" and inner.named_children:
            inner = inner.named_children[0]
        if inner.type == "structured_binding_declarator":
            for name in inner.named_children:
                scope.local(self.scan.name(name))
        else:
            super().bind_local(declarator, written, value, scope)

    def _loop(self, node: "Node", scope: Scope) -> Sequence[Step]:
        inner, declarator = scope.inner(), node.child_by_field_name("declarator")
        if declarator is not None:
            self.bind_local(declarator, node.child_by_field_name("type"), None, inner)
        return steps(node, inner, declarator)

    def static_type(self, node: "Node | None") -> Type:
        path = super().static_type(node)
        if path[-1:] and path[-1] in _POINTERS and node is not None:
            return next((super(_CppExtractor, self).static_type(held) for held in arguments_of(node)), ())
        return path

    def constructed_type(self, node: "Node | None") -> Type:
        """The type of `T(..)`, `T{..}`, `new T`, `make_unique<T>(..)`."""
        if node is None:
            return ()
        if node.type in ("new_expression", "compound_literal_expression"):
            return self.static_type(node.child_by_field_name("type"))
        function = node.child_by_field_name("function") if node.type == "call_expression" else None
        path = self.path(function)
        if function is not None and path[-1:] and path[-1] in _MAKERS:
            return next((self.static_type(held) for held in arguments_of(function)), ())
        return path if path[-1:] and path[-1][:1].isupper() and len(path) == 1 else ()

    # Mentions

    def _qualified(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """A value such as `Colour::red`, or a type. Names of `std` are left out."""
        path = self.path(node)
        if path[:1] != ("std",):
            self.mention_later(scope, "references", path, node, "name")
        return [(argument, scope) for argument in arguments_of(node)]

    def _template_type(self, node: "Node", scope: Scope) -> Sequence[Step]:
        self.scan.mention(scope, "references", self.path(node), node)
        return [(argument, scope) for argument in arguments_of(node)]

    def _new(self, node: "Node", scope: Scope) -> Sequence[Step]:
        written = node.child_by_field_name("type")
        self.scan.mention(scope, "calls", self.path(written), node)
        return [*((argument, scope) for argument in arguments_of(written)), *steps(node, scope, written)]

    def _initialiser(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """`: Base(x), field(y)` before the body of a constructor."""
        name = node.named_children[0] if node.named_children else None
        path = self.path(name)
        is_call = path[-1:] and path[-1] in self._constructors.get(scope.enclosing_class, ())
        self.mention_later(scope, "calls" if is_call else "references", path, node, "name")
        return [*((argument, scope) for argument in arguments_of(name)), *steps(node, scope)[1:]]

    def _built_in_place(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """`Item{4}` is a call. With brackets around the type it is a literal of C, which is not."""
        written = node.child_by_field_name("type")
        path = self.path(written)
        if not path:
            return steps(node, scope)
        self.mention_later(scope, "calls", path, node, "name" if path[0] != "std" else "drop")
        return [*((argument, scope) for argument in arguments_of(written)), *steps(node, scope, written)]

    def call(self, node: "Node", scope: Scope) -> Sequence[Step]:
        function = node.child_by_field_name("function")
        rest = steps(node, scope, function)
        if function is None or function.type == "identifier":
            return super().call(node, scope)
        if function.type == "field_expression":
            return [*self._member_call(function, scope), *rest]
        path = self.path(function)
        if not path:
            return [(function, scope), *rest]
        if path[0] != "std" and path[-1] not in _CASTS:
            self.mention_later(scope, "calls", path, node, "name")
        return [*((argument, scope) for argument in arguments_of(function)), *rest]

    def _member_call(self, node: "Node", scope: Scope) -> Sequence[Step]:
        receiver, field = node.child_by_field_name("argument"), node.child_by_field_name("field")
        name = "".join(self.path(field)[-1:])
        path = chain(receiver, self.scan, _RECEIVERS, _RECEIVER_LINKS)
        if path:
            self.mention_later(scope, "calls", (*path, name), node, "unknown")
        else:
            self.scan.mention_call_on(scope, self.constructed_type(receiver), name, node)
        return [(receiver, scope)] if receiver is not None and not path else ()

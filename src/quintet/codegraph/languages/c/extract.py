"""C: functions, types, macros that are constants, includes, calls. C++ adds to it in `cpp`."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from quintet.codegraph.extractor import steps
from quintet.codegraph.languages.c.names import CNames
from quintet.codegraph.scan import Handler, Scan, Step, handlers_by_type
from quintet.codegraph.scope import Scope, Type
from quintet.model.symbols import Outline, SymbolKind, Visibility

if TYPE_CHECKING:
    from tree_sitter import Node

_HEADER = re.compile(r"\.(?:h|hh|hpp|hxx|h\+\+|ipp|inl)$", re.IGNORECASE)
_TEST_PATH = re.compile(r"(?:^|/)tests?/|(?:^|[/_])tests?\.[ch]\w*$|(?:^|/)test_[^/]*$")
_TEST_MACRO = re.compile(r"TEST(?:_[FP])?|TYPED_TEST|BOOST_AUTO_TEST_CASE|START_TEST|Test")
_TEST_NAME = re.compile(r"test_\w+")


def outline_of(scan: Scan) -> Outline:
    return CExtractor(scan).read()


class CExtractor(CNames):
    def __init__(self, scan: Scan) -> None:
        super().__init__(scan)
        scan.describe_module(is_test=bool(_TEST_PATH.search(scan.path)))
        self._in_typedef = 0  # the id of a struct that a typedef names; the typedef has the chunk
        self.is_header = bool(_HEADER.search(scan.path))

    def handlers(self) -> dict[str, Handler]:
        return handlers_by_type(
            {
                self.block: (
                    "compound_statement for_statement if_statement while_statement switch_statement"
                ),
                self.record: "struct_specifier union_specifier",
                self.comment: "comment",
                self._include: "preproc_include",
                self._macro: "preproc_def",
                self._function_macro: "preproc_function_def",
                self._conditional: "preproc_ifdef preproc_if",
                self.function: "function_definition",
                self.declaration: "declaration",
                self._enum: "enum_specifier",
                self._enumerator: "enumerator",
                self._typedef: "type_definition",
                self.fields: "field_declaration",
                self.parameter: "parameter_declaration",
                self.call: "call_expression",
                self.value: "identifier",
                self.type_name: "type_identifier",
            }
        )

    # The preprocessor

    def _include(self, node: "Node", scope: Scope) -> Sequence[Step]:
        path = self.scan.name(node.child_by_field_name("path")).strip('"')
        self.scan.add_import(scope, node, path, name="*", exported=True)
        return ()

    def _macro(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """A macro with a value is a constant; without one it guards an include or sets an option."""
        if node.child_by_field_name("value") is not None:
            name = self.scan.name(node.child_by_field_name("name"))
            self.define("variable", name, node, scope)
            self.bind_variable(scope, name, ())
        return ()

    def _function_macro(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name = self.scan.name(node.child_by_field_name("name"))
        self.define("function", name, node, scope, body=node.child_by_field_name("value"), shown="")
        self.bind_symbol(scope, name)
        return ()

    def _conditional(self, node: "Node", scope: Scope) -> Sequence[Step]:
        return steps(node, scope, node.child_by_field_name("name"), node.child_by_field_name("condition"))

    # Definitions

    def visibility(self, node: "Node", _scope: Scope) -> Visibility:
        words = (self.scan.name(c) for c in node.named_children if c.type == "storage_class_specifier")
        return "private" if "static" in words and not self.is_header else "public"

    def at_top(self, scope: Scope) -> bool:
        return self.scan.symbol_at(scope.owner).kind == "module"

    def add(self, kind: SymbolKind, name: str, node: "Node", scope: Scope, body: "Node | None" = None) -> int:
        shown = self._shown(node) if node.type == "type_definition" else None
        shown = "" if node.id == self._in_typedef else shown
        visibility = self.visibility(node, scope)
        return self.define(kind, name, node, scope, body=body, visibility=visibility, shown=shown)

    def _shown(self, typedef: "Node") -> str:
        """The kind of the type that it defines; a typedef that only renames a type has no chunk."""
        written = typedef.child_by_field_name("type")
        is_defined = written is not None and written.child_by_field_name("body") is not None
        return self.scan.language.kinds.get(written.type, "class") if written and is_defined else ""

    def enter(self, number: int, scope: Scope, class_number: int = 0) -> Scope:
        """The scope inside a definition."""
        return scope.inner(number, class_number=class_number)

    def function(self, node: "Node", scope: Scope) -> Sequence[Step]:
        body, written = node.child_by_field_name("body"), node.child_by_field_name("type")
        name, _, whole = self.declarator_parts(node.child_by_field_name("declarator"))
        text = self.path(name)[-1:]
        if written is None and text and _TEST_MACRO.fullmatch(text[0]):
            return self._test(node, whole, body, scope)
        number = self.define(
            "function",
            text[0] if text else "",
            node,
            scope,
            body=body,
            visibility=self.visibility(node, scope),
            is_test=bool(text and _TEST_NAME.fullmatch(text[0])),
        )
        self.bind_symbol(scope, self.scan.symbol_at(number).name)
        return self.inside(node, whole, self.enter(number, scope))

    def inside(self, node: "Node", declarator: "Node | None", scope: Scope) -> list[Step]:
        """The steps inside a function, without its name: types, parameters, body."""
        head = node.child_by_field_name("declarator")
        around = steps(node, scope, head)
        after = [step for step in around if head is not None and step[0].start_byte > head.start_byte]
        rest = steps(declarator, scope, declarator.child_by_field_name("declarator")) if declarator else []
        return [*around[: len(around) - len(after)], *rest, *after]

    def _test(self, node: "Node", declarator: "Node | None", body: "Node | None", scope: Scope) -> list[Step]:
        """`TEST(Suite, works) {}`: a macro that makes a function of its arguments."""
        arguments = declarator.child_by_field_name("parameters") if declarator is not None else None
        names = [self.scan.name(c) for c in arguments.named_children] if arguments is not None else []
        number = self.define("function", "_".join(names), node, scope, body=body, is_test=True)
        return [(body, self.enter(number, scope))] if body is not None else []

    def declaration(self, node: "Node", scope: Scope) -> Sequence[Step]:
        if scope.is_class_body:
            return self.fields(node, scope)
        written = node.child_by_field_name("type")
        is_defined = written is not None and written.child_by_field_name("body") is not None
        next_steps: list[Step] = []
        if written is not None and (is_defined or not self.at_top(scope)):
            next_steps.append((written, scope))
        for declarator in node.children_by_field_name("declarator"):
            value = declarator.child_by_field_name("value") or node.child_by_field_name("value")
            if not self.at_top(scope):
                self.bind_local(declarator, written, value, scope)
                next_steps += [(value, scope)] if value is not None else []
                continue
            inner, rest = self._global(node, declarator, value, scope)
            next_steps += [(written, inner)] if written is not None and not is_defined else []
            next_steps += [(child, inner) for child in rest]
        return next_steps

    def bind_local(
        self, declarator: "Node", written: "Node | None", value: "Node | None", scope: Scope
    ) -> None:
        name, _, _ = self.declarator_parts(declarator)
        scope.local("".join(self.path(name)[-1:]), self.static_type(written) or self.constructed_type(value))

    def _global(
        self, node: "Node", declarator: "Node", value: "Node | None", scope: Scope
    ) -> tuple[Scope, list["Node"]]:
        """A variable or prototype of the file: its scope, and the nodes that are left to read. The files
        that include a header see its prototypes; elsewhere a prototype only names a function."""
        name, is_function, whole = self.declarator_parts(declarator)
        text = "".join(self.path(name)[-1:])
        words = [self.scan.name(c) for c in node.named_children if c.type == "storage_class_specifier"]
        if is_function:
            self.bind_symbol(scope, text)
        else:
            self.bind_variable(
                scope,
                text,
                self.static_type(node.child_by_field_name("type")) or self.constructed_type(value),
            )
        if not self.is_header and (is_function or ("extern" in words and value is None)):
            return scope, []
        inner = self.enter(self.add("function" if is_function else "variable", text, node, scope), scope)
        if is_function and whole is not None:
            return inner, [c for c, _ in steps(whole, scope, whole.child_by_field_name("declarator"))]
        return inner, [value] if value is not None else []

    def record(self, node: "Node", scope: Scope) -> Sequence[Step]:
        body, name = node.child_by_field_name("body"), node.child_by_field_name("name")
        if body is None:
            return self._tag(name, scope)
        return self.class_body(node, self.scan.name(name), body, scope)

    def _tag(self, name: "Node | None", scope: Scope) -> Sequence[Step]:
        """In `struct node *node`, the name after `struct` is never a variable."""
        apart = Scope(scope.owner, enclosing_class=scope.enclosing_class)
        if name is not None:
            self.scan.mention(apart, "references", self.path(name), name)
        return ()

    def class_body(self, node: "Node", name: str, body: "Node", scope: Scope) -> Sequence[Step]:
        if not name:
            return steps(body, scope)  # its fields belong to the outer struct
        scope = self.scan.file if scope.is_class_body else scope  # its name does not: C has no inner types
        number = self.add("class", name, node, scope, body)
        self.bind_symbol(scope, name)
        return steps(body, self.enter(number, scope, number))

    def fields(self, node: "Node", scope: Scope) -> Sequence[Step]:
        written = node.child_by_field_name("type")
        is_defined = written is not None and written.child_by_field_name("body") is not None
        declarators = node.children_by_field_name("declarator")
        is_nameless = written is not None and written.child_by_field_name("name") is None
        if is_defined and is_nameless and declarators and scope.is_class_body:
            return self._nested(node, declarators, scope)
        next_steps: list[Step] = [(written, scope)] if written is not None and is_defined else []
        for declarator in declarators:
            inner, rest = self.member(node, declarator, scope)
            next_steps += [(written, inner)] if written is not None and not is_defined else []
            next_steps += [(child, inner) for child in rest]
        return next_steps

    def _nested(self, node: "Node", declarators: Sequence["Node"], scope: Scope) -> Sequence[Step]:
        """In `union { int a; } u;`, `a` belongs to the field `u`, not to the outer struct."""
        fields = [self.member(node, declarator, scope)[0].owner for declarator in declarators]
        written = node.child_by_field_name("type")
        return [(written, scope.inner(fields[0], class_number=fields[0]))] if written is not None else ()

    def member(self, node: "Node", declarator: "Node", scope: Scope) -> tuple[Scope, list["Node"]]:
        """A field: its scope, and the nodes that are left to read."""
        name, _, whole = self.declarator_parts(declarator)
        text = "".join(self.path(name)[-1:])
        if not scope.is_class_body:
            return scope, []  # of a struct without a name
        self.field(text, self.static_type(node.child_by_field_name("type")), scope)
        inner = self.enter(self.add("variable", text, node, scope), scope)
        name = whole.child_by_field_name("declarator") if whole is not None else None
        return inner, [child for child, _ in steps(whole, inner, name)] if whole is not None else []

    def field(self, name: str, type: Type, scope: Scope) -> None:
        self.scan.bind_field(scope.enclosing_class, name, type, scope, declared=True)

    def _enum(self, node: "Node", scope: Scope) -> Sequence[Step]:
        body, name = node.child_by_field_name("body"), node.child_by_field_name("name")
        if body is None:
            return self._tag(name, scope)
        text = self.scan.name(name)
        if text:
            number = self.add("class", text, node, scope, body)
            self.bind_symbol(scope, text)
            if any(child.type in ("class", "struct") for child in node.children):
                return [(body, self.enter(number, scope, number))]
        return [(body, scope)]

    def _enumerator(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """The name is bound in the scope of the enum, unless it is an `enum class` of C++."""
        name = self.scan.name(node.child_by_field_name("name"))
        number = self.define("variable", name, node, scope)
        self.bind_variable(scope, name, ())
        return steps(node, self.enter(number, scope), node.child_by_field_name("name"))

    def _typedef(self, node: "Node", scope: Scope) -> Sequence[Step]:
        written = node.child_by_field_name("type")
        name, _, whole = self.declarator_parts(node.child_by_field_name("declarator"))
        text = "".join(self.path(name)[-1:])
        body = written.child_by_field_name("body") if written is not None else None
        is_nameless = body is not None and written is not None and not written.child_by_field_name("name")
        if body is not None and written is not None and is_nameless and written.type != "enum_specifier":
            return self.class_body(node, text, body, scope)
        number = self.add("class", text, node, scope)
        self._in_typedef = written.id if written is not None else 0
        self.bind_symbol(scope, text)
        inner = scope if body is not None else self.enter(number, scope)
        rest = steps(whole, inner, whole.child_by_field_name("declarator")) if whole is not None else []
        return [*([(written, inner)] if written is not None else []), *rest]

    def parameter(self, node: "Node", scope: Scope) -> Sequence[Step]:
        declarator, written = node.child_by_field_name("declarator"), node.child_by_field_name("type")
        name, _, _ = self.declarator_parts(declarator)
        if name is not None:
            scope.local(self.scan.name(name), self.static_type(written), declared=True)
        return steps(node, scope, declarator)

    def constructed_type(self, _node: "Node | None") -> Type:
        return ()

    # Mentions

    def value(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """A name that the file does not bind comes from an included file."""
        self.mention_later(scope, "references", self.path(node), node, "name")
        return ()

    def type_name(self, node: "Node", scope: Scope) -> Sequence[Step]:
        self.scan.mention(scope, "references", self.path(node), node)
        return ()

    def call(self, node: "Node", scope: Scope) -> Sequence[Step]:
        function = node.child_by_field_name("function")
        rest = steps(node, scope, function)
        if function is None:
            return rest
        if function.type == "identifier":
            self.mention_later(scope, "calls", self.path(function), node, "name")
            return rest
        if function.type == "field_expression":
            name = self.scan.name(function.child_by_field_name("field"))
            self.scan.mention_call_on(scope, (), name, node)
            return [*steps(function, scope, function.child_by_field_name("field")), *rest]
        return [(function, scope), *rest]

"""Ruby: modules, classes, methods with their sections, requires, calls."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from quintet.ingest.parse.extract.reader import Reader, chain, steps
from quintet.ingest.parse.extract.scan import Handler, Scan, Step
from quintet.ingest.parse.extract.scope import Binding, Scope, Type
from quintet.symbols import Outline, SymbolKind, Visibility

if TYPE_CHECKING:
    from tree_sitter import Node

_SECTIONS: dict[str, Visibility] = {
    "public": "public",
    "private": "private",
    "protected": "protected",
    "private_class_method": "private",
    "private_constant": "private",
    "module_function": "public",
}
_ATTRIBUTES = frozenset({"attr_reader", "attr_writer", "attr_accessor"})
_MIXINS = frozenset({"include", "extend", "prepend"})
_MAKERS = frozenset({("Struct", "new"), ("Class", "new"), ("Data", "define")})
_CONSTANTS = frozenset({"constant"})
_CONSTANT_LINKS = {"scope_resolution": ("scope", "name")}
_VARIABLES = frozenset({"identifier", "instance_variable", "class_variable"})
_TEST_PATH = re.compile(r"_(?:spec|test)\.rb$|(?:^|/)(?:spec|tests?)/")


def outline_of(scan: Scan) -> Outline:
    scan.describe_module(is_test=bool(_TEST_PATH.search(scan.path)))
    return _Ruby(scan).read()


class _Ruby(Reader):
    def __init__(self, scan: Scan) -> None:
        super().__init__(scan)
        self._members: dict[int, dict[str, int]] = {}  # of a class: its definitions so far
        self._sections: dict[int, tuple[Scope, Visibility]] = {}  # by the id of a scope, which is kept

    def handlers(self) -> Mapping[str, Handler]:
        found: dict[str, Handler] = dict.fromkeys(("module", "class"), self._container)
        found |= dict.fromkeys(("method", "singleton_method"), self._method)
        found |= dict.fromkeys(("block", "do_block", "lambda", "singleton_class"), self.block)
        found |= dict.fromkeys(
            ("method_parameters", "block_parameters", "lambda_parameters"), self._parameters
        )
        found |= dict.fromkeys(("assignment", "operator_assignment"), self._assignment)
        found |= dict.fromkeys(("constant", "scope_resolution"), self._constant)
        found |= dict.fromkeys(("hash_key_symbol", "alias", "undef"), self.skip)
        return found | {
            "comment": self.comment,
            "call": self._call,
            "identifier": self._identifier,
            "super": self._super,
            "exception_variable": self._caught,
            "for": self._loop,
        }

    # Definitions

    def _container(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name, parent = node.child_by_field_name("name"), node.child_by_field_name("superclass")
        path = self._constants(name)
        kind: SymbolKind = "class" if node.type == "class" else "module"
        number = self.define(
            kind, path[-1] if path else "", node, scope, inside=path[:-1], body=_after_head(node)
        )
        if path:
            self.known(scope, path[0])
        inner = scope.inner(number, class_number=number)
        inner.bind("self", Binding("self", number=number))
        if parent is not None and parent.named_children:
            base = parent.named_children[0]
            self.scan.mention(inner, "extends", self._constants(base), base)
        return steps(node, inner, name, parent)

    def _constants(self, node: "Node | None") -> Type:
        return chain(node, self.scan, _CONSTANTS, _CONSTANT_LINKS)

    def _in_class(self, scope: Scope) -> bool:
        return scope.owner > 0 and scope.owner == scope.enclosing_class

    def _method(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name = self.scan.name(node.child_by_field_name("name"))
        in_class = self._in_class(scope)
        section = self._sections.get(id(scope), (scope, "public"))[1]
        number = self.define(
            "method" if in_class else "function",
            name,
            node,
            scope,
            body=_after_head(node),
            visibility=section if node.type == "method" else "public",
            is_test=in_class and name.startswith("test_"),
        )
        if in_class:
            self._members.setdefault(scope.owner, {})[name] = number
        else:
            self.known(scope, name)
        read = (node.child_by_field_name("name"), node.child_by_field_name("object"))
        return steps(node, scope.inner(number), *read)

    def _assignment(self, node: "Node", scope: Scope) -> Sequence[Step]:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        type = self._built(right)
        if left is not None and left.type == "constant":
            return self._constant_value(node, left, right, scope)
        if left is not None and left.type == "instance_variable" and scope.enclosing_class:
            self.scan.field(scope.enclosing_class, self.scan.name(left), type, scope, declared=False)
        for name in _names(left):
            scope.local(self.scan.name(name), type if left is not None and left.id == name.id else ())
        is_name = left is not None and left.type in _VARIABLES
        return steps(node, scope, left if is_name else None)

    def _constant_value(
        self, node: "Node", left: "Node", right: "Node | None", scope: Scope
    ) -> Sequence[Step]:
        name = self.scan.name(left)
        maker = (self.scan.name(_field(right, "receiver")), self.scan.name(_field(right, "method")))
        number = self.define("class" if maker in _MAKERS else "variable", name, node, scope)
        self.hold(scope, name, self._built(right))
        if maker in _MAKERS:
            self.known(scope, name)
        return steps(node, scope.inner(number), left)

    def _parameters(self, node: "Node", scope: Scope) -> Sequence[Step]:
        found: list[Step] = []
        for parameter in node.named_children:
            name = parameter.child_by_field_name("name")
            for inner in _names(parameter if name is None else name):
                scope.local(self.scan.name(inner))
            value = parameter.child_by_field_name("value")
            found += [(value, scope)] if value is not None else []
        return found

    def _caught(self, node: "Node", scope: Scope) -> Sequence[Step]:
        for name in node.named_children:
            scope.local(self.scan.name(name))
        return ()

    def _loop(self, node: "Node", scope: Scope) -> Sequence[Step]:
        pattern = node.child_by_field_name("pattern")
        for name in _names(pattern):
            scope.local(self.scan.name(name))
        return steps(node, scope, pattern)

    # What a class says of itself

    def _word(
        self, node: "Node", word: str, arguments: Sequence["Node"], scope: Scope
    ) -> Sequence[Step] | None:
        """A call that is read as a declaration; None if it is a plain call."""
        if word in ("require", "require_relative") and arguments:
            return self._require(node, word, arguments[0], scope)
        if not self._in_class(scope):
            return None
        if word in _SECTIONS:
            return self._section(word, arguments, scope)
        if word in _ATTRIBUTES:
            for name in arguments:
                visibility = self._sections.get(id(scope), (scope, "public"))[1]
                self.define("variable", self.scan.name(name).lstrip(":"), node, scope, visibility=visibility)
            return ()
        if word in _MIXINS:
            for name in arguments:
                self.scan.mention(scope, "extends", self._constants(name), name)
            return ()
        return None

    def _require(self, node: "Node", word: str, argument: "Node", scope: Scope) -> Sequence[Step] | None:
        content = argument.named_children
        if argument.type != "string" or [child.type for child in content] != ["string_content"]:
            return None
        path = self.scan.name(content[0])
        if word == "require_relative" and not path.startswith("."):
            path = f"./{path}"
        self.scan.bring_in(scope, node, path, name="*", exported=True)
        return ()

    def _section(self, word: str, arguments: Sequence["Node"], scope: Scope) -> Sequence[Step]:
        """`private` alone opens a section; with names or a definition it is about those."""
        visibility = _SECTIONS[word]
        if not arguments:
            self._sections[id(scope)] = (scope, visibility)
            return ()
        named = {self.scan.name(argument).lstrip(":") for argument in arguments}
        for name in named & self._members.get(scope.owner, {}).keys():
            self.scan.change(self._members[scope.owner][name], visibility=visibility)
        inner = scope.inner()
        self._sections[id(inner)] = (inner, visibility)
        return [(argument, inner) for argument in arguments if argument.type != "simple_symbol"]

    # Mentions

    def _built(self, node: "Node | None") -> Type:
        """The class of `Item.new(..)`."""
        if node is None or node.type != "call" or self.scan.name(_field(node, "method")) != "new":
            return ()
        return self._constants(_field(node, "receiver"))

    def _constant(self, node: "Node", scope: Scope) -> Sequence[Step]:
        self.say(scope, "references", self._constants(node), node)
        return ()

    def _identifier(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """A name that is no local variable is a call."""
        name = self.scan.name(node)
        if self._word(node, name, (), scope) is None:
            self.say(scope, "calls", (name,), node, "name")
        return ()

    def _super(self, node: "Node", scope: Scope) -> Sequence[Step]:
        self.scan.mention(scope, "calls", (self.scan.symbol_at(scope.owner).name,), node, "super")
        return ()

    def _call(self, node: "Node", scope: Scope) -> Sequence[Step]:
        receiver, method = _field(node, "receiver"), _field(node, "method")
        if receiver is not None:
            return self._member_call(node, receiver, self.scan.name(method), scope)
        name = self.scan.name(method)
        arguments = _field(node, "arguments")
        declared = self._word(node, name, arguments.named_children if arguments is not None else (), scope)
        if declared is not None:
            return declared
        if method is not None and method.type == "super":
            return steps(node, scope)
        if name:  # with brackets it is a method, even if a variable has its name
            self.scan.mention(
                Scope(scope.owner, enclosing_class=scope.enclosing_class), "calls", (name,), node
            )
        return steps(node, scope, method)

    def _member_call(self, node: "Node", receiver: "Node", name: str, scope: Scope) -> Sequence[Step]:
        rest = steps(node, scope, receiver, _field(node, "method"))
        constants = self._constants(receiver)
        if constants:
            self._class_call(node, constants, name, scope)
            return rest
        if receiver.type == "self" or self.scan.name(receiver) == "self.class":
            self.scan.mention(scope, "calls", (name,), node, "self" if scope.enclosing_class else "name")
            return rest
        if receiver.type == "instance_variable":
            self.say(scope, "calls", ("self", self.scan.name(receiver), name), node, "unknown")
            return rest
        if receiver.type == "identifier" and scope.find(self.scan.name(receiver)) is not None:
            self.say(scope, "calls", (self.scan.name(receiver), name), node, "unknown")
            return rest
        self.call_on(scope, self._built(receiver), name, node)
        return [(receiver, scope), *rest]

    def _class_call(self, node: "Node", constants: Type, name: str, scope: Scope) -> None:
        found = scope.find(constants[0])
        if name == "new":
            self.scan.mention(scope, "calls", constants, node)
        elif found is not None and found.kind == "variable":
            self.scan.mention(scope, "calls", (*constants, name), node)
        else:
            self.scan.mention(scope, "calls", (*constants, name), node, "type")


def _field(node: "Node | None", name: str) -> "Node | None":
    return node.child_by_field_name(name) if node is not None else None


def _after_head(node: "Node") -> "Node | None":
    """Where the signature of a definition ends: at its body, a comment before that, or its `end`."""
    body = node.child_by_field_name("body")
    return next((c for c in node.children if c.type in ("comment", "end") or c == body), None)


def _names(node: "Node | None") -> Iterator["Node"]:
    """The local variables in a pattern such as `a, (b, *c)`."""
    stack = [node] if node is not None else []
    while stack:
        current = stack.pop()
        if current.type == "identifier":
            yield current
        elif current.type not in ("call", "element_reference", "scope_resolution"):
            stack.extend(reversed(current.named_children))

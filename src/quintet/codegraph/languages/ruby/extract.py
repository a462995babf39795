"""Ruby: modules, classes, methods with their sections, requires, calls."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from quintet.codegraph.extractor import Extractor, chain, steps
from quintet.codegraph.languages.ruby.names import after_head, field_of, is_of_class_itself, names_in
from quintet.codegraph.scan import Handler, Scan, Step, handlers_by_type, skip
from quintet.codegraph.scope import Binding, Scope, Type
from quintet.model.symbols import Outline, SymbolKind, Visibility

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
_ALWAYS_PRIVATE = frozenset(f"initialize{which}" for which in ("", "_copy", "_clone", "_dup"))
_ALWAYS_PRIVATE |= {"respond_to_missing?"}
_CONSTANTS = frozenset({"constant"})
_CONSTANT_LINKS = {"scope_resolution": ("scope", "name")}
_VARIABLES = frozenset({"identifier", "instance_variable", "class_variable"})
_TEST_PATH = re.compile(r"_(?:spec|test)\.rb$|(?:^|/)(?:spec|tests?)/")


def outline_of(scan: Scan) -> Outline:
    scan.describe_module(is_test=bool(_TEST_PATH.search(scan.path)))
    return _RubyExtractor(scan).read()


class _RubyExtractor(Extractor):
    def __init__(self, scan: Scan) -> None:
        super().__init__(scan)
        self._members: dict[int, dict[str, int]] = {}  # of a class: its definitions so far
        self._sections: dict[int, tuple[Scope, Visibility]] = {}  # by the id of a scope, which is kept
        self._of_class_itself: set[int] = set()  # methods by number

    def handlers(self) -> dict[str, Handler]:
        return handlers_by_type(
            {
                self._container: "module class",
                self._method: "method singleton_method",
                self.block: "singleton_class",
                self._nameless: "block do_block lambda",
                self._parameters: "method_parameters block_parameters lambda_parameters",
                self._assignment: "assignment operator_assignment",
                self._constant: "constant scope_resolution",
                skip: "hash_key_symbol alias undef",
                self.comment: "comment",
                self._call: "call",
                self._identifier: "identifier",
                self._super: "super",
                self._rescue: "exception_variable",
                self._loop: "for",
            }
        )

    # Definitions

    def _container(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name, parent = node.child_by_field_name("name"), node.child_by_field_name("superclass")
        path = self._constants(name)
        kind: SymbolKind = "class" if node.type == "class" else "module"
        bases = parent.named_children if parent is not None else []
        extended = self._constants(bases[0]) if bases else ()
        number = self.define(
            kind,
            path[-1] if path else "",
            node,
            scope,
            inside=path[:-1],
            body=after_head(node),
            is_test=extended[-1:] == ("TestCase",) or extended == ("Minitest", "Test"),
        )
        if path:
            self.bind_symbol(scope, path[0])
        inner = scope.inner(number, class_number=number)
        inner.bind("self", Binding("self", number=number))
        if bases:
            self.scan.mention(inner, "extends", extended, bases[0])
        return steps(node, inner, name, parent)

    def _nameless(self, node: "Node", scope: Scope) -> Sequence[Step]:
        self.scan.layout.hide(node)
        return self.block(node, scope)

    def _constants(self, node: "Node | None") -> Type:
        return chain(node, self.scan, _CONSTANTS, _CONSTANT_LINKS)

    def _method(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name = self.scan.name(node.child_by_field_name("name"))
        in_class = scope.is_class_body
        number = self.define(
            "method" if in_class else "function",
            name,
            node,
            scope,
            body=after_head(node),
            visibility=self._visibility(node, name, scope),
            is_test=in_class and name.startswith("test_"),
        )
        if in_class:
            self._members.setdefault(scope.owner, {})[name] = number
            self._of_class_itself |= {number} if is_of_class_itself(node) else set()
        else:
            self.bind_symbol(scope, name)
        read = (node.child_by_field_name("name"), node.child_by_field_name("object"))
        return steps(node, scope.inner(number), *read)

    def _visibility(self, node: "Node", name: str, scope: Scope) -> Visibility:
        if name in _ALWAYS_PRIVATE:
            return "private"
        return self._sections.get(id(scope), (scope, "public"))[1] if node.type == "method" else "public"

    def _assignment(self, node: "Node", scope: Scope) -> Sequence[Step]:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        type = self._constructed_type(right)
        if left is not None and left.type == "constant":
            return self._constant_value(node, left, right, scope)
        if left is not None and left.type == "instance_variable" and scope.enclosing_class:
            self.scan.bind_field(scope.enclosing_class, self.scan.name(left), type, scope, declared=False)
        for name in names_in(left):
            scope.local(self.scan.name(name), type if left is not None and left.id == name.id else ())
        is_name = left is not None and left.type in _VARIABLES
        return steps(node, scope, left if is_name else None)

    def _constant_value(
        self, node: "Node", left: "Node", right: "Node | None", scope: Scope
    ) -> Sequence[Step]:
        name = self.scan.name(left)
        maker = (self.scan.name(field_of(right, "receiver")), self.scan.name(field_of(right, "method")))
        number = self.define("class" if maker in _MAKERS else "variable", name, node, scope)
        self.bind_variable(scope, name, self._constructed_type(right))
        if maker in _MAKERS:
            self.bind_symbol(scope, name)
        return steps(node, scope.inner(number), left)

    def _parameters(self, node: "Node", scope: Scope) -> Sequence[Step]:
        next_steps: list[Step] = []
        for parameter in node.named_children:
            name = parameter.child_by_field_name("name")
            for inner in names_in(parameter if name is None else name):
                scope.local(self.scan.name(inner))
            value = parameter.child_by_field_name("value")
            next_steps += [(value, scope)] if value is not None else []
        return next_steps

    def _rescue(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """`rescue A => error`: a single class is the type of the variable."""
        classes = field_of(node.parent, "exceptions")
        named = classes.named_children if classes is not None else []
        for name in node.named_children:
            scope.local(self.scan.name(name), self._constants(named[0]) if len(named) == 1 else ())
        return ()

    def _loop(self, node: "Node", scope: Scope) -> Sequence[Step]:
        pattern = node.child_by_field_name("pattern")
        for name in names_in(pattern):
            scope.local(self.scan.name(name))
        return steps(node, scope, pattern)

    # What a class says of itself

    def _word(
        self, node: "Node", word: str, arguments: Sequence["Node"], scope: Scope
    ) -> Sequence[Step] | None:
        """A call that is read as a declaration; None if it is a plain call."""
        if word in ("require", "require_relative") and arguments:
            return self._require(node, word, arguments[0], scope)
        if not scope.is_class_body:
            return None
        if word in _SECTIONS:
            return self._section(word, arguments, scope)
        if word in _ATTRIBUTES:
            for name in arguments:
                visibility = self._sections.get(id(scope), (scope, "public"))[1]
                self.define("variable", self.scan.name(name).lstrip(":"), node, scope, visibility=visibility)
            return ()
        if word in _MIXINS:
            for name in reversed(arguments):  # of modules included at once, the first comes first
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
        self.scan.add_import(scope, node, path, name="*", exported=True)
        return ()

    def _section(self, word: str, arguments: Sequence["Node"], scope: Scope) -> Sequence[Step]:
        """`private` alone starts a section; with names or a definition it applies to those."""
        visibility = _SECTIONS[word]
        if not arguments:
            self._sections[id(scope)] = (scope, visibility)
            return ()
        named = {self.scan.name(argument).lstrip(":") for argument in arguments}
        for name in named & self._members.get(scope.owner, {}).keys():
            self.scan.set_visibility(self._members[scope.owner][name], visibility=visibility)
        inner = scope.inner()
        self._sections[id(inner)] = (inner, visibility)
        return [(argument, inner) for argument in arguments if argument.type != "simple_symbol"]

    # Mentions

    def _constructed_type(self, node: "Node | None") -> Type:
        """The class of `Item.new(..)`."""
        if node is None or node.type != "call" or self.scan.name(field_of(node, "method")) != "new":
            return ()
        return self._constants(field_of(node, "receiver"))

    def _constant(self, node: "Node", scope: Scope) -> Sequence[Step]:
        self.mention_later(scope, "references", self._constants(node), node, "name")
        return ()

    def _identifier(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """A name that is not a local variable is a call."""
        name = self.scan.name(node)
        binding = scope.find(name)  # so far: below an assignment the same name is a variable
        if (binding is None or binding.kind != "local") and self._word(node, name, (), scope) is None:
            self._bare_call(name, node, scope)
        return ()

    def _bare_call(self, name: str, node: "Node", scope: Scope) -> None:
        """A call without a receiver. Variables cannot hide it."""
        apart = Scope(scope.owner, enclosing_class=scope.enclosing_class)
        self.scan.mention(apart, "calls", self._own(name, scope), node)

    def _own(self, name: str, scope: Scope) -> Type:
        """What a call on `self` names; `new` in a class method means the class."""
        makes_one = name == "new" and scope.owner in self._of_class_itself
        return self.scan.symbol_at(scope.enclosing_class).path[-1:] if makes_one else (name,)

    def _super(self, node: "Node", scope: Scope) -> Sequence[Step]:
        self.scan.mention(scope, "calls", (self.scan.symbol_at(scope.owner).name,), node, "super")
        return ()

    def _call(self, node: "Node", scope: Scope) -> Sequence[Step]:
        receiver, method = field_of(node, "receiver"), field_of(node, "method")
        if receiver is not None:
            return self._member_call(node, receiver, self.scan.name(method), scope)
        name = self.scan.name(method)
        arguments = field_of(node, "arguments")
        declared = self._word(node, name, arguments.named_children if arguments is not None else (), scope)
        if declared is not None:
            return declared
        if method is not None and method.type == "super":
            return steps(node, scope)
        if name:  # with brackets it is a method, even if a variable has its name
            self._bare_call(name, node, scope)
        return steps(node, scope, method)

    def _member_call(self, node: "Node", receiver: "Node", name: str, scope: Scope) -> Sequence[Step]:
        rest = steps(node, scope, receiver, field_of(node, "method"))
        constants = self._constants(receiver)
        if constants:
            self._class_call(node, constants, name, scope)
            return rest
        if receiver.type == "self" or self.scan.name(receiver) == "self.class":
            path = self._own(name, scope)
            is_member = scope.enclosing_class and path == (name,)
            self.scan.mention(scope, "calls", path, node, "self" if is_member else "name")
            return rest
        if receiver.type == "instance_variable":
            self.mention_later(scope, "calls", ("self", self.scan.name(receiver), name), node, "unknown")
            return rest
        if receiver.type == "identifier" and scope.find(self.scan.name(receiver)) is not None:
            self.mention_later(scope, "calls", (self.scan.name(receiver), name), node, "unknown")
            return rest
        self.scan.mention_call_on(scope, self._constructed_type(receiver), name, node)
        return [(receiver, scope), *rest]

    def _class_call(self, node: "Node", constants: Type, name: str, scope: Scope) -> None:
        binding = scope.find(constants[0])
        if name == "new":
            self.scan.mention(scope, "calls", constants, node)
        elif binding is not None and binding.kind == "variable":
            self.scan.mention(scope, "calls", (*constants, name), node)
        else:
            self.scan.mention(scope, "calls", (*constants, name), node, "type")

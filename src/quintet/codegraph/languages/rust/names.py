"""Names in Rust: patterns, types, and the calls and references of a body."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from quintet.codegraph.extractor import MAX_CHAIN, Extractor, Unbound, chain, steps
from quintet.codegraph.scan import Handler, Scan, Step, handlers_by_type, skip
from quintet.codegraph.scope import Scope, Type

if TYPE_CHECKING:
    from tree_sitter import Node

NAMES = frozenset({"identifier", "type_identifier", "field_identifier"})
SCOPED = frozenset({"scoped_identifier", "scoped_type_identifier", "generic_type", "generic_function"})
_PATH_PARTS = NAMES | {"crate", "super", "self"}
_PATH_LINKS = {
    "scoped_identifier": ("path", "name"),
    "scoped_type_identifier": ("path", "name"),
    "generic_type": ("type", ""),
    "generic_function": ("function", ""),
}
_RECEIVERS = frozenset({"identifier", "self"})
_RECEIVER_LINKS = {"field_expression": ("value", "field")}
_POINTERS = frozenset({"Box", "Rc", "Arc", "Pin"})  # a method call goes through them to what they hold
_CONSTRUCTORS = frozenset({"new", "default", "from"})
_PRELUDE = frozenset({"Some", "None", "Ok", "Err", "Option", "Result", "Vec", "String", "Box", "Fn", "FnMut"})
_PRELUDE |= {
    "FnOnce",
    "Drop",
    "Send",
    "Sync",
    "Sized",
    "Copy",
    "Clone",
    "Default",
    "Iterator",
    "Into",
    "From",
}
# Macros whose arguments are plain expressions.
_PLAIN_MACROS = re.compile(
    r"(?:debug_)?assert(?:_eq|_ne)?|e?print(?:ln)?|write(?:ln)?|format|panic|vec|dbg|matches|todo"
    r"|unreachable|ensure|bail|anyhow|trace|debug|info|warn|error|try_join|join"
)


class RustNames(Extractor):
    def __init__(self, scan: Scan) -> None:
        super().__init__(scan)
        self.has_glob = False

    def handlers(self) -> dict[str, Handler]:
        return handlers_by_type(
            {
                self.comment: "line_comment block_comment",
                self.block: "block if_expression while_expression match_arm",
                skip: "lifetime label token_tree",
                self._let: "let_declaration let_condition for_expression parameter",
                self._type_name: "type_identifier scoped_type_identifier",
                self._value: "identifier scoped_identifier",
                self._generic: "type_parameter const_parameter",
                self._closure: "closure_expression",
                self._pattern: "match_pattern",
                self._call: "call_expression",
                self._macro: "macro_invocation",
            }
        )

    # Bindings

    def _generic(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name = node.child_by_field_name("name")
        scope.local(self.scan.name(name))
        return steps(node, scope, name)

    def _let(self, node: "Node", scope: Scope) -> Sequence[Step]:
        pattern, value = node.child_by_field_name("pattern"), node.child_by_field_name("value")
        is_loop = node.type == "for_expression"
        outer, scope = scope, scope.inner() if is_loop else scope
        if pattern is not None:
            outer = self.scope_before(outer, [self.scan.name(name) for name in _pattern_names(pattern)])
            written = self.static_type(node.child_by_field_name("type"), scope)
            type = written or (self._constructed_type(value, scope) if value is not None else ())
            is_name = pattern.type in ("identifier", "mut_pattern", "ref_pattern")
            self._bind(pattern, scope, type if is_name and not is_loop else ())
        values = [(value, outer)] if value is not None else []
        return [*values, *steps(node, scope, pattern, value)]

    def _bind(self, pattern: "Node", scope: Scope, type: Type = ()) -> None:
        for node in _pattern_names(pattern):
            name = self.scan.name(node)
            if not name[:1].isupper():  # such a name in a pattern is a constant or a variant
                scope.local(name, type)

    def _closure(self, node: "Node", scope: Scope) -> Sequence[Step]:
        inner, parameters = scope.inner(), node.child_by_field_name("parameters")
        typed = []
        for parameter in parameters.named_children if parameters is not None else ():
            if parameter.type == "parameter":
                typed.append((parameter, inner))
            else:
                self._bind(parameter, inner)
        return [*typed, *steps(node, inner, parameters)]

    def _pattern(self, node: "Node", scope: Scope) -> Sequence[Step]:
        guard = node.child_by_field_name("condition")
        for child, _ in steps(node, scope, guard):
            self._bind(child, scope)
        return [(guard, scope)] if guard is not None else ()

    # Types

    def path(self, node: "Node | None") -> tuple[str, ...]:
        """The names of `a::b::C<..>`, without a leading `self`."""
        names = chain(node, self.scan, _PATH_PARTS, _PATH_LINKS)
        return names[1:] if len(names) > 1 and names[0] == "self" else names

    def static_type(self, node: "Node | None", scope: Scope) -> Type:
        """The path of the type whose methods a value of the written type has: pointers are followed."""
        for _ in range(MAX_CHAIN):
            if node is None:
                break
            if node.type in ("reference_type", "pointer_type"):
                node = node.child_by_field_name("type")
            elif node.type in ("dynamic_type", "abstract_type"):
                node = node.child_by_field_name("trait")
            elif node.type == "generic_type" and self.path(node)[-1:] and self.path(node)[-1] in _POINTERS:
                arguments = node.child_by_field_name("type_arguments")
                node = arguments.named_children[0] if arguments and arguments.named_children else None
            else:
                break
        return self._replace_self(self.path(node), scope)

    def _replace_self(self, path: Type, scope: Scope) -> Type:
        """The path with `Self` in an impl replaced by its type."""
        binding = scope.find("Self") if path == ("Self",) else None
        if binding is None:
            return path
        return self.scan.symbol_at(binding.number).path[-1:] if binding.kind == "self" else binding.type

    def _constructed_type(self, node: "Node", scope: Scope) -> Type:
        """The type of a value just constructed: `T::new(..)`, `T { .. }`, `T(..)`."""
        if node.type == "reference_expression" and node.named_children:
            node = node.named_children[-1]
        if node.type == "struct_expression":
            return self.static_type(node.child_by_field_name("name"), scope)
        path = self.path(node.child_by_field_name("function")) if node.type == "call_expression" else ()
        if len(path) > 1 and path[-1] in _CONSTRUCTORS and path[-2][:1].isupper():
            return () if path[-2] in _POINTERS else self._replace_self(path[:-1], scope)
        is_type = len(path) == 1 and path[0][:1].isupper() and path[0] not in _PRELUDE
        return self._replace_self(path, scope) if is_type else ()

    def elsewhere(self, path: tuple[str, ...]) -> Unbound:
        """What to do with a name that the file does not bind: it may come from a crate or a glob, or be
        built in."""
        may_be = len(path) > 1 or (self.has_glob and path[:1] and path[0] not in _PRELUDE)
        return "name" if may_be else "drop"

    # Mentions

    def _type_name(self, node: "Node", scope: Scope) -> Sequence[Step]:
        path = self.path(node)
        if path[:1] != ("Self",):
            self.mention_later(scope, "references", path, node, self.elsewhere(path))
        return [(child, scope) for child in node.named_children if child.type == "generic_type"]

    def _value(self, node: "Node", scope: Scope) -> Sequence[Step]:
        path = self.path(node)
        if path[:1] not in (("Self",), ("self",)):
            self.mention_later(scope, "references", path, node)
        return ()

    def _call(self, node: "Node", scope: Scope) -> Sequence[Step]:
        function = node.child_by_field_name("function")
        rest = steps(node, scope, function)
        if function is not None and function.type == "generic_function":
            rest += steps(function, scope, function.child_by_field_name("function"))
            function = function.child_by_field_name("function")
        if function is None:
            return rest
        if function.type == "field_expression":
            return [*self._method_call(function, scope), *rest]
        path = self.path(function)
        if not path:
            return [(function, scope), *rest]
        self.mention_later(scope, "calls", path, function, self.elsewhere(path))
        return rest

    def _method_call(self, node: "Node", scope: Scope) -> Sequence[Step]:
        value, name = node.child_by_field_name("value"), self.scan.name(node.child_by_field_name("field"))
        receiver = chain(value, self.scan, _RECEIVERS, _RECEIVER_LINKS)
        if receiver:
            self.mention_later(scope, "calls", (*receiver, name), node, "unknown")
        if receiver or value is None:
            return ()
        self.scan.mention_call_on(scope, self._constructed_type(value, scope), name, node)
        return [(value, scope)]

    def _macro(self, node: "Node", scope: Scope) -> Sequence[Step]:
        macro = self.scan.name(node.child_by_field_name("macro")).rpartition("::")[2]
        trees = [node] if _PLAIN_MACROS.fullmatch(macro) else []
        while trees:
            tree = trees.pop()
            trees += [child for child in tree.named_children if child.type == "token_tree"]
            self._tokens(tree.children, scope)
        return ()

    def _tokens(self, tokens: Sequence["Node"], scope: Scope) -> None:
        """Calls in the arguments of a macro: names joined by `::` or `.` before round brackets."""
        for place, token in enumerate(tokens):
            if token.type != "token_tree" or self.scan.source[token.start_byte] != ord("("):
                continue
            names, joints = _names_before(tokens[max(place - 2 * MAX_CHAIN, 0) : place])
            path = tuple(self.scan.name(name) for name in names)
            if joints <= {"::"}:
                self.mention_later(scope, "calls", path, token, self.elsewhere(path))
            elif joints == {"."} and len(path) > 1:
                self.mention_later(scope, "calls", path, token, "unknown")
            else:
                self.scan.mention_call_on(scope, (), path[-1], token)


def _names_before(tokens: Sequence["Node"]) -> tuple[list["Node"], set[str]]:
    """The chain of names that ends these tokens, and what joins them; of an expression's method the last."""
    names: list[Node] = []
    joints: list[str] = []
    for token in reversed(tokens):
        if len(names) == len(joints) and token.type in _PATH_PARTS:
            names.insert(0, token)
        elif len(names) == len(joints) + 1 and token.type in ("::", "."):
            joints.append(token.type)
        else:
            break
    return (names[-1:] if len(names) == len(joints) else names), set(joints)


def _pattern_names(pattern: "Node") -> Iterator["Node"]:
    stack = [pattern]
    while stack:
        node = stack.pop()
        if node.type in ("identifier", "shorthand_field_identifier"):
            yield node
            continue
        type_node = node.child_by_field_name("type")
        read = type_node.id if type_node is not None else 0
        stack += [c for c in reversed(node.named_children) if c.id != read and c.type not in SCOPED]

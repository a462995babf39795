"""PHP: namespaces, `use`, included files, classes and what they call."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from quintet.ingest.parse.extract.reader import Reader, steps
from quintet.ingest.parse.extract.scan import Handler, Scan, Step
from quintet.ingest.parse.extract.scope import Binding, Scope, Type
from quintet.symbols import Outline, Relation, SymbolKind, Visibility

if TYPE_CHECKING:
    from tree_sitter import Node

_TYPES: dict[str, SymbolKind] = {
    "class_declaration": "class",
    "enum_declaration": "class",
    "trait_declaration": "interface",
    "interface_declaration": "interface",
}
_FUNCTIONS = ("function_definition", "method_declaration")
_PARAMETERS = ("simple_parameter", "variadic_parameter", "property_promotion_parameter")
_INCLUDES = tuple(f"{word}{once}_expression" for word in ("require", "include") for once in ("", "_once"))
_NAMES = frozenset({"name", "qualified_name", "relative_name"})
_TEST = re.compile(r"@test\b|#\[(?:\w+\\)*Test\b")
_TEST_PATH = re.compile(r"Test\.php$|(?:^|/)tests?/")
_SELF = frozenset({"self", "static"})


def outline_of(scan: Scan) -> Outline:
    scan.describe_module(is_test=bool(_TEST_PATH.search(scan.path)))
    return _Php(scan).read()


class _Php(Reader):
    """Variables are bound with their `$`, so that they never hide a function or class."""

    def handlers(self) -> Mapping[str, Handler]:
        found: dict[str, Handler] = dict.fromkeys(_TYPES, self._type)
        found |= dict.fromkeys(_FUNCTIONS, self._function)
        found |= dict.fromkeys(_PARAMETERS, self._parameter)
        found |= dict.fromkeys(_INCLUDES, self._include)
        found |= dict.fromkeys(("name", "qualified_name"), self._constant_name)
        found |= dict.fromkeys(("arrow_function", "anonymous_function"), self._closure)
        found |= dict.fromkeys(
            ("member_call_expression", "nullsafe_member_call_expression"), self._member_call
        )
        return found | {
            "comment": self.comment,
            "namespace_definition": self._namespace,
            "namespace_use_declaration": self._use,
            "use_declaration": self._traits,
            "const_declaration": self._constants,
            "property_declaration": self._properties,
            "enum_case": self._case,
            "named_type": self._named_type,
            "assignment_expression": self._assignment,
            "foreach_statement": self._loop,
            "catch_clause": self._catch,
            "function_call_expression": self._call,
            "scoped_call_expression": self._static_call,
            "object_creation_expression": self._new,
            "class_constant_access_expression": self._class_constant,
            "member_access_expression": self._member,
            "variable_name": self.skip,
        }

    # Namespaces and imports

    def _namespace(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """The first namespace is the file's package; another one is a module inside the file."""
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        parts = self._path(self.scan.name(name))
        if not self.scan.package or not parts:
            self.scan.package = self.scan.package or "\\".join(parts)
            return [(body, scope)] if body is not None else ()
        number = self.define("module", parts[-1], node, scope, inside=parts[:-1], body=body)
        return [(body, scope.inner(number))] if body is not None else ()

    def _path(self, text: str) -> Type:
        parts = tuple(part.strip() for part in text.split("\\") if part.strip())
        return parts[1:] if parts[:1] == ("namespace",) else parts

    def _use(self, node: "Node", scope: Scope) -> Sequence[Step]:
        group = node.child_by_field_name("body")
        prefix = next((c for c in node.named_children if c.type == "namespace_name"), None)
        for clause in (group or node).named_children:
            if clause.type != "namespace_use_clause":
                continue
            alias = clause.child_by_field_name("alias")
            target = next((c for c in clause.named_children if c.type in _NAMES), None)
            path = (*self._path(self.scan.name(prefix)), *self._path(self.scan.name(target)))
            if path:
                module, name = "\\".join(path[:-1]), path[-1]
                self.scan.bring_in(scope, clause, module, name=name, alias=self.scan.name(alias) or name)
        return ()

    def _include(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """`require 'a.php'`, and `__DIR__ . '/a.php'`, which is `./a.php`."""
        target = node.named_children[0] if node.named_children else None
        while target is not None and target.type == "parenthesized_expression" and target.named_children:
            target = target.named_children[0]
        if target is None:
            return ()
        here = ""
        if target.type == "binary_expression":
            left, right = target.child_by_field_name("left"), target.child_by_field_name("right")
            if self.scan.name(left) != "__DIR__" or right is None:
                return [(target, scope)]
            here, target = ".", right
        content = target.named_children
        if target.type in ("string", "encapsed_string") and [c.type for c in content] == ["string_content"]:
            self.scan.bring_in(scope, node, here + self.scan.name(content[0]), name="*", exported=True)
            return ()
        return [(target, scope)]

    # Definitions

    def _add(
        self, kind: SymbolKind, name: str, node: "Node", scope: Scope, body: "Node | None" = None
    ) -> int:
        words = [self.scan.name(c) for c in node.named_children if c.type == "visibility_modifier"]
        visibility: Visibility = "public"
        if words and words[0] in ("private", "protected"):
            visibility = "private" if words[0] == "private" else "protected"
        attributes = self.scan.name(node.child_by_field_name("attributes"))
        in_tests = bool(_TEST_PATH.search(self.scan.path)) and name.startswith("test")
        marked = bool(_TEST.search(attributes) or _TEST.search(self.doc(node)))
        is_test = kind == "method" and (in_tests or marked)
        return self.define(kind, name, node, scope, body=body, visibility=visibility, is_test=is_test)

    def _type(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        number = self._add(_TYPES[node.type], self.scan.name(name), node, scope, body)
        self.known(scope, self.scan.name(name))
        inner = scope.inner(number, class_number=number)
        for clause in node.named_children:
            if clause.type in ("base_clause", "class_interface_clause"):
                relation: Relation = "extends" if clause.type == "base_clause" else "implements"
                for base in clause.named_children:
                    self._mention(inner, relation, base)
        return [(body, inner)] if body is not None else ()

    def _traits(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """The methods of a trait become the class's own, as if it were extended."""
        for name in node.named_children:
            if name.type in _NAMES:
                self._mention(scope, "extends", name)
        return ()

    def _function(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        in_class = self._in_class(scope)
        number = self._add("method" if in_class else "function", self.scan.name(name), node, scope, body)
        inner = scope.inner(number)
        if in_class:
            inner.bind("$this", Binding("self", number=scope.enclosing_class))
        else:
            self.known(scope, self.scan.name(name))
        return steps(node, inner, name)

    def _in_class(self, scope: Scope) -> bool:
        return scope.owner > 0 and scope.owner == scope.enclosing_class

    def _constants(self, node: "Node", scope: Scope) -> Sequence[Step]:
        found: list[Step] = []
        for element in node.named_children:
            if element.type == "const_element" and element.named_children:
                name = element.named_children[0]
                number = self._add("variable", self.scan.name(name), node, scope)
                if not self._in_class(scope):
                    self.known(scope, self.scan.name(name))
                found += steps(element, scope.inner(number), name)
        return found

    def _case(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name = node.child_by_field_name("name")
        number = self._add("variable", self.scan.name(name), node, scope)
        return steps(node, scope.inner(number), name)

    def _properties(self, node: "Node", scope: Scope) -> Sequence[Step]:
        written = node.child_by_field_name("type")
        found: list[Step] = []
        for element in (c for c in node.named_children if c.type == "property_element"):
            name = element.child_by_field_name("name")
            inner = self._field(node, name, written, scope)
            found += [(written, inner)] if written is not None else []
            found += steps(element, inner, name)
        return found

    def _field(self, node: "Node", name: "Node | None", written: "Node | None", scope: Scope) -> Scope:
        text = self.scan.name(name).lstrip("$")
        class_scope = scope if self._in_class(scope) else scope.parent
        if class_scope is None or not self._in_class(class_scope):
            return scope
        number = self._add("variable", text, node, class_scope)
        self.scan.field(class_scope.owner, text, self._static_type(written), class_scope, declared=True)
        return class_scope.inner(number)

    def _parameter(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name, written = node.child_by_field_name("name"), node.child_by_field_name("type")
        if node.type == "property_promotion_parameter":
            self._field(node, name, written, scope)
        type = () if node.type == "variadic_parameter" else self._static_type(written)
        scope.local(self.scan.name(name), type, declared=True)
        return steps(node, scope, name)

    # Values

    def _static_type(self, node: "Node | None") -> Type:
        if node is not None and node.type == "optional_type" and node.named_children:
            node = node.named_children[0]
        if node is None or node.type != "named_type" or self.scan.name(node) in _SELF:
            return ()
        return self._path(self.scan.name(node))

    def _built(self, node: "Node | None") -> Type:
        if node is not None and node.type == "parenthesized_expression" and node.named_children:
            node = node.named_children[0]
        if node is None or node.type != "object_creation_expression" or not node.named_children:
            return ()
        name = node.named_children[0]
        text = self.scan.name(name)
        return self._path(text) if name.type in _NAMES and text not in _SELF else ()

    def _assignment(self, node: "Node", scope: Scope) -> Sequence[Step]:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and left.type == "variable_name":
            scope.local(self.scan.name(left), self._built(right))
        return steps(node, scope)

    def _loop(self, node: "Node", scope: Scope) -> Sequence[Step]:
        for child in node.named_children[1:]:
            for name in (child, *child.named_children) if child.type == "pair" else (child,):
                if name.type == "variable_name":
                    scope.local(self.scan.name(name))
        return steps(node, scope)

    def _catch(self, node: "Node", scope: Scope) -> Sequence[Step]:
        types = node.child_by_field_name("type")
        named = types.named_children if types is not None else []
        type = self._static_type(named[0]) if len(named) == 1 else ()
        scope.local(self.scan.name(node.child_by_field_name("name")), type)
        return steps(node, scope, node.child_by_field_name("name"))

    def _closure(self, node: "Node", scope: Scope) -> Sequence[Step]:
        return steps(node, scope.inner())

    # Mentions

    def _mention(self, scope: Scope, relation: Relation, node: "Node") -> None:
        if node.type in _NAMES and self.scan.name(node) not in (*_SELF, "parent"):
            self.scan.mention(scope, relation, self._path(self.scan.name(node)), node)

    def _named_type(self, node: "Node", scope: Scope) -> Sequence[Step]:
        for name in node.named_children:
            self._mention(scope, "references", name)
        return ()

    def _constant_name(self, node: "Node", scope: Scope) -> Sequence[Step]:
        self.say(scope, "references", self._path(self.scan.name(node)), node)
        return ()

    def _call(self, node: "Node", scope: Scope) -> Sequence[Step]:
        function = node.child_by_field_name("function")
        if function is None or function.type not in _NAMES:
            return steps(node, scope)
        self.scan.mention(scope, "calls", self._path(self.scan.name(function)), node)
        return steps(node, scope, function)

    def _new(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name = node.named_children[0] if node.named_children else None
        if name is None or name.type not in _NAMES:
            return steps(node, scope)
        self._mention(scope, "calls", name)
        return steps(node, scope, name)

    def _member_call(self, node: "Node", scope: Scope) -> Sequence[Step]:
        holder, name = node.child_by_field_name("object"), node.child_by_field_name("name")
        rest = steps(node, scope, holder, name)
        if name is None or name.type != "name":
            return [*([(holder, scope)] if holder is not None else []), *rest]
        path = self._receiver(holder)
        if path:
            self.say(scope, "calls", (*path, self.scan.name(name)), node, "unknown")
            return rest
        self.call_on(scope, self._built(holder), self.scan.name(name), node)
        return [*([(holder, scope)] if holder is not None else []), *rest]

    def _receiver(self, node: "Node | None") -> Type:
        """`$x`, `$this->field`."""
        if node is not None and node.type == "variable_name":
            return (self.scan.name(node),)
        if node is None or node.type != "member_access_expression":
            return ()
        holder, name = node.child_by_field_name("object"), node.child_by_field_name("name")
        is_plain = holder is not None and holder.type == "variable_name" and name is not None
        return (self.scan.name(holder), self.scan.name(name)) if is_plain else ()

    def _static_call(self, node: "Node", scope: Scope) -> Sequence[Step]:
        holder, name = node.child_by_field_name("scope"), node.child_by_field_name("name")
        text, holder_text = self.scan.name(name), self.scan.name(holder)
        if holder is None or name is None or name.type != "name":
            return steps(node, scope, holder, name)
        if holder_text == "parent":
            self.scan.mention(scope, "calls", (text,), node, "super")
        elif holder_text in _SELF:
            self.scan.mention(scope, "calls", (text,), node, "self")
        elif holder.type in _NAMES:
            self.scan.mention(scope, "calls", (*self._path(holder_text), text), node, "type")
        else:
            self.unknown(scope, text, node)
        return steps(node, scope, holder, name)

    def _class_constant(self, node: "Node", scope: Scope) -> Sequence[Step]:
        if node.named_child_count == 2 and node.named_children[0].type in _NAMES:
            holder, name = node.named_children
            path = (*self._path(self.scan.name(holder)), self.scan.name(name))
            self.say(scope, "references", path if path[-1] != "class" else path[:-1], node)
        return ()

    def _member(self, node: "Node", scope: Scope) -> Sequence[Step]:
        return steps(node, scope, node.child_by_field_name("name"))

"""PHP inside a definition: the values of variables, calls and references."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quintet.codegraph.extractor import Extractor, steps
from quintet.codegraph.scan import Step
from quintet.codegraph.scope import Scope, Type
from quintet.model.symbols import Base, Relation

if TYPE_CHECKING:
    from tree_sitter import Node

NAMES = frozenset({"name", "qualified_name", "relative_name"})
SELF = frozenset({"self", "static"})


class PhpValues(Extractor):
    """Handlers of statements that bind variables and of expressions that mention names."""

    def path(self, text: str) -> Type:
        parts = tuple(part.strip() for part in text.split("\\") if part.strip())
        return parts[1:] if parts[:1] == ("namespace",) else parts

    # Values

    def static_type(self, node: "Node | None") -> Type:
        if node is not None and node.type == "optional_type" and node.named_children:
            node = node.named_children[0]
        if node is None or node.type != "named_type" or self.scan.name(node) in SELF:
            return ()
        return self.path(self.scan.name(node))

    def constructed_type(self, node: "Node | None") -> Type:
        if node is not None and node.type == "parenthesized_expression" and node.named_children:
            node = node.named_children[0]
        if node is None or node.type != "object_creation_expression" or not node.named_children:
            return ()
        name = node.named_children[0]
        text = self.scan.name(name)
        return self.path(text) if name.type in NAMES and text not in SELF else ()

    def assignment(self, node: "Node", scope: Scope) -> Sequence[Step]:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and left.type == "variable_name":
            scope.local(self.scan.name(left), self.constructed_type(right))
        return steps(node, scope)

    def loop(self, node: "Node", scope: Scope) -> Sequence[Step]:
        for child in node.named_children[1:]:
            for name in (child, *child.named_children) if child.type == "pair" else (child,):
                if name.type == "variable_name":
                    scope.local(self.scan.name(name))
        return steps(node, scope)

    def catch(self, node: "Node", scope: Scope) -> Sequence[Step]:
        types = node.child_by_field_name("type")
        named = types.named_children if types is not None else []
        type = self.static_type(named[0]) if len(named) == 1 else ()
        scope.local(self.scan.name(node.child_by_field_name("name")), type)
        return steps(node, scope, node.child_by_field_name("name"))

    def closure(self, node: "Node", scope: Scope) -> Sequence[Step]:
        return steps(node, scope.inner())

    # Mentions

    def mention_name(self, scope: Scope, relation: Relation, node: "Node") -> None:
        if node.type in NAMES and self.scan.name(node) not in (*SELF, "parent"):
            self.scan.mention(scope, relation, self.path(self.scan.name(node)), node)

    def named_type(self, node: "Node", scope: Scope) -> Sequence[Step]:
        for name in node.named_children:
            self.mention_name(scope, "references", name)
        return ()

    def constant_name(self, node: "Node", scope: Scope) -> Sequence[Step]:
        self.mention_later(scope, "references", self.path(self.scan.name(node)), node)
        return ()

    def call(self, node: "Node", scope: Scope) -> Sequence[Step]:
        function = node.child_by_field_name("function")
        if function is None or function.type not in NAMES:
            return steps(node, scope)
        self.scan.mention(scope, "calls", self.path(self.scan.name(function)), node)
        return steps(node, scope, function)

    def new(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name = node.named_children[0] if node.named_children else None
        if name is None or name.type not in NAMES:
            return steps(node, scope)
        own = self.scan.symbol_at(scope.enclosing_class)
        if self.scan.name(name) in SELF and own.kind == "class":  # in a trait it is whatever uses that
            self.scan.mention(scope, "calls", own.path[-1:], node)
        else:
            self.mention_name(scope, "calls", name)
        return steps(node, scope, name)

    def mention_attribute(self, node: "Node", scope: Scope) -> Sequence[Step]:
        for name in node.named_children[:1]:
            self.mention_name(scope, "references", name)
        return steps(node, scope)[1:]

    def member_call(self, node: "Node", scope: Scope) -> Sequence[Step]:
        holder, name = node.child_by_field_name("object"), node.child_by_field_name("name")
        rest = steps(node, scope, holder, name)
        if name is None or name.type != "name":
            return [*([(holder, scope)] if holder is not None else []), *rest]
        path = self.receiver(holder)
        if path:
            self.mention_later(scope, "calls", (*path, self.scan.name(name)), node, "unknown")
            return rest
        self.scan.mention_call_on(scope, self.constructed_type(holder), self.scan.name(name), node)
        return [*([(holder, scope)] if holder is not None else []), *rest]

    def receiver(self, node: "Node | None") -> Type:
        """`$x`, `$this->field`."""
        if node is not None and node.type == "variable_name":
            return (self.scan.name(node),)
        if node is None or node.type != "member_access_expression":
            return ()
        holder, name = node.child_by_field_name("object"), node.child_by_field_name("name")
        is_plain = holder is not None and holder.type == "variable_name" and name is not None
        return (self.scan.name(holder), self.scan.name(name)) if is_plain else ()

    def static_call(self, node: "Node", scope: Scope) -> Sequence[Step]:
        holder, name = node.child_by_field_name("scope"), node.child_by_field_name("name")
        text, holder_text = self.scan.name(name), self.scan.name(holder)
        if holder is None or name is None or name.type != "name":
            return steps(node, scope, holder, name)
        if holder_text == "parent":
            self.scan.mention(scope, "calls", (text,), node, "super")
        elif holder_text in SELF:
            self.scan.mention(scope, "calls", (text,), node, "self")
        elif holder.type in NAMES:
            self.scan.mention(scope, "calls", (*self.path(holder_text), text), node, "type")
        else:
            self.scan.mention_call_on(scope, (), text, node)
        return steps(node, scope, holder, name)

    def class_constant(self, node: "Node", scope: Scope) -> Sequence[Step]:
        if node.named_child_count != 2:
            return steps(node, scope)
        holder, name = self.scan.name(node.named_children[0]), self.scan.name(node.named_children[1])
        if holder in SELF or holder == "parent":
            base: Base = "super" if holder == "parent" else "self"
            self.scan.mention(scope, "references", (name,) if name != "class" else (), node, base)
        elif node.named_children[0].type in NAMES:
            path = self.path(holder)
            self.mention_later(scope, "references", (*path, name) if name != "class" else path, node, "name")
        return ()

    def member(self, node: "Node", scope: Scope) -> Sequence[Step]:
        return steps(node, scope, node.child_by_field_name("name"))

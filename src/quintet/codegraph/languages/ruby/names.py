"""Helpers for the syntax of Ruby: fields, signatures, patterns, class methods."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node


def field_of(node: "Node | None", name: str) -> "Node | None":
    return node.child_by_field_name(name) if node is not None else None


def after_head(node: "Node") -> "Node | None":
    """Where the signature of a definition ends: at its body, a comment before that, or its `end`."""
    body = node.child_by_field_name("body")
    return next((c for c in node.children if c.type in ("comment", "end") or c == body), None)


def names_in(node: "Node | None") -> Iterator["Node"]:
    """The local variables in a pattern such as `a, (b, *c)`."""
    stack = [node] if node is not None else []
    while stack:
        current = stack.pop()
        if current.type == "identifier":
            yield current
        elif current.type not in ("call", "element_reference", "scope_resolution"):
            stack.extend(reversed(current.named_children))


def is_of_class_itself(method: "Node") -> bool:
    """Whether it is a class method: `def self.make`, or inside `class << self`."""
    around = method.parent.parent if method.parent is not None else None
    return method.type == "singleton_method" or (around is not None and around.type == "singleton_class")

"""The names in a `use` tree of Rust, one by one."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_NAMES = 1000  # of one declaration


@dataclass(frozen=True, slots=True)
class UsedName:
    """`module` joined by `::`; `name` as in `symbols.Import`."""

    module: str
    name: str
    alias: str


def uses(node: "Node", text: Callable[["Node | None"], str]) -> Iterator[UsedName]:
    """Every name that a `use` or `extern crate` imports."""
    if node.type == "extern_crate_declaration":
        name = text(node.child_by_field_name("name"))
        yield UsedName(name, "", text(node.child_by_field_name("alias")) or name)
        return
    argument = node.child_by_field_name("argument")
    stack: list[tuple[Node, tuple[str, ...]]] = [(argument, ())] if argument is not None else []
    for _ in range(MAX_NAMES):
        if not stack:
            return
        tree, prefix = stack.pop()
        if tree.type == "use_list":
            stack += [(child, prefix) for child in reversed(tree.named_children)]
        elif tree.type == "scoped_use_list":
            branches = tree.child_by_field_name("list")
            head = _names(tree.child_by_field_name("path"), text)
            stack += [(branches, (*prefix, *head))] if branches is not None else []
        else:
            yield from _leaf(tree, prefix, text)


def _leaf(tree: "Node", prefix: tuple[str, ...], text: Callable[["Node | None"], str]) -> Iterator[UsedName]:
    if tree.type == "use_wildcard":
        inner = _names(tree.named_children[0], text) if tree.named_children else ()
        yield UsedName("::".join((*prefix, *inner)), "*", "")
        return
    is_renamed = tree.type == "use_as_clause"
    path = (*prefix, *_names(tree.child_by_field_name("path") if is_renamed else tree, text))
    alias = text(tree.child_by_field_name("alias")) if is_renamed else ""
    if len(path) > 1 and path[-1] == "self":
        path = path[:-1]
        yield UsedName("::".join(path), "", _bound(alias or path[-1]))
    elif len(path) == 1:
        yield UsedName(path[0], "", _bound(alias or path[0]))
    elif path:
        yield UsedName("::".join(path[:-1]), path[-1], _bound(alias or path[-1]))


def _bound(alias: str) -> str:
    return "" if alias == "_" else alias


def _names(node: "Node | None", text: Callable[["Node | None"], str]) -> tuple[str, ...]:
    if node is None or node.type not in ("scoped_identifier", "identifier", "crate", "self", "super"):
        return ()
    return tuple(part.strip() for part in text(node).split("::") if part.strip())

"""Names in C and C++: inside a declarator, qualified, of a type."""

from typing import TYPE_CHECKING

from quintet.codegraph.extractor import MAX_CHAIN, Extractor
from quintet.codegraph.scope import Type

if TYPE_CHECKING:
    from tree_sitter import Node

_INNERMOST = frozenset({"identifier", "field_identifier", "type_identifier", "qualified_identifier"})
_INNERMOST |= {"destructor_name", "operator_name", "template_function", "operator_cast"}
_LEAVES = frozenset({"identifier", "type_identifier", "field_identifier", "namespace_identifier"})
_LEAVES |= {"destructor_name", "operator_name"}
_TEMPLATES = frozenset({"template_type", "template_function", "template_method"})


class CNames(Extractor):
    """Reads names. `CExtractor` decides what they are for."""

    def declarator_parts(self, node: "Node | None") -> tuple["Node | None", bool, "Node | None"]:
        """The name inside a declarator, whether it names a function, and the function's declarator."""
        function: Node | None = None
        is_function = False
        for _ in range(MAX_CHAIN):
            if node is None or node.type in _INNERMOST:
                break
            inner = node.child_by_field_name("declarator")
            if node.type == "function_declarator":
                function, is_function = node, True
            elif node.type == "pointer_declarator" and function is not None:
                is_function = False  # a variable that points to a function
            node = inner or (node.named_children[-1] if node.named_children else None)
        return node, is_function, function

    def path(self, node: "Node | None") -> tuple[str, ...]:
        """The names of `a::b<c>::d`."""
        parts: list[str] = []
        for _ in range(MAX_CHAIN):
            if node is None:
                break
            if node.type == "qualified_identifier":
                parts += self.path(node.child_by_field_name("scope"))
                node = node.child_by_field_name("name")
            elif node.type in _TEMPLATES:
                node = node.child_by_field_name("name")
            elif node.type in _LEAVES:
                return (*parts, "".join(self.scan.name(node).split()))
            else:
                break
        return ()

    def static_type(self, node: "Node | None") -> Type:
        if node is not None and node.type in ("struct_specifier", "union_specifier", "class_specifier"):
            node = node.child_by_field_name("name")
        return self.path(node)


def arguments_of(node: "Node | None") -> list["Node"]:
    """The types between the angle brackets of `a::b<c, d>`."""
    while node is not None and node.type == "qualified_identifier":
        node = node.child_by_field_name("name")
    arguments = node.child_by_field_name("arguments") if node is not None else None
    if arguments is None or arguments.type != "template_argument_list":
        return []
    written = [(child, child.child_by_field_name("type")) for child in arguments.named_children]
    return [inner if inner is not None else child for child, inner in written]

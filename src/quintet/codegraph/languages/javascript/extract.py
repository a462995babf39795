"""JavaScript, TypeScript and TSX: imports and exports, on top of what a file defines.

`Outline.exports` lists every exported name. `default` is the default export; in CommonJS it is
`module.exports` itself, unless that is an object of names.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quintet.codegraph.languages.javascript.classes import ScriptClasses
from quintet.codegraph.languages.javascript.syntax import (
    FUNCTIONS,
    bound_names,
    chain,
    is_test_file,
    string_value,
)
from quintet.codegraph.scan import Scan, Step, handlers_by_type
from quintet.codegraph.scope import Binding, Scope
from quintet.model.symbols import Outline

if TYPE_CHECKING:
    from tree_sitter import Node

_NOT_EXPRESSIONS = ("export_clause", "namespace_export", "decorator", "string", "comment")


def outline_of(scan: Scan) -> Outline:
    reader = _ScriptExtractor(scan)
    scan.describe_module(is_test=is_test_file(scan.path))
    scan.walk(reader.handlers)
    reader.finish()
    return scan.outline(keep_unbound=not reader.is_module)


class _ScriptExtractor(ScriptClasses):
    """Adds the handlers of imports and exports, those of CommonJS included."""

    def __init__(self, scan: Scan) -> None:
        super().__init__(scan)
        self.handlers |= handlers_by_type(
            {
                self.imports: "import_statement",
                self.import_alias: "import_alias",
                self.exports: "export_statement",
                self.common_export: "assignment_expression",
            }
        )

    def finish(self) -> None:
        """Make public what is exported under a name that the file defines elsewhere."""
        super().finish()
        inside = {name for _, name in self.scan.exports}
        for number in self.scan.members_of(0):
            if self.scan.symbol_at(number).name in inside or not self.is_module:
                self.scan.set_visibility(number, visibility="public")

    # Imports

    def imports(self, node: "Node", scope: Scope) -> Sequence[Step]:
        self.is_module = True
        module = string_value(self.scan, node.child_by_field_name("source"))
        clauses = [child for child in node.named_children if child.type.startswith("import_")]
        for clause in clauses:
            if clause.type == "import_require_clause":
                module = string_value(self.scan, clause.child_by_field_name("source"))
                self.scan.add_import(scope, node, module, alias=self.first_name(clause))
            else:
                self.import_clause(clause, module, scope)
        if not clauses and module:
            self.scan.add_import(scope, node, module)
        return ()

    def import_clause(self, clause: "Node", module: str, scope: Scope) -> None:
        for part in clause.named_children:
            if part.type == "identifier":
                self.scan.add_import(scope, part, module, name="default", alias=self.scan.name(part))
            elif part.type == "namespace_import":
                self.scan.add_import(scope, part, module, alias=self.first_name(part))
            elif part.type == "named_imports":
                for item in part.named_children:
                    name, alias = self.specifier(item)
                    self.scan.add_import(scope, item, module, name=name, alias=alias)

    def specifier(self, node: "Node") -> tuple[str, str]:
        """The two names of `a as b`."""
        name = self.scan.name(node.child_by_field_name("name")).strip("'\"")
        return name, self.scan.name(node.child_by_field_name("alias")).strip("'\"") or name

    def first_name(self, node: "Node") -> str:
        return next(
            (self.scan.name(child) for child in node.named_children if child.type == "identifier"), ""
        )

    def import_alias(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """`import a = N.B`: another name for a member of a namespace."""
        name, *target = node.named_children or [node]
        scope.bind(self.scan.name(name), Binding("variable"))
        return [(child, scope) for child in target]

    # Exports

    def exports(self, node: "Node", scope: Scope) -> Sequence[Step]:
        self.is_module = True
        source = string_value(self.scan, node.child_by_field_name("source"))
        default = any(child.type in ("default", "=") for child in node.children)
        inner = node.child_by_field_name("declaration") or node.child_by_field_name("value")
        for child in node.named_children:
            if child.type == "export_clause":
                self.export_clause(child, source, scope)
            elif child.type == "namespace_export":
                self.scan.add_import(
                    scope, child, source, alias=self.first_name(child), exported=True, binds=False
                )
            elif inner is None and child.type not in _NOT_EXPRESSIONS:
                inner = child
        if source and not any(
            child.type in ("export_clause", "namespace_export") for child in node.named_children
        ):
            self.scan.add_import(scope, node, source, name="*", exported=True)
        if inner is None:
            return ()
        decorators = [child for child in node.named_children if child.type == "decorator"]
        return [*((child, scope) for child in decorators), *self.exported_value(inner, node, default, scope)]

    def export_clause(self, clause: "Node", source: str, scope: Scope) -> None:
        for item in clause.named_children:
            name, alias = self.specifier(item)
            if source:
                self.scan.add_import(scope, item, source, name=name, alias=alias, exported=True, binds=False)
            elif scope.is_file:
                self.scan.exports.append((alias, name))

    def exported_value(self, inner: "Node", export: "Node", default: bool, scope: Scope) -> Sequence[Step]:
        """A declaration or value inside an `export` statement."""
        if inner.type == "ambient_declaration" and inner.named_child_count:
            inner = inner.named_children[0]
        self.exported[inner.id] = export
        if scope.is_file:
            for name in self.declared_names(inner):
                self.scan.exports.append(("default" if default else name, name))
        if inner.type == "object":
            number = self.define("variable", "default", inner, scope)
            return self.object_steps(inner, scope, number)
        return [(inner, scope)]

    def declared_names(self, node: "Node") -> list[str]:
        if node.type in ("lexical_declaration", "variable_declaration"):
            items = [bound_names(child.child_by_field_name("name"))[0] for child in node.named_children]
            return [self.scan.name(item) for names in items for item in names]
        if node.type == "identifier":
            return [self.scan.name(node)]
        name = self.name_of(node) if node.type not in FUNCTIONS else "default"
        return [name.partition(".")[0]]

    def common_export(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """`module.exports = ...` and `exports.name = ...`; anything else is a plain assignment."""
        path = chain(self.scan, node.child_by_field_name("left"))
        right = node.child_by_field_name("right")
        whole = path == ("module", "exports")
        member = path[-1] if path[:-1] in (("exports",), ("module", "exports")) else ""
        shadowed = bool(path) and scope.find(path[0]) is not None
        if right is None or shadowed or not (whole or member):
            return self.assignment(node, scope)
        self.is_module = True
        return self.export_names(right, scope) if whole else self.export_as(member, right, node, scope)

    def export_names(self, value: "Node", scope: Scope) -> Sequence[Step]:
        if value.type != "object":
            return self.export_as("default", value, value, scope)
        for item in value.named_children:
            inner, key = item.child_by_field_name("value"), item.child_by_field_name("key")
            if item.type == "shorthand_property_identifier":
                self.scan.exports.append((self.scan.name(item), self.scan.name(item)))
            elif inner is not None and inner.type == "identifier" and key is not None:
                self.scan.exports.append((self.scan.name(key).strip("'\""), self.scan.name(inner)))
            elif (key or item.child_by_field_name("name")) is not None:
                name = self.scan.name(key or item.child_by_field_name("name")).strip("'\"")
                self.scan.exports.append((name, name))
        return self.object_steps(value, scope, 0)

    def export_as(self, name: str, value: "Node", node: "Node", scope: Scope) -> Sequence[Step]:
        """Export a value under a name: a variable of the file, or a function or class that is written
        here."""
        own = self.scan.name(value.child_by_field_name("name"))
        if value.type == "identifier":
            self.scan.exports.append((name, self.scan.name(value)))
            return [(value, scope)]
        if value.type not in (*FUNCTIONS, "class"):
            return [(value, scope)]
        inside = own or name
        self.exported[node.id] = node
        self.scan.exports.append((name, inside))
        if value.type == "class":
            return self.bound_class(inside, value, node, scope)
        return self.bound_function(inside, value, node, scope)

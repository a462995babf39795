"""Python: definitions, imports, calls, base classes and references."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quintet.codegraph.languages.python.syntax import (
    annotation,
    base_path,
    chain,
    docstring_of,
    is_test_file,
    parameter_parts,
    visibility_of,
)
from quintet.codegraph.languages.python.values import PythonValues
from quintet.codegraph.scan import Scan, Step, handlers_by_type, skip
from quintet.codegraph.scope import Binding, Scope
from quintet.model.symbols import Outline

if TYPE_CHECKING:
    from tree_sitter import Node

_PROPERTIES = {"property", "cached_property"}


def outline_of(scan: Scan) -> Outline:
    reader = _PythonExtractor(scan)
    scan.describe_module(docstring=docstring_of(scan, scan.root), is_test=reader.in_tests)
    scan.walk(reader.handlers)
    reader.define_rebound()
    return scan.outline(keep_unbound=reader.has_star)


class _PythonExtractor(PythonValues):
    """Adds the handlers of imports and definitions."""

    def __init__(self, scan: Scan) -> None:
        super().__init__(scan)
        self.in_tests = is_test_file(scan.path)
        self.has_star = False
        self.handlers |= handlers_by_type(
            {
                self.imports: "import_statement",
                self.imports_from: "import_from_statement",
                skip: "future_import_statement",
                self.decorated: "decorated_definition",
                self.class_definition: "class_definition",
                self.function: "function_definition",
                self.lambda_expression: "lambda",
            }
        )

    # Imports

    def imports(self, node: "Node", scope: Scope) -> Sequence[Step]:
        for item in node.children_by_field_name("name"):
            alias = self.scan.name(item.child_by_field_name("alias"))
            module = self.scan.text(item.child_by_field_name("name") or item)
            if not alias and "." in module:  # `import a.b` loads `a.b` and binds `a`
                scope.bind(module.partition(".")[0], Binding("import"))
            else:
                alias = alias or module
            self.scan.add_import(scope, item, module, alias=alias, exported=scope.is_file)
        return ()

    def imports_from(self, node: "Node", scope: Scope) -> Sequence[Step]:
        origin = node.child_by_field_name("module_name")
        written = self.scan.text(origin).replace(" ", "") if origin is not None else ""
        module = written.lstrip(".")
        level = len(written) - len(module)
        for item in node.children_by_field_name("name"):
            name = self.scan.name(item.child_by_field_name("name") or item)
            alias = self.scan.name(item.child_by_field_name("alias")) or name
            self.scan.add_import(
                scope, item, module, level=level, name=name, alias=alias, exported=scope.is_file
            )
        if any(child.type == "wildcard_import" for child in node.named_children):
            self.has_star = True
            self.scan.add_import(scope, node, module, level=level, name="*", exported=scope.is_file)
        return ()

    # Definitions

    def decorated(self, node: "Node", scope: Scope) -> Sequence[Step]:
        definition = node.child_by_field_name("definition")
        if definition is None:
            return [(child, scope) for child in node.named_children]
        decorators = [child for child in node.named_children if child.type == "decorator"]
        if definition.type == "class_definition":
            steps = self.class_definition(definition, scope, node)
        else:
            steps = self.function(definition, scope, node, decorators)
        owner = scope.owned_by(steps[-1][1].owner if steps else scope.owner)
        return [*((child, owner) for child in decorators), *steps]

    def class_definition(self, node: "Node", scope: Scope, whole: "Node | None" = None) -> Sequence[Step]:
        scan, body = self.scan, node.child_by_field_name("body")
        name = scan.name(node.child_by_field_name("name"))
        listed = node.child_by_field_name("superclasses")
        bases = (
            [(base, base_path(scan, base)) for base in listed.named_children] if listed is not None else []
        )
        last_names = {path[-1] for _, path in bases if path}
        test = self.in_tests and (name.startswith("Test") or any(n.endswith("TestCase") for n in last_names))
        number = scan.add_symbol(
            "interface" if "Protocol" in last_names else "class",
            name,
            node,
            scope.owner,
            first=whole,
            body=body,
            docstring=docstring_of(scan, body),
            visibility=visibility_of(name, scope.hidden),
            is_test=test,
        )
        scope.bind(name, Binding("symbol", (name,), scope, number))
        outside = scope.owned_by(number)
        steps: list[Step] = []
        for base, path in bases:
            scan.mention(outside, "extends", path, base)
            maker = chain(scan, base.child_by_field_name("function"))
            scan.mention(outside, "extends", maker[-1:], base, "unknown")
            steps += _rest_of_base(base, path, outside)
        inside = scope.inner(number, hidden=True, class_number=number)
        self.bind_type_parameters(node, inside)
        comments = [(child, inside) for child in node.named_children if child.type == "comment"]
        return [*steps, *comments, *_body_steps(node, body, inside)]

    def function(
        self, node: "Node", scope: Scope, whole: "Node | None" = None, decorators: Sequence["Node"] = ()
    ) -> Sequence[Step]:
        scan, body = self.scan, node.child_by_field_name("body")
        name = scan.name(node.child_by_field_name("name"))
        in_class = scope.hidden
        number = scan.add_symbol(
            "method" if in_class else "function",
            name,
            node,
            scope.owner,
            first=whole,
            body=body,
            docstring=docstring_of(scan, body),
            visibility=visibility_of(name, in_class),
            is_test=self.in_tests and name.startswith("test"),
        )
        inside = scope.inner(number)
        returned = node.child_by_field_name("return_type")
        awaited = scan.source.startswith(b"async", node.start_byte)
        gives = () if awaited else annotation(scan.name(returned))
        scope.bind(name, Binding("symbol", gives, scope, number))
        marks = {scan.name(mark).lstrip("@").rpartition(".")[2].strip() for mark in decorators}
        if in_class and marks & _PROPERTIES:
            scan.bind_field(scope.enclosing_class, name, gives, scope, declared=True)
        outside = scope.owned_by(number)
        receiver = scope.enclosing_class if in_class and "staticmethod" not in marks else 0
        steps = self.parameters(node, inside, outside, receiver)
        if returned is not None:
            steps.append((returned, outside))
        self.bind_type_parameters(node, inside)
        return [*steps, *_body_steps(node, body, inside)]

    def parameters(self, node: "Node", inside: Scope, outside: Scope, receiver: int) -> list[Step]:
        """Bind the parameters; their defaults and annotations are read in the scope outside."""
        parameters = node.child_by_field_name("parameters")
        steps: list[Step] = []
        for parameter in parameters.named_children if parameters is not None else ():
            names, type_node, default = parameter_parts(parameter)
            if type_node is not None:
                steps.append((type_node, outside))
            if default is not None:
                steps.append((default, outside))
            for item in names:
                name = self.scan.name(item)
                if receiver:
                    inside.bind(name, Binding("self", number=receiver))
                    receiver = 0
                else:
                    starred = self.scan.source.startswith(b"*", parameter.start_byte)
                    type = () if type_node is None or starred else annotation(self.scan.name(type_node))
                    inside.bind(name, Binding("local", type, outside))
            receiver = 0 if names else receiver
        return steps

    def bind_type_parameters(self, node: "Node", inside: Scope) -> None:
        listed = node.child_by_field_name("type_parameters")
        for item in listed.named_children if listed is not None else ():
            inside.local(self.scan.name(item).partition(":")[0].strip("* "))

    def lambda_expression(self, node: "Node", scope: Scope) -> Sequence[Step]:
        inside = scope.inner()
        steps = self.parameters(node, inside, scope, 0)
        return [*steps, *_body_steps(node, node.child_by_field_name("body"), inside)]


def _body_steps(node: "Node", body: "Node | None", inside: Scope) -> list[Step]:
    """The body of a definition. It comes last and is never missing: `decorated` reads the owner off it."""
    return [(child, inside) for child in ((body,) if body is not None else node.named_children[-1:])]


def _rest_of_base(base: "Node", path: tuple[str, ...], scope: Scope) -> list[Step]:
    """What is left to visit in a base class: the arguments of a generic class, keywords, computed bases."""
    if base.type == "subscript" and path:
        return [(part, scope) for part in base.children_by_field_name("subscript")]
    return [] if path else [(base, scope)]

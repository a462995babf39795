"""Languages of which only the definitions are read: no imports, no mentions.

A language lists its node types in `Language.kinds`. The words between the start of a definition and its name
say the rest: what kind of type it is, and who sees it.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from quintet.codegraph.extractor import Extractor, steps
from quintet.codegraph.layout import COMMENTS
from quintet.codegraph.scan import Handler, Scan, Step, handlers_by_type
from quintet.codegraph.scope import Scope
from quintet.model.symbols import Outline, SymbolKind, Visibility

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTIONS = frozenset({"function", "method"})
_INTERFACES = frozenset({"interface", "trait"})
# Written before the name, these say more than the node type, which is `class_declaration` for all of them.
_WORDS = {"struct": "struct", "enum": "enum", "extension": "impl", "interface": "interface"}
_HIDING: dict[str, Visibility] = {"private": "private", "fileprivate": "private", "local": "private"}
_HIDING |= {"protected": "protected", "internal": "protected"}
# Definitions without a name.
_KEYWORDS = {f"{word}_declaration": word for word in ("init", "deinit", "subscript")}
_NAME_FIELDS = ("name", "pattern")
_NAMES = frozenset({"identifier", "simple_identifier", "type_identifier", "variable_declaration", "pattern"})
_BODY = re.compile(r"(?:^|_)(?:body|block|property|declarations)$")
_DASHES = re.compile(r"^--+ *[|^]? *", re.MULTILINE)
_NAME = re.compile(r"[^\s(){}\[\],;=\"]+")
_TEST_PATH = re.compile(
    r"(?:^|/)(?:[tT]ests?|specs?|src/\w*[tT]est)/|(?:Tests?|Spec|Suite)\.\w+$|[_.](?:test|spec)\.\w+$"
)
MAX_HEAD = 400  # bytes before a name; people write fewer
IMPORTS = "import package_header"  # `import` alone is a call in JavaScript


def outline_of(scan: Scan) -> Outline:
    return OutlinedExtractor(scan).read()


class OutlinedExtractor(Extractor):
    def __init__(self, scan: Scan) -> None:
        super().__init__(scan)
        self.in_tests = bool(_TEST_PATH.search(scan.path))
        scan.describe_module(is_test=self.in_tests)

    def handlers(self) -> dict[str, Handler]:
        return handlers_by_type(
            {self.comment: COMMENTS, self._import: IMPORTS, self.definition: self.scan.language.kinds}
        )

    def _import(self, node: "Node", _scope: Scope) -> Sequence[Step]:
        self.scan.layout.add_import(node)
        return ()

    def definition(self, node: "Node", scope: Scope) -> Sequence[Step]:
        name, kind = self.name_node(node), self.scan.language.kinds[node.type]
        words = self._words_before(node, name)
        text = _KEYWORDS.get(node.type) or self.scan.name(name)
        if not _NAME.fullmatch(text):
            return steps(node, scope)
        if kind == "class":
            kind = next((_WORDS[word] for word in words if word in _WORDS), kind)
        body = self.body(node)
        visibility: Visibility = next((_HIDING[word] for word in words if word in _HIDING), "public")
        if kind == "impl":
            return self.extend((text,), node, body, scope)
        next_steps = self.add(kind, (text,), node, body, scope, visibility)
        for other in node.children_by_field_name("name")[1:] if kind == "variable" else ():
            self.add(kind, (self.scan.name(other),), node, None, scope, visibility)
        return next_steps

    def add(
        self,
        kind: str,
        path: tuple[str, ...],
        node: "Node",
        body: "Node | None",
        scope: Scope,
        visibility: Visibility = "public",
        *,
        last: "Node | None" = None,
        is_test: bool = False,
        is_defined: bool = False,
    ) -> Sequence[Step]:
        """Add a symbol. Nothing inside a function is read; a function that is not defined has no chunk."""
        is_function = kind in _FUNCTIONS
        symbol_kind: SymbolKind = "variable" if kind == "variable" else "class"
        if is_function:
            in_class = scope.is_class_body or len(path) > 1
            symbol_kind = kind = "method" if in_class else "function"
            is_test = is_test or (self.in_tests and path[-1].startswith("test"))
        elif kind in _INTERFACES:
            symbol_kind = "interface"
        has_chunk = kind != "variable" and (is_defined or body is not None or not is_function)
        number = self.define(
            symbol_kind,
            path[-1],
            node,
            scope,
            inside=path[:-1],
            body=body,
            last=last,
            visibility=visibility,
            is_test=is_test,
            shown=kind if has_chunk else "",
        )
        if symbol_kind in ("class", "interface"):
            inner = scope.inner(number, class_number=number)
            return [(body, inner)] if body is not None else steps(node, inner)
        return ()

    def extend(
        self, path: tuple[str, ...], node: "Node", body: "Node | None", scope: Scope
    ) -> Sequence[Step]:
        """An extension or instance: what is inside belongs to the type of that name."""
        self.scan.add_definition("impl", path, node, scope)
        number = self.type_number(scope, path)
        if number is None:
            number = self.define("class", path[-1], node, scope, inside=path[:-1], body=body, shown="")
        return [(body, scope.inner(number, class_number=number))] if body is not None else ()

    def doc(self, node: "Node") -> str:
        return _DASHES.sub("", super().doc(node))

    # Parts of a definition

    def name_node(self, node: "Node") -> "Node | None":
        named = (node.child_by_field_name(field) for field in _NAME_FIELDS)
        name = next((name for name in named if name is not None), None)
        if name is None:
            name = next((child for child in node.named_children if child.type in _NAMES), None)
        while name is not None and name.type in ("variable_declaration", "pattern") and name.named_children:
            name = next((child for child in name.named_children if child.type in _NAMES), None)
        return name

    def body(self, node: "Node") -> "Node | None":
        body = node.child_by_field_name("body")
        if body is not None:
            return body
        return next((child for child in node.named_children if _BODY.search(child.type)), None)

    def _words_before(self, node: "Node", name: "Node | None") -> list[str]:
        end = node.start_byte if name is None else name.start_byte
        head = self.scan.source[max(node.start_byte, end - MAX_HEAD) : end]
        return re.findall(r"\w+", head.decode("utf-8", "replace"))

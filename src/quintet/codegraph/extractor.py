"""What the extractors of most languages share: comments above a definition, and names that are resolved last.

In these languages a name may stand above the definition that binds it. So an extractor records mentions as it
walks and resolves them at the end, when every field, type and import of the file is known.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, cast

from quintet.codegraph.language import node_kinds
from quintet.codegraph.layout import Definition
from quintet.codegraph.scan import Handler, Scan, Step
from quintet.codegraph.scope import Binding, Scope, Type
from quintet.codegraph.source import ParsedSource
from quintet.model.symbols import Outline, Relation, SymbolKind, Visibility

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_CHAIN = 12  # names in `a.b.c`, or nested types; people write fewer
MAX_COPIED = 200  # names of one scope; people write fewer
# What to do with a mention whose first name the file does not bind. `static`: keep it if the name before the
# last is a type; otherwise the type of the receiver is unknown, even if the first name is imported.
Unbound = Literal["drop", "name", "unknown", "static"]
# Of a node that joins names: the fields of the first part and of the last name (empty: only the first part).
Link = tuple[str, str]
_MARKS = re.compile(r"^[ \t]*(?:/\*[*!]?|///?!?|//!|\*/|\*(?!/)|#+!?)[ \t]?|[ \t]*\*/[ \t]*$")
_LICENCE = re.compile(r"copyright|licen[cs]e|SPDX", re.IGNORECASE)
_TAGS = re.compile(r"</?[a-zA-Z][^<>\n]{0,200}>")


class _UnresolvedName(NamedTuple):
    scope: Scope
    relation: Relation
    path: tuple[str, ...]
    node: "Node"
    unbound: Unbound


@dataclass(slots=True)
class _CommentAbove:
    """A comment or attribute on a row of its own; `taken_by` is the start of the definition below it."""

    first: int
    comment: str = ""
    attribute: str = ""
    taken_by: int = -1


class Extractor(ABC):
    """The handlers of one language for one file. A subclass lists them in `handlers`."""

    types_first: ClassVar[frozenset[str]] = frozenset()  # node types that `first_steps` reads before others

    def __init__(self, scan: Scan) -> None:
        self.scan = scan
        self._above: dict[int, _CommentAbove] = {}
        self._unresolved: list[_UnresolvedName] = []
        self._types: dict[tuple[str, ...], int] = {}

    @abstractmethod
    def handlers(self) -> dict[str, Handler]: ...

    def read(self, *, keep_unbound: bool = True) -> Outline:
        self.scan.walk(self.handlers())
        for name in self._unresolved:
            self._resolve_name(name)
        self.scan.describe_module(docstring=self._file_doc())
        return self.scan.outline(keep_unbound=keep_unbound)

    # Steps

    def block(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """What this node binds is visible only inside it."""
        return steps(node, scope.inner())

    def first_steps(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """Types before the rest: a method may stand above its type."""
        children = sorted(node.named_children, key=lambda child: child.type not in self.types_first)
        return [(child, scope) for child in children]

    # Comments and attributes

    def comment(self, node: "Node", _scope: Scope) -> Sequence[Step]:
        above = self._own_row(node)
        if above is not None:
            above.comment = self.scan.text(node)[:4000].rstrip()
        return ()

    def attribute(self, node: "Node", _scope: Scope) -> Sequence[Step]:
        above = self._own_row(node)
        if above is not None:
            above.attribute += self.scan.text(node)[:1000]
        return ()

    def _own_row(self, node: "Node") -> _CommentAbove | None:
        first, last = self.scan.rows(node)
        if first not in self._above and not self.scan.starts_row(node):
            return None  # it stands behind code
        return self._above.setdefault(last, _CommentAbove(first))

    def doc(self, node: "Node") -> str:
        """The text of the comments directly above."""
        lines: list[str] = []
        for above in self._comments_above(node):
            if above.comment:
                lines[:0] = above.comment.split("\n")
        return comment_words(lines)

    def commented_node(self, node: "Node") -> "Node":
        """The node that the comment of a definition stands above; by default the definition itself."""
        return node

    def attributes(self, node: "Node") -> str:
        return " ".join(above.attribute for above in self._comments_above(node) if above.attribute)

    def _comments_above(self, node: "Node") -> Iterable[_CommentAbove]:
        row = self.scan.rows(node)[0]
        above = self._above.get(row)
        if above is None or not above.attribute:
            above = self._above.get(row - 1)
        while above is not None and above.taken_by in (-1, node.start_byte):
            above.taken_by = node.start_byte
            yield above
            above = self._above.get(above.first - 1)

    def _file_doc(self) -> str:
        """The comment at the top of the file, unless it belongs to a definition or is a licence."""
        lines: list[str] = []
        next_row = 0
        for row, above in sorted(self._above.items()):
            if above.first > max(next_row, 2 if not lines else 0) or not above.comment or above.taken_by >= 0:
                break
            lines += above.comment.split("\n")
            next_row = row + 1
        text = comment_words([line for line in lines if not line.startswith("#!/")])
        return "" if _LICENCE.search(text[:1000]) else text

    # Definitions

    def define(
        self,
        kind: SymbolKind,
        name: str,
        node: "Node",
        scope: Scope,
        *,
        inside: tuple[str, ...] = (),
        parent: int | None = None,
        body: "Node | None" = None,
        last: "Node | None" = None,
        visibility: Visibility = "public",
        is_test: bool = False,
        shown: str | None = None,
    ) -> int:
        """Add a symbol with its signature and the comment above it."""
        whole = self.commented_node(node)
        number = self.scan.add_symbol(
            kind,
            name,
            node,
            scope.owner if parent is None else parent,
            first=whole,
            last=last,
            body=body,
            inside=inside,
            signature=self.scan.signature(whole, body) if whole is not node else None,
            docstring=self.doc(whole),
            visibility=visibility,
            is_test=is_test,
            shown=shown,
        )
        if kind in ("class", "interface"):
            self._types.setdefault(self.scan.symbol_at(number).path, number)
        return number

    def bind_variable(self, scope: Scope, name: str, type: Type) -> None:
        """Bind a constant, static or field; its type decides what members it has."""
        scope.bind(name, Binding("variable", type, scope, declared=bool(type)))

    def type_number(self, scope: Scope, type: Type) -> int | None:
        """The number of the class of this name that the file defines in the module of `scope`."""
        return self._types.get((*self.scan.symbol_at(scope.owner).path, *type))

    def bind_symbol(self, scope: Scope, name: str) -> None:
        scope.bind(name, Binding("symbol"))

    def scope_before(self, scope: Scope, names: Iterable[str]) -> Scope:
        """The scope of the right side of a declaration: in `url := url.Parse(x)`, that `url` is the
        package."""
        hides = any(name not in scope.names and scope.find(name) for name in names)
        if not hides or len(scope.names) > MAX_COPIED:
            return scope
        return Scope(
            scope.owner, scope.parent, enclosing_class=scope.enclosing_class, names=dict(scope.names)
        )

    # Mentions

    def mention_later(
        self, scope: Scope, relation: Relation, path: tuple[str, ...], node: "Node", unbound: Unbound = "drop"
    ) -> None:
        if path:
            self._unresolved.append(_UnresolvedName(scope, relation, path, node, unbound))

    def _resolve_name(self, name: _UnresolvedName) -> None:
        binding = name.scope.find(name.path[0])
        if binding is None and name.unbound == "drop":
            return
        if binding is None and name.unbound == "unknown":
            self.scan.mention_call_on(name.scope, (), name.path[-1], name.node)
            return
        is_static = len(name.path) > 1 and name.path[-2][:1].isupper() and not is_constant(name.path[:-1])
        named = binding is None or binding.kind in ("symbol", "import")
        if name.unbound == "static" and named and not is_static:
            self.scan.mention_call_on(name.scope, (), name.path[-1], name.node)
            return
        base: Literal["type", "name"] = "type" if is_static and named else "name"
        self.scan.mention(name.scope, name.relation, name.path, name.node, base)


class Extraction(NamedTuple):
    """`quiet` are the rows of comments, attributes and imports."""

    outline: Outline
    definitions: tuple[Definition, ...]
    quiet: Set[int]


def extract(file: ParsedSource) -> Extraction:
    """What a file defines and mentions, and what its chunks are cut along. Broken parts are left out."""
    scan = Scan(file)
    outline: Outline = import_module(file.language.extractor).outline_of(scan)
    return Extraction(outline, scan.definitions, scan.layout.quiet)


def symbol_kinds(text: str) -> dict[str, SymbolKind]:
    """Node type -> kind of symbol, from words such as `enum_declaration:class`."""
    return cast("dict[str, SymbolKind]", node_kinds(text))


def steps(node: "Node", scope: Scope, *without: "Node | None") -> list[Step]:
    """The named children as next steps, without those that are already read."""
    if not without:
        return [(child, scope) for child in node.named_children]
    read = {child.id for child in without if child is not None}
    return [(child, scope) for child in node.named_children if child.id not in read]


def chain(node: "Node | None", scan: Scan, leaves: frozenset[str], links: Mapping[str, Link]) -> Type:
    """The names of `a.b.c`, outermost first; empty if a part is not a name."""
    parts: list[str] = []
    for _ in range(MAX_CHAIN):
        if node is None:
            break
        kind = node.type
        if kind in leaves:
            return (scan.name(node), *reversed(parts))
        if kind not in links:
            break
        outer, last = links[kind]
        if last:
            parts.append(scan.name(node.child_by_field_name(last)))
        node = node.child_by_field_name(outer)
    return ()


def descendants(node: "Node", wanted: frozenset[str], through: frozenset[str]) -> Iterable["Node"]:
    """The nodes of the wanted types at or below `node`; only nodes of the types `through` are descended
    into."""
    stack = [node]
    while stack:
        current = stack.pop()
        if current.type in wanted:
            yield current
        elif current is node or current.type in through:
            stack.extend(reversed(current.named_children))


def is_constant(path: tuple[str, ...]) -> bool:
    """Whether a path such as `Colour.RED` names a constant of a type, judged by its capitals."""
    return len(path) > 1 and path[-2][:1].isupper() and path[-1].isupper()


def comment_words(lines: Sequence[str]) -> str:
    """The text of comment lines, without comment marks and the tags of documentation comments."""
    bare = (_MARKS.sub("", _MARKS.sub("", line, count=1)) for line in lines)
    return "\n".join(_TAGS.sub("", line).strip() for line in bare)

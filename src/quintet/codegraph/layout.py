"""What chunks are cut along, collected while an extractor walks the tree: definitions, and the rows of
comments, attributes and imports. Rows count from 0."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from quintet.codegraph.language import words
from quintet.codegraph.source import LineTable

if TYPE_CHECKING:
    from tree_sitter import Node

# Node types of all grammars. Comments and attributes stand above what they belong to.
COMMENTS = words("comment line_comment block_comment attribute_item multiline_comment haddock")
# They bring names in or place the file, and say nothing by themselves.
IMPORTS = words(
    "import_statement import_from_statement future_import_statement import_declaration import_alias"
    " use_declaration namespace_use_declaration extern_crate_declaration using_directive preproc_include"
    " package_clause package_declaration php_tag declare_statement"
)
CLASSES = words("class struct union interface trait impl enum record")
CONTAINERS = CLASSES | words("module namespace")  # the definitions inside them are cut out
OVERLOAD = "overload"  # a signature without a body, above the function of the same name
NAMELESS = ""
MAX_DEPTH = 12
MAX_SIGNATURE = 160  # characters; the rest of a longer one says little
MAX_DEFINITIONS = 50_000


class Definition(NamedTuple):
    """`path` is the name, after the names of what is around it. Comments above are part of the rows; `start`
    is the row of the definition itself. `signature` is the text before the body, on one line."""

    kind: str
    path: tuple[str, ...]
    first: int
    last: int
    start: int
    signature: str
    members: tuple["Definition", ...] = ()

    @property
    def name(self) -> str:
        return self.path[-1] if self.path else ""


class _Entry(NamedTuple):
    """A definition as the walk meets it. `bytes` are where it starts and the negative of where it ends, so
    that an outer one sorts before what is inside. `is_package`: the paths of what is inside lack its name."""

    bytes: tuple[int, int]
    definition: Definition
    is_package: bool


class Layout:
    def __init__(self, lines: LineTable) -> None:
        self.quiet: set[int] = set()  # rows of comments, attributes and imports
        self._lines = lines
        self._entries: list[_Entry] = []
        # Comments that nothing stands before, last row -> first row: those with rows of their own, and those
        # that something follows on the last row.
        self._comments: dict[int, int] = {}
        self._before: dict[int, int] = {}
        self._first_rows: dict[int, int] = {}  # what `_first_row` has found
        self._overloads: dict[int, int] = {}  # row of a function -> first row of its overloads
        self._function_starts: list[int] = []
        self._function_ends: list[int] = []

    def add_comment(self, node: "Node") -> None:
        first, last = self._lines.rows(node)
        if first in self._before or self._lines.starts_row(node):
            rows = self._comments if self._lines.ends_row(node) else self._before
            rows[last] = self._before.get(first, first)
            self.quiet.update(range(first, last + 1))

    def add_import(self, node: "Node") -> None:
        first, last = self._lines.rows(node)
        self.quiet.update(range(first, last + 1))

    def define(
        self,
        kind: str,
        path: tuple[str, ...],
        node: "Node",
        signature: str,
        *,
        first: "Node | None" = None,
        last: "Node | None" = None,
        is_package: bool = False,
    ) -> None:
        """Add a definition. It begins at `first` and ends with `last` if that is not `node`: a decorator, a
        template, the other clauses of a function. The symbols inside a package lack its name."""
        if len(self._entries) < MAX_DEFINITIONS:
            if kind in CLASSES and path and path[-1] not in signature:
                signature += f" {path[-1]}"  # of a typedef it stands behind the body
            signature = signature[:MAX_SIGNATURE].rstrip(" {:=;")
            begin, end = first or node, last or node
            rows = (self._lines.rows(begin)[0], self._lines.rows(end)[1], self._lines.rows(node)[0])
            definition = Definition(kind, path, *rows, signature)
            self._entries.append(_Entry((begin.start_byte, -end.end_byte), definition, is_package))

    def hide(self, node: "Node") -> None:
        """Cut nothing out of `node`: a function or block without a name."""
        self.define(NAMELESS, (), node, "")

    def finish(self) -> tuple[Definition, ...]:
        """The outermost definitions with their members, in reading order; no two of them share a row."""
        return self._members(sorted(self._entries, key=lambda entry: entry.bytes), (), 0)

    def rows_above(self, row: int) -> int:
        """How many rows of comments, attributes and overloads belong to what starts at `row`; call `finish`
        before. Inside a function nothing is looked for."""
        at = bisect_left(self._function_starts, row) - 1
        is_inside = at >= 0 and row <= self._function_ends[at]
        return 0 if is_inside else row - self._overloads.get(row, self._first_row(row))

    def _first_row(self, row: int) -> int:
        """The first row of the comments and attributes directly above, or `row`."""
        if row not in self._first_rows:
            first = self._before.get(row, row)
            while first - 1 in self._comments:
                first = self._comments[first - 1]
            self._first_rows[row] = first
        return self._first_rows[row]

    def _members(
        self, entries: Sequence[_Entry], package: tuple[str, ...], depth: int
    ) -> tuple[Definition, ...]:
        members: list[Definition] = []
        overload: Definition | None = None  # the first of several
        at = 0
        while at < len(entries):
            (_, end), item, is_package = entries[at]
            begin, after = at + 1, bisect_left(entries, -end, at + 1, key=lambda entry: entry.bytes[0])
            at, row = after, item.first
            item = item._replace(path=(*package, *item.path), first=self._first_row(row))
            if item.kind == OVERLOAD:
                overload = overload if overload is not None and overload.path == item.path else item
                continue
            if overload is not None and overload.path == item.path:
                item = item._replace(first=overload.first)
                self._overloads[row] = overload.first
            overload = None
            if item.kind not in CONTAINERS:
                self._function_starts.append(row)
                self._function_ends.append(item.last)
                if item.kind == NAMELESS:
                    continue
            elif depth < MAX_DEPTH:
                names = item.path if is_package else package
                item = item._replace(members=self._members(entries[begin:after], names, depth + 1))
            if members and item.first <= members[-1].last:
                members[-1] = members[-1]._replace(last=max(members[-1].last, item.last))
            else:
                members.append(item)
        return tuple(members)

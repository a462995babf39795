"""Shared by every extractor: a tree walk without recursion, and a builder for the outline of one file.

An extractor walks the tree once. The handler of a node type adds symbols and imports, binds names in scopes
and records mentions. It returns the nodes to visit next, each with its scope. Mentions are resolved after the
walk, because a name may be bound below the place where it is used.

In the outline, a mention with base `name` may mean a symbol of any enclosing function or of the file. In
Python, JavaScript and TypeScript the names of a class are not visible in its methods.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from quintet.codegraph.grammar import kind_ids
from quintet.codegraph.layout import COMMENTS, IMPORTS, Definition, Layout
from quintet.codegraph.mentions import MentionResolver, PendingMention, without_repeats
from quintet.codegraph.scope import Binding, Scope, Type
from quintet.codegraph.source import ParsedSource
from quintet.model.symbols import Base, Import, Outline, Relation, Symbol, SymbolKind, Visibility

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_ITEMS = 50_000  # symbols, imports and mentions a file, each
MAX_PENDING = 4 * MAX_ITEMS  # mentions, before those of built-in and local names are dropped
MAX_SIGNATURE = 200  # characters
MAX_DOCSTRING = 500
MAX_NAME = 200  # characters; people write shorter names
MAX_PATH = 30  # nested definitions; anything deeper belongs to the last

Step = tuple["Node", Scope]
Handler = Callable[["Node", Scope], Sequence[Step]]


def handlers_by_type(node_types: Mapping[Handler, str | Iterable[str]]) -> dict[str, Handler]:
    """The handler of each node type, from the types that each handler reads: words, or a collection."""
    return {
        node_type: handler
        for handler, types in node_types.items()
        for node_type in (types.split() if isinstance(types, str) else types)
    }


def skip(_node: "Node", _scope: Scope) -> Sequence[Step]:
    """The handler of node types that are not read."""
    return ()


def _children(node: "Node", scope: Scope) -> Sequence[Step]:
    return [(child, scope) for child in node.named_children]


def _noting(note: Callable[["Node"], None], handler: Handler) -> Handler:
    def noting(node: "Node", scope: Scope) -> Sequence[Step]:
        note(node)
        return handler(node, scope)

    return noting


class Scan:
    """Builds the outline of one file. Symbol number 0 is the module; `file` is its scope."""

    def __init__(self, file: ParsedSource) -> None:
        self.root, self.source, self.path, self.language = file.root, file.source, file.path, file.language
        self.package = ""
        self.exports: list[tuple[str, str]] = []
        self.file = Scope(0)
        self.fields: dict[int, dict[str, Binding]] = {}  # by class number: what `self.name` holds
        self.layout = Layout(file.lines)
        self.definitions: tuple[Definition, ...] = ()
        self._lines = file.lines
        self._characters = file.source.decode(
            "latin-1"
        )  # one character for each byte: slices need no decoding
        self._symbols = [Symbol("module", (), 1, max(1, file.source.rstrip().count(b"\n") + 1))]
        self._imports: list[Import] = []
        self._pending: list[PendingMention] = []
        self._pending_count = 0

    # Reading

    def text(self, node: "Node") -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def name(self, node: "Node | None") -> str:
        """The text of a name; empty if there is no node, or if the text is too long for a name."""
        if node is None:
            return ""
        start, end = node.start_byte, node.end_byte
        if end - start > MAX_NAME:
            return ""
        text = self._characters[start:end]
        return text if text.isascii() else self.source[start:end].decode("utf-8", "replace")

    def line(self, node: "Node") -> int:
        return self._lines.line(node.start_byte)

    def rows(self, node: "Node") -> tuple[int, int]:
        return self._lines.rows(node)

    def starts_row(self, node: "Node") -> bool:
        return self._lines.starts_row(node)

    def signature(self, node: "Node", body: "Node | None" = None) -> str:
        """The text of `node` down to `body`, on one line."""
        end = node.end_byte if body is None else body.start_byte
        end = min(end, node.start_byte + 4 * MAX_SIGNATURE)
        text = self.source[node.start_byte : max(end, node.start_byte)].decode("utf-8", "ignore")
        return " ".join(text.split())[:MAX_SIGNATURE].removesuffix("=>").rstrip(" {:=;")

    def walk(self, handlers: Mapping[str, Handler]) -> None:
        """Visit the tree in reading order. A node without a handler is passed over, its children are
        visited."""
        ids = kind_ids(self.language)
        by_kind = {kind: handler for name, handler in handlers.items() for kind in ids.get(name, ())}
        for names, note in ((COMMENTS, self.layout.add_comment), (IMPORTS, self.layout.add_import)):
            for kind in (kind for name in names for kind in ids.get(name, ())):
                by_kind[kind] = _noting(note, by_kind.get(kind, _children))
        stack: list[Step] = [(self.root, self.file)]
        push, pop, handler_of = stack.append, stack.pop, by_kind.get
        while stack:
            node, scope = pop()
            handler = handler_of(node.kind_id)
            if handler is not None:
                next_steps = handler(node, scope)
                if next_steps:
                    stack.extend(reversed(next_steps))
                continue
            for child in reversed(node.named_children):
                if child.named_child_count or child.kind_id in by_kind:
                    push((child, scope))

    # Writing

    def add_symbol(
        self,
        kind: SymbolKind,
        name: str,
        node: "Node",
        parent: int,
        *,
        first: "Node | None" = None,
        last: "Node | None" = None,
        body: "Node | None" = None,
        inside: tuple[str, ...] = (),
        signature: str | None = None,
        docstring: str = "",
        visibility: Visibility = "public",
        is_test: bool = False,
        shown: str | None = None,
    ) -> int:
        """Add a definition that covers the lines of `node`. Returns its number, or `parent` if it cannot be
        added.

        `first` is where it begins and `last` where it ends, if that is not `node`. `inside` names its owner
        if another file defines that: the type of a method. `shown` is the kind of its chunk, empty if it has
        none of its own. By default that is what the language calls such a node, or the kind of the symbol if
        it has a body.
        """
        path = (*self._symbols[parent].path, *inside, name)
        if not name or len(path) > MAX_PATH or len(self._symbols) >= MAX_ITEMS:
            return parent
        lines = (self.line(first or node), self._lines.rows(last or node)[1] + 1)
        doc = first_paragraph(docstring) if docstring else ""
        own = self.signature(node, body)
        if shown is None:
            has_chunk = body is not None and kind != "variable"
            shown = self.language.kinds.get(node.type, kind if has_chunk else "")
        if shown:
            self.layout.define(shown, path, node, own, first=first, last=last)
        self._symbols.append(Symbol(kind, path, *lines, parent, signature or own, doc, visibility, is_test))
        return len(self._symbols) - 1

    def add_definition(self, kind: str, names: tuple[str, ...], node: "Node", scope: Scope) -> None:
        """Add something that has a chunk but is no symbol."""
        path = (*self._symbols[scope.owner].path, *names)
        self.layout.define(kind, path, node, self.signature(node, node.child_by_field_name("body")))

    def add_package(self, node: "Node", body: "Node | None") -> None:
        """Add a namespace that is the package of the file: the paths of its symbols lack its name."""
        if body is not None:
            name = self.name(node.child_by_field_name("name"))
            signature = self.signature(node, body)
            self.layout.define("namespace", (name,) if name else (), node, signature, is_package=True)

    def describe_module(self, *, docstring: str = "", is_test: bool = False) -> None:
        module, words = self._symbols[0], first_paragraph(docstring)
        self._symbols[0] = module._replace(docstring=words, is_test=is_test or module.is_test)

    def symbol_at(self, number: int) -> Symbol:
        return self._symbols[number]

    def outermost(self) -> set[str]:
        """The names of the outermost definitions."""
        return {symbol.name for symbol in self._symbols if len(symbol.path) == 1}

    def members_of(self, number: int) -> list[int]:
        return [member for member, symbol in enumerate(self._symbols) if symbol.parent == number]

    def set_visibility(self, number: int, *, visibility: Visibility) -> None:
        """Change the visibility when a later line decides it, such as an export."""
        self._symbols[number] = self._symbols[number]._replace(visibility=visibility)

    def add_import(
        self,
        scope: Scope,
        node: "Node",
        module: str,
        *,
        level: int = 0,
        name: str = "",
        alias: str = "",
        exported: bool = False,
        binds: bool = True,
    ) -> None:
        """Add an import and bind its alias, unless it only re-exports the name."""
        if len(self._imports) >= MAX_ITEMS or len(module) > MAX_NAME * 5:
            return
        self._imports.append(Import(scope.owner, self.line(node), module, level, name, alias, exported))
        if alias and binds:
            scope.bind(alias, Binding("import"))

    def mention(
        self, scope: Scope, relation: Relation, path: tuple[str, ...], node: "Node", base: Base = "name"
    ) -> None:
        """Record that `node` mentions `path`.

        With base `name`, the first name is looked up from `scope` after the walk: a local variable becomes
        its static type, or `unknown`; a `references` of a local is dropped. With base `type`, the first name
        is looked up too, and becomes `unknown` if it is a local. Other bases stay as they are. An empty path
        is ignored.
        """
        if not path or "" in path or len(path) > MAX_PATH or self._pending_count >= MAX_PENDING:
            return
        self._pending_count += 1
        if relation == "references" and base == "name":
            if path in scope.referred:
                return  # it would resolve like the first one, and then be dropped
            scope.referred.add(path)
        self._pending.append(PendingMention(scope, relation, path, node.start_byte, base))

    def mention_call_on(self, scope: Scope, type: Type, name: str, node: "Node") -> None:
        """A method call on a value that has no name; `type` is empty where the static type is unknown."""
        self.mention(scope, "calls", (*type, name), node, "type" if type else "unknown")

    def mention_computed_call(
        self,
        function: "Node",
        receiver: "Node | None",
        scope: Scope,
        member: str,
        type: Type,
        *,
        is_super: bool,
        is_literal: bool,
    ) -> Sequence[Step]:
        """A call on the value of an expression. Returns what is left to visit."""
        if receiver is None:
            return [(function, scope)]
        if is_super:
            self.mention(scope, "calls", (member,), function, "super")
        elif type or not is_literal:
            self.mention_call_on(scope, type, member, function)
        return [(receiver, scope)]

    # Resolving

    def outline(self, *, keep_unbound: bool) -> Outline:
        """The finished outline. With `keep_unbound`, names that the file does not bind are kept: they may
        come from other files of the package without an import. Otherwise they are built in and dropped."""
        self.definitions = self.layout.finish()
        resolver = MentionResolver(self._lines, self.fields, keep_unbound=keep_unbound)
        mentions = [mention for pending in self._pending for mention in resolver.resolve(pending)]
        return Outline(
            self.language.name,
            tuple(map(self._with_above, self._symbols)),
            tuple(self._imports),
            tuple(without_repeats(mentions)[:MAX_ITEMS]),
            self.package,
            tuple(dict.fromkeys(self.exports)),
        )

    def _with_above(self, symbol: Symbol) -> Symbol:
        """Of symbols that start on one row, the outermost has the rows above."""
        parent = self._symbols[symbol.parent or 0]
        if not symbol.path or (parent.path and parent.first_line == symbol.first_line):
            return symbol
        above = self.layout.rows_above(symbol.first_line - 1)
        return symbol._replace(above=above) if above else symbol

    def bind_field(self, class_number: int, name: str, type: Type, scope: Scope, *, declared: bool) -> None:
        """Record that `scope` assigns a value of `type` (empty: unknown) to `self.name` of a class."""
        fields = self.fields.setdefault(class_number, {})
        binding = Binding("variable", type, scope, declared=declared)
        if name in fields:
            fields[name].rebind(binding)
        else:
            fields[name] = binding


def first_paragraph(text: str) -> str:
    """The first paragraph of a docstring or comment on one line, cut to `MAX_DOCSTRING`."""
    lines = [line.strip() for line in text[: 8 * MAX_DOCSTRING].strip().split("\n")]
    end = lines.index("") if "" in lines else len(lines)
    return " ".join(lines[:end])[:MAX_DOCSTRING].rstrip()

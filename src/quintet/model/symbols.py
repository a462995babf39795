"""The nouns of the code graph: what a file defines, what it mentions, and the edges made of both.

A parser reads one file into an `Outline` and knows nothing of other files. Resolution turns the outlines of
a project into edges. An edge says how sure it is, because a guess shown as a fact is worse than no edge.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Literal, NamedTuple

from quintet.model.documents import digest

SymbolKind = Literal["module", "function", "method", "class", "interface", "variable"]
Visibility = Literal["public", "protected", "private"]
Relation = Literal["contains", "calls", "imports", "extends", "implements", "references"]
Confidence = Literal["exact", "likely", "possible"]
Base = Literal["name", "self", "super", "type", "unknown"]


class Symbol(NamedTuple):
    """A definition. `path` is what it is called inside its file, outermost name first; a module's is empty.

    Structs, enums, unions, records and type aliases are `class`; traits and protocols `interface`;
    constants, statics and fields that a file or class declares `variable`. `parent` is its index in
    `Outline.symbols`; the module is number 0 and has none. Lines count from 1, both ends included; `above`
    is how many lines before the first belong to it too: its comments, attributes and overload signatures.
    """

    kind: SymbolKind
    path: tuple[str, ...]
    first_line: int
    last_line: int
    parent: int | None = None
    signature: str = ""
    docstring: str = ""
    visibility: Visibility = "public"
    is_test: bool = False
    above: int = 0

    @property
    def name(self) -> str:
        return self.path[-1] if self.path else ""


class Import(NamedTuple):
    """One name brought in. `module` is as written: `pkg.mod`, `./util`, `crate::a`, `fmt`, `dir/file.h`.

    `level` counts Python's leading dots. `name` is the member brought in: empty for the module itself, `*`
    for all of it. `alias` is what it is called here (empty when nothing is bound). `exported` says that
    others may get it from this file.
    """

    owner: int
    line: int
    module: str
    level: int = 0
    name: str = ""
    alias: str = ""
    exported: bool = False


class Mention(NamedTuple):
    """A name that stands in symbol number `owner` and may mean a symbol elsewhere.

    `base` says what `path[0]` is:
    `name`: a name to look up in the enclosing scopes, the imports, the package; the parser has seen to it
    that no parameter or local variable hides it;
    `self`: a member of the enclosing class or one it inherits; `super`: of what that class inherits only;
    `type`: `path[:-1]` names the static type of the receiver (declared or just constructed), `path[-1]`
    is the member;
    `unknown`: only `path[-1]` is known, the receiver could be anything.
    """

    owner: int
    relation: Relation
    path: tuple[str, ...]
    line: int
    base: Base = "name"


@dataclass(frozen=True, slots=True)
class Outline:
    """What one file defines and mentions. `package` is what the file itself says it belongs to (Java, Go,
    C#, PHP). `exports` are (name outside, name inside) where the two can differ, such as `default`."""

    language: str
    symbols: tuple[Symbol, ...] = ()
    imports: tuple[Import, ...] = ()
    mentions: tuple[Mention, ...] = ()
    package: str = ""
    exports: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class FileOutline:
    """An outline with the document it was read from; `path` is relative to its root."""

    document_id: str
    path: str
    outline: Outline


def node_ids(document_id: str, outline: Outline) -> tuple[str, ...]:
    """The node id of each symbol. A module goes by its document's id, as every document does in the graph;
    what is defined twice under one name (overloads) is told apart by how often it stood before."""
    seen: Counter[tuple[str, ...]] = Counter()
    ids = []
    for symbol in outline.symbols:
        ids.append(digest(document_id, *symbol.path, str(seen[symbol.path])) if symbol.path else document_id)
        seen[symbol.path] += 1
    return tuple(ids)


@dataclass(frozen=True, slots=True)
class Edge:
    """A directed relation between two nodes by their ids, and the line of the source it was read off."""

    source: str
    target: str
    relation: Relation
    confidence: Confidence
    line: int

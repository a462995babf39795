"""The out-edges of one file of code: what each import and each mention resolves to."""

from collections.abc import Iterable

from quintet.codegraph.resolve.common_members import COMMON_MEMBERS
from quintet.codegraph.resolve.documents import find_named
from quintet.codegraph.resolve.hierarchy import Hierarchy
from quintet.codegraph.resolve.members import Members
from quintet.codegraph.resolve.project import Name, Namespace, Project, ProjectFile, SymbolPlace, Thing
from quintet.codegraph.resolve.resolution import (
    FOREIGN,
    STRENGTH,
    UNKNOWN,
    Resolution,
    either,
    exactly,
    weaker,
)
from quintet.codegraph.resolve.scopes import Scopes
from quintet.model.symbols import Base, Confidence, Edge, Import, Mention, Relation, SymbolKind

MAX_CANDIDATES = 8  # with more, a name is too common to guess by
Targets = tuple[list[str], Confidence]  # node ids, and their common confidence

_KINDS: dict[Relation, set[SymbolKind]] = {
    "calls": {"function", "method", "class"},
    "extends": {"class", "interface"},
    "implements": {"class", "interface"},
    "references": {"function", "method", "class", "interface", "variable"},
}
_HEADER: set[Relation] = {
    "extends",
    "implements",
}  # in the header of a class, where its own scope does not count
_LOOKED_UP: set[Base] = {"name", "type", "unknown"}  # depend on their scope only by their first name


class Edges:
    def __init__(self, project: Project) -> None:
        self.project = project
        self.members = Members(project)
        self.hierarchy = Hierarchy(project, self.members)
        self.scopes = Scopes(project, self.members, self.hierarchy.member)
        self._candidates: dict[tuple[str, str, Relation, bool], Resolution] = {}
        self._targets: dict[tuple[int, int, Relation, Name, Base], Targets] = {}

    def of(self, number: int) -> list[Edge]:
        file = self.project.files[number]
        own, edges = file.document_id, contains_edges(file)
        for imported in file.outline.imports:
            targets, confidence = self._nodes(self._resolve_import(number, imported), "imports")
            edges += [
                Edge(own, target, "imports", confidence, imported.line) for target in targets if target != own
            ]
        for mention in file.outline.mentions:
            edges += self.of_mention(number, mention)
        self._targets.clear()  # no other file uses these keys
        return edges

    def of_mention(self, number: int, mention: Mention) -> list[Edge]:
        """The edges of a mention. A name means the same on every line of a scope, so it is resolved once."""
        file = self.project.files[number]
        owner, relation, path, line, base = mention
        scope = file.scope_for(owner, path[0]) if base in _LOOKED_UP and relation not in _HEADER else owner
        key = (number, scope, relation, path, base)
        cached = self._targets.get(key)
        if cached is None:
            cached = self._targets[key] = self._nodes(self._resolve_mention(number, mention), relation)
        targets, confidence = cached
        if not targets:
            return []
        source = file.ids[owner] if owner else file.document_id
        return [Edge(source, target, relation, confidence, line) for target in targets]

    def _nodes(self, answer: Resolution, relation: Relation) -> Targets:
        places = self._places(answer.things, relation)
        return [self.project.id_of(place) for place in places], answer.confidence

    def _places(self, things: Iterable[Thing], relation: Relation) -> list[SymbolPlace]:
        """The nodes for `things`. A package has a node for each file, and only an import can mean it."""
        places: list[SymbolPlace] = []
        for thing in things:
            if isinstance(thing, SymbolPlace):
                places.append(thing)
            elif relation == "imports":
                files = self.project.packages.get((thing.family, thing.name), [])
                places += [SymbolPlace(file, 0) for file in files]
        return places if len(places) <= MAX_CANDIDATES else []

    # Imports

    def _resolve_import(self, number: int, imported: Import) -> Resolution:
        """The member that an import names, or else its module."""
        module = self.members.module(number, imported)
        if imported.name in ("", "*") or not module.things:
            return module
        member = self.members.imported(number, imported)
        own = member.things and member.things != (SymbolPlace(number, 0),)
        return member if own else module

    # Mentions

    def _resolve_mention(self, number: int, mention: Mention) -> Resolution:
        file = self.project.files[number]
        if not file.family:
            return find_named(self.project, self.members, file, mention.path)
        if mention.relation in _HEADER:
            resolution = self.hierarchy.base(number, mention)
        elif mention.base == "unknown":
            resolution = UNKNOWN
        elif mention.base in ("self", "super"):
            resolution = self._of_self(number, mention)
        elif mention.base == "type" and len(mention.path) > 1:
            resolution = self._of_type(number, mention)
        else:
            resolution = self.scopes.path(number, mention.owner, mention.path)
        if resolution.things:
            return self._weigh(resolution, mention.relation)
        if resolution.settled or mention.base == "super":  # a guess would be the method that calls `super`
            return FOREIGN
        return self._guess(number, mention, resolution.confidence)

    def _weigh(self, resolution: Resolution, relation: Relation) -> Resolution:
        things = (
            tuple(self._default(thing) for thing in resolution.things) if relation != "references" else ()
        )
        resolution = Resolution(things or resolution.things, resolution.confidence)
        called = [
            thing for thing in resolution.things if isinstance(thing, SymbolPlace) and relation == "calls"
        ]
        if any(self.project.symbol(place).kind == "variable" for place in called):
            return resolution.at_most("likely")  # the value of the variable is called
        return resolution

    def _default(self, thing: Thing) -> Thing:
        """A script's module that is called or extended means its `default` export."""
        if isinstance(thing, Namespace) or thing.symbol or self.project.files[thing.file].family != "script":
            return thing
        default = self.members.of(thing, "default")
        return default.things[0] if len(default.things) == 1 else thing

    def _of_self(self, number: int, mention: Mention) -> Resolution:
        member_of = self.hierarchy.inherited if mention.base == "super" else self.hierarchy.member
        classes = self.hierarchy.enclosing_class(number, mention.owner)
        resolution = either(
            member_of(c, mention.path[0]) for c in classes.things if isinstance(c, SymbolPlace)
        )
        for name in mention.path[1:]:
            if not resolution.things:
                return resolution
            resolution = either(self.scopes.member(thing, name) for thing in resolution.things)
        return resolution.at_most(classes.confidence) if classes.things else UNKNOWN

    def _of_type(self, number: int, mention: Mention) -> Resolution:
        """A member of a receiver of known class. What a function returns is unknown."""
        types = self.scopes.path(number, mention.owner, mention.path[:-1])
        if not types.things:
            return types
        values = ("function", "method", "variable")
        places = [thing for thing in types.things if isinstance(thing, SymbolPlace)]
        if any(self.project.symbol(place).kind in values for place in places):
            inside = either(self.members.of(thing, mention.path[-1]) for thing in types.things)
            return inside.at_most(types.confidence) if inside.things else UNKNOWN
        in_python = self.project.files[number].family == "python"
        if len({self.project.qualified(place) for place in places}) == 1 < len(places) and not in_python:
            return self.scopes.member(places[0], mention.path[-1])
        resolution = either(self.scopes.member(thing, mention.path[-1]) for thing in types.things)
        return resolution.at_most(types.confidence)

    # Guesses

    def _guess(self, number: int, mention: Mention, ceiling: Confidence) -> Resolution:
        """By the last name alone: likely if the project has one such definition, possible if it has a few."""
        family, name = self.project.files[number].family, mention.path[-1]
        is_bare = mention.base == "name" and len(mention.path) == 1
        key = (family, name, mention.relation, is_bare)
        if key not in self._candidates:
            self._candidates[key] = self._candidates_named(family, name, mention.relation, is_bare)
        candidates = self._candidates[key].at_most(weaker(ceiling, "likely"))
        if is_bare or name not in COMMON_MEMBERS:
            return candidates
        return candidates.at_most("possible") if len(candidates.things) == 1 else FOREIGN

    def _candidates_named(self, family: str, name: str, relation: Relation, is_bare: bool) -> Resolution:
        """The definitions of that name that the mention can mean."""
        places = self.project.by_name.get((family, name), ())
        fits = [place for place in places if self._fits(place, relation, is_bare)]
        fits = self.members.definitions(fits) if family == "c" else fits
        return exactly(fits) if len(fits) <= MAX_CANDIDATES else FOREIGN

    def _fits(self, place: SymbolPlace, relation: Relation, is_bare: bool) -> bool:
        """A bare name cannot mean a member of a class, unless the language has an implicit `self`; a
        member's name must."""
        file, symbol = self.project.files[place.file], self.project.symbol(place)
        parent = file.symbol(symbol.parent or 0)
        if symbol.kind not in _KINDS.get(relation, ()) or parent.kind in ("function", "method"):
            return False
        is_in_class = parent.kind != "module" or parent.path != symbol.path[:-1]
        is_member = is_in_class or symbol.kind == "method"  # in Ruby a module has methods too
        if file.family == "c" and symbol.visibility == "private" and not is_member:
            return False  # no other file can see it
        return (not is_member or file.rules.implicit_self) if is_bare else is_member


def contains_edges(file: ProjectFile) -> list[Edge]:
    symbols = file.outline.symbols
    if len(symbols) < 2:  # nearly all prose
        return []
    ids = file.ids
    return [
        Edge(ids[symbol.parent or 0], node, "contains", "exact", symbol.first_line)
        for node, symbol in zip(ids[1:], symbols[1:], strict=True)
    ]


def keep_strongest(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """Keep the most certain edge of each relation between two nodes on a line, in a fixed order."""
    by_key: dict[tuple[str, str, str, int], Edge] = {}
    for edge in edges:
        key = (edge.source, edge.target, edge.relation, edge.line)
        known = by_key.get(key)
        if known is None or STRENGTH[edge.confidence] < STRENGTH[known.confidence]:
            by_key[key] = edge
    return tuple(by_key[key] for key in sorted(by_key))

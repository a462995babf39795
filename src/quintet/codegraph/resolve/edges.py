"""The out-edges of one file of code: what each import and each mention resolves to."""

from collections.abc import Iterable

from quintet.codegraph.resolve.answer import FOREIGN, STRENGTH, UNKNOWN, Answer, either, exactly, weaker
from quintet.codegraph.resolve.common_members import COMMON_MEMBERS
from quintet.codegraph.resolve.documents import named
from quintet.codegraph.resolve.hierarchy import Hierarchy
from quintet.codegraph.resolve.members import Members
from quintet.codegraph.resolve.project import File, Name, Place, Project, Space, Thing
from quintet.codegraph.resolve.scopes import Scopes
from quintet.model.symbols import Base, Confidence, Edge, Import, Mention, Relation, SymbolKind

MAX_CANDIDATES = 8  # beyond them a name says nothing
Targets = tuple[list[str], Confidence]  # node ids, and how sure they all are

_KINDS: dict[Relation, set[SymbolKind]] = {
    "calls": {"function", "method", "class"},
    "extends": {"class", "interface"},
    "implements": {"class", "interface"},
    "references": {"function", "method", "class", "interface", "variable"},
}
_HEADER: set[Relation] = {"extends", "implements"}  # said of a class where its own scope does not count yet
_LOOKED_UP: set[Base] = {"name", "type", "unknown"}  # hang on their scope by their first name alone


class Edges:
    def __init__(self, project: Project) -> None:
        self.project = project
        self.members = Members(project)
        self.hierarchy = Hierarchy(project, self.members)
        self.scopes = Scopes(project, self.members, self.hierarchy.member)
        self._candidates: dict[tuple[str, str, Relation, bool], Answer] = {}
        self._targets: dict[tuple[int, int, Relation, Name, Base], Targets] = {}

    def of(self, number: int) -> list[Edge]:
        file = self.project.files[number]
        own, edges = file.document_id, contained(file)
        for imported in file.outline.imports:
            targets, confidence = self._nodes(self._brought_in(number, imported), "imports")
            edges += [
                Edge(own, target, "imports", confidence, imported.line) for target in targets if target != own
            ]
        for mention in file.outline.mentions:
            edges += self.of_mention(number, mention)
        self._targets.clear()  # of other files nothing is asked with these keys
        return edges

    def of_mention(self, number: int, mention: Mention) -> list[Edge]:
        """What one name means is the same on every line from which it is seen alike: it is found once."""
        file = self.project.files[number]
        owner, relation, path, line, base = mention
        scope = file.seen_from(owner, path[0]) if base in _LOOKED_UP and relation not in _HEADER else owner
        key = (number, scope, relation, path, base)
        found = self._targets.get(key)
        if found is None:
            found = self._targets[key] = self._nodes(self._meant(number, mention), relation)
        targets, confidence = found
        if not targets:
            return []
        source = file.ids[owner] if owner else file.document_id
        return [Edge(source, target, relation, confidence, line) for target in targets]

    def _nodes(self, answer: Answer, relation: Relation) -> Targets:
        places = self._places(answer.things, relation)
        return [self.project.id_of(place) for place in places], answer.confidence

    def _places(self, things: Iterable[Thing], relation: Relation) -> list[Place]:
        """The nodes that stand for `things`: a package's are its files, and only an import means them."""
        places: list[Place] = []
        for thing in things:
            if isinstance(thing, Place):
                places.append(thing)
            elif relation == "imports":
                files = self.project.packages.get((thing.family, thing.name), [])
                places += [Place(file, 0) for file in files]
        return places if len(places) <= MAX_CANDIDATES else []

    # Imports

    def _brought_in(self, number: int, imported: Import) -> Answer:
        """The member an import names, or else the module it names it of."""
        module = self.members.module(number, imported)
        if imported.name in ("", "*") or not module.things:
            return module
        found = self.members.imported(number, imported)
        own = found.things and found.things != (Place(number, 0),)
        return found if own else module

    # Mentions

    def _meant(self, number: int, mention: Mention) -> Answer:
        file = self.project.files[number]
        if not file.family:
            return named(self.project, self.members, file, mention.path)
        if mention.relation in _HEADER:
            found = self.hierarchy.base(number, mention)
        elif mention.base == "unknown":
            found = UNKNOWN
        elif mention.base in ("self", "super"):
            found = self._of_self(number, mention)
        elif mention.base == "type" and len(mention.path) > 1:
            found = self._of_type(number, mention)
        else:
            found = self.scopes.path(number, mention.owner, mention.path)
        if found.things:
            return self._weighed(found, mention.relation)
        if found.settled or mention.base == "super":  # a guess would be the method that says `super`
            return FOREIGN
        return self._guess(number, mention, found.confidence)

    def _weighed(self, found: Answer, relation: Relation) -> Answer:
        things = tuple(self._default(thing) for thing in found.things) if relation != "references" else ()
        found = Answer(things or found.things, found.confidence)
        called = [thing for thing in found.things if isinstance(thing, Place) and relation == "calls"]
        if any(self.project.symbol(place).kind == "variable" for place in called):
            return found.at_most("likely")  # it is the variable's value that is called
        return found

    def _default(self, thing: Thing) -> Thing:
        """A script's module that is called or extended is what it exports as `default`."""
        if isinstance(thing, Space) or thing.symbol or self.project.files[thing.file].family != "script":
            return thing
        found = self.members.of(thing, "default")
        return found.things[0] if len(found.things) == 1 else thing

    def _of_self(self, number: int, mention: Mention) -> Answer:
        seen = self.hierarchy.inherited if mention.base == "super" else self.hierarchy.member
        classes = self.hierarchy.enclosing_class(number, mention.owner)
        found = either(seen(c, mention.path[0]) for c in classes.things if isinstance(c, Place))
        for name in mention.path[1:]:
            if not found.things:
                return found
            found = either(self.scopes.member(thing, name) for thing in found.things)
        return found.at_most(classes.confidence) if classes.things else UNKNOWN

    def _of_type(self, number: int, mention: Mention) -> Answer:
        """A member of a receiver whose class is known. What a function gives back is not known."""
        types = self.scopes.path(number, mention.owner, mention.path[:-1])
        if not types.things:
            return types
        values = ("function", "method", "variable")
        places = [thing for thing in types.things if isinstance(thing, Place)]
        if any(self.project.symbol(place).kind in values for place in places):
            inside = either(self.members.of(thing, mention.path[-1]) for thing in types.things)
            return inside.at_most(types.confidence) if inside.things else UNKNOWN
        in_python = self.project.files[number].family == "python"
        if len({self.project.qualified(place) for place in places}) == 1 < len(places) and not in_python:
            return self.scopes.member(places[0], mention.path[-1])
        found = either(self.scopes.member(thing, mention.path[-1]) for thing in types.things)
        return found.at_most(types.confidence)

    # Guesses

    def _guess(self, number: int, mention: Mention, ceiling: Confidence) -> Answer:
        """By its last name alone: likely if the project has one such definition, possible if it has a few."""
        family, name = self.project.files[number].family, mention.path[-1]
        is_bare = mention.base == "name" and len(mention.path) == 1
        key = (family, name, mention.relation, is_bare)
        if key not in self._candidates:
            self._candidates[key] = self._called(family, name, mention.relation, is_bare)
        found = self._candidates[key].at_most(weaker(ceiling, "likely"))
        if is_bare or name not in COMMON_MEMBERS:
            return found
        return found.at_most("possible") if len(found.things) == 1 else FOREIGN

    def _called(self, family: str, name: str, relation: Relation, is_bare: bool) -> Answer:
        """The definitions of that name that can be meant."""
        places = self.project.by_name.get((family, name), ())
        fits = [place for place in places if self._fits(place, relation, is_bare)]
        fits = self.members.definitions(fits) if family == "c" else fits
        return exactly(fits) if len(fits) <= MAX_CANDIDATES else FOREIGN

    def _fits(self, place: Place, relation: Relation, is_bare: bool) -> bool:
        """A bare name means no member of a class, unless the language sees those too; a member's does."""
        file, symbol = self.project.files[place.file], self.project.symbol(place)
        parent = file.symbol(symbol.parent or 0)
        if symbol.kind not in _KINDS.get(relation, ()) or parent.kind in ("function", "method"):
            return False
        is_in_class = parent.kind != "module" or parent.path != symbol.path[:-1]
        is_member = is_in_class or symbol.kind == "method"  # in Ruby a module has methods too
        if file.family == "c" and symbol.visibility == "private" and not is_member:
            return False  # no other file can see it
        return (not is_member or file.rules.implicit_self) if is_bare else is_member


def contained(file: File) -> list[Edge]:
    symbols = file.outline.symbols
    if len(symbols) < 2:  # nearly all prose
        return []
    ids = file.ids
    return [
        Edge(ids[symbol.parent or 0], node, "contains", "exact", symbol.first_line)
        for node, symbol in zip(ids[1:], symbols[1:], strict=True)
    ]


def strongest(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """In a fixed order, each relation of two nodes on a line once: the surest."""
    kept: dict[tuple[str, str, str, int], Edge] = {}
    for edge in edges:
        key = (edge.source, edge.target, edge.relation, edge.line)
        known = kept.get(key)
        if known is None or STRENGTH[edge.confidence] < STRENGTH[known.confidence]:
            kept[key] = edge
    return tuple(kept[key] for key in sorted(kept))

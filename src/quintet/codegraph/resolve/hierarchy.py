"""The members of a class and of its bases, in the order in which the language looks."""

from collections import defaultdict
from collections.abc import Iterator

from quintet.codegraph.resolve.members import Members
from quintet.codegraph.resolve.project import Project, SymbolPlace
from quintet.codegraph.resolve.resolution import DOUBTFUL, UNKNOWN, Resolution, either, exactly, weaker
from quintet.codegraph.resolve.scopes import Scopes
from quintet.model.symbols import Confidence, Mention

# Bases outside the project whose methods do not hide those of the project.
HARMLESS_BASES = frozenset({"object", "ABC", "Generic", "Protocol", "Object"})
Ancestor = tuple[SymbolPlace | None, Confidence]  # None: a class outside the project


class Hierarchy:
    def __init__(self, project: Project, members: Members) -> None:
        self.project, self.members = project, members
        self.plain_scopes = Scopes(project, members, members.of_class)
        self._orders: dict[SymbolPlace, list[Ancestor]] = {}
        self._impls: dict[SymbolPlace, dict[str, list[SymbolPlace]]] | None = None

    def member(self, place: SymbolPlace, name: str) -> Resolution:
        return self._first(self.order(place), name)

    def inherited(self, place: SymbolPlace, name: str) -> Resolution:
        """The member that `super` finds: the class itself is left out."""
        return self._first(self.order(place)[1:], name)

    def _first(self, order: list[Ancestor], name: str) -> Resolution:
        confidence: Confidence = "exact"
        for ancestor, sureness in order:
            if ancestor is None:
                confidence = "likely"
                continue
            resolution = self._own(ancestor, name)
            if resolution.things:
                return resolution.at_most(weaker(confidence, sureness))
        return UNKNOWN if confidence == "exact" else DOUBTFUL

    def _own(self, place: SymbolPlace, name: str) -> Resolution:
        resolution = self.members.of_class(place, name)
        if resolution.things or self.project.files[place.file].family != "rust":
            return resolution
        elsewhere = self.impls().get(place, {}).get(name, ())
        return exactly(elsewhere) if elsewhere else UNKNOWN

    def impls(self) -> dict[SymbolPlace, dict[str, list[SymbolPlace]]]:
        """Methods of Rust by their type, where another file defines the type."""
        if self._impls is None:
            self._impls = defaultdict(lambda: defaultdict(list))
            for number, file in enumerate(self.project.files):
                for path, symbol in file.numbers.items() if file.family == "rust" else ():
                    if len(path) > 1 and path[:-1] not in file.numbers:
                        for thing in self.plain_scopes.path(number, 0, path[:-1]).things[:1]:
                            if isinstance(thing, SymbolPlace):
                                self._impls[thing][path[-1]].append(SymbolPlace(number, symbol))
        return self._impls

    def order(self, place: SymbolPlace) -> list[Ancestor]:
        """The class, then its bases, each after everything that extends it; left bases first. This is
        Python's order wherever Python defines one. It also terminates for a class that extends itself."""
        if place not in self._orders:
            done: list[Ancestor] = []
            visited = {place}
            stack: list[tuple[Ancestor, Iterator[Ancestor]]] = [((place, "exact"), self._bases(place))]
            while stack:
                current, bases = stack[-1]
                base = next(bases, None)
                if base is None:
                    done.append(current)
                    stack.pop()
                elif base[0] is None:
                    done.append(base)
                elif base[0] not in visited:
                    visited.add(base[0])
                    sureness = weaker(base[1], current[1])
                    stack.append(((base[0], sureness), self._bases(base[0])))
            self._orders[place] = done[::-1]
        return self._orders[place]

    def _bases(self, place: SymbolPlace) -> Iterator[Ancestor]:
        """The bases of a class from right to left; Ruby's from the superclass to the last mixin."""
        file = self.project.files[place.file]
        parts = [place]
        if file.rules.open_classes:
            parts = self.project.symbols[file.family, self.project.qualified(place)]
        mentions = [
            (part, mention)
            for relation in ("extends", "implements")
            for part in parts
            for mention in self.project.files[part.file].bases.get(part.symbol, ())
            if mention.relation == relation
        ]
        for part, mention in mentions if file.family == "ruby" else reversed(mentions):
            resolution = self.base(part.file, mention)
            if resolution.things or mention.path[-1] not in HARMLESS_BASES:
                yield self._ancestor(resolution)

    def base(self, number: int, mention: Mention) -> Resolution:
        """What a class extends. Names inside the class do not count in its header."""
        parent = self.project.files[number].symbol(mention.owner).parent or 0
        if mention.base == "unknown" or not mention.path:
            return UNKNOWN
        resolution = self.plain_scopes.path(number, parent, mention.path)
        return self._with_mixins(resolution) if self.project.files[number].family == "ruby" else resolution

    def _with_mixins(self, resolution: Resolution) -> Resolution:
        """Modules of Ruby are bases too; the first place that opens one stands for it."""
        opened: list[SymbolPlace] = []
        for thing in resolution.things:
            if isinstance(thing, SymbolPlace):
                opened.append(thing)
            else:
                opened += self.project.symbols.get(("ruby", thing.name), [])[:1]
        return resolution._replace(things=tuple(opened))

    def _is_base(self, place: SymbolPlace) -> bool:
        """Whether a class can inherit its members and `self` sees them. In Ruby this includes modules."""
        kind = self.project.symbol(place).kind
        in_ruby = self.project.files[place.file].family == "ruby"
        return kind in ("class", "interface") or (in_ruby and kind == "module" and place.symbol > 0)

    def _ancestor(self, resolution: Resolution) -> Ancestor:
        places = [thing for thing in resolution.things if isinstance(thing, SymbolPlace)]
        places = [place for place in places if self._is_base(place)]
        if not places or len({self.project.qualified(place) for place in places}) > 1:
            return (None, "exact")
        parts = len(places) > 1 and self.project.files[places[0].file].family != "python"
        same = parts and len(places) == len(resolution.things)
        confidence = "exact" if same else resolution.confidence
        return (places[0], confidence)

    def enclosing_class(self, number: int, owner: int) -> Resolution:
        """The class that `owner` is or belongs to, even if its method is written outside the class."""
        file = self.project.files[number]
        for scope in file.scopes(owner):
            symbol = file.symbol(scope)
            if self._is_base(SymbolPlace(number, scope)):
                return exactly([SymbolPlace(number, scope)])
            if not scope or symbol.kind == "module":
                break
            parent = file.symbol(symbol.parent or 0)
            if parent.path != symbol.path[:-1]:
                return self._class_of(number, symbol.path[:-1])
        return UNKNOWN

    def _class_of(self, number: int, path: tuple[str, ...]) -> Resolution:
        file = self.project.files[number]
        places = self.project.symbols.get((file.family, file.home + path), ())
        resolution = exactly(places) if places else self.plain_scopes.path(number, 0, path)
        classes = [thing for thing in resolution.things if isinstance(thing, SymbolPlace)]
        if len({self.project.qualified(place) for place in classes}) == 1:
            classes = classes[:1]
        return either(exactly([place]) for place in classes) if classes else UNKNOWN

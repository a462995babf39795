"""What a name means where it is used: enclosing scopes, imports, the package, included files."""

from collections.abc import Callable, Iterator

from quintet.codegraph.resolve.imports import import_resolver
from quintet.codegraph.resolve.members import Members
from quintet.codegraph.resolve.project import Name, Namespace, Project, ProjectFile, SymbolPlace, Thing
from quintet.codegraph.resolve.resolution import DOUBTFUL, FOREIGN, UNKNOWN, Resolution, either, exactly
from quintet.model.symbols import SymbolKind

_TYPES: set[SymbolKind] = {"class", "interface"}


class Scopes:
    """`member_of_class` decides whether inherited members are seen."""

    def __init__(
        self, project: Project, members: Members, member_of_class: Callable[[SymbolPlace, str], Resolution]
    ) -> None:
        self.project, self.members, self.member_of_class = project, members, member_of_class
        self._found: dict[tuple[int, int, str], Resolution] = {}
        self._visible: dict[int, frozenset[int]] = {}
        self._stems: dict[int, frozenset[str]] = {}

    # Paths

    def path(self, number: int, owner: int, path: Name) -> Resolution:
        """What `a.b.c` means in symbol `owner` of file `number`."""
        resolution, rest = self._head(number, owner, path)
        for name in rest:
            if not resolution.things:
                return resolution
            resolution = self._step(resolution, name)
        return resolution

    def _step(self, resolution: Resolution, name: str) -> Resolution:
        """The member of what was resolved so far; parts of one class or namespace count as one thing."""
        things = resolution.things
        places = [thing for thing in things if isinstance(thing, SymbolPlace)]
        if len(things) > 1 and len(places) == len(things) and self._is_one(places):
            return self.member(places[0], name)
        member = either(self.member(thing, name) for thing in things)
        return member.at_most(resolution.confidence)

    def _is_one(self, places: list[SymbolPlace]) -> bool:
        names = {self.project.qualified(place) for place in places}
        return len(names) == 1 and self.project.files[places[0].file].rules.open_classes

    def member(self, thing: Thing, name: str) -> Resolution:
        if isinstance(thing, SymbolPlace) and self.project.symbol(thing).kind in _TYPES:
            return self.member_of_class(thing, name)
        return self.members.of(thing, name)

    def _head(self, number: int, owner: int, path: Name) -> tuple[Resolution, Name]:
        """What the start of the path means, and the rest of the path."""
        file = self.project.files[number]
        imports = import_resolver(file.family)
        heads = 0
        while heads < len(path) and path[heads] in imports.heads:
            heads += 1
        if not heads:
            return self.lookup(number, owner, path[0]), path[1:]
        resolution = imports.find_path(self.project, file, file.module_of(owner), path[:heads])
        own = {
            SymbolPlace(number, 0) if self._is_root_of(number, thing) else thing: None
            for thing in resolution.things
        }
        return exactly(own), path[heads:]

    def _is_root_of(self, number: int, thing: Thing) -> bool:
        files = self.project.files
        return (
            isinstance(thing, SymbolPlace)
            and not thing.symbol
            and files[thing.file].home == files[number].home
        )

    # Names

    def lookup(self, number: int, owner: int, name: str) -> Resolution:
        scope = self.project.files[number].scope_for(owner, name)
        key = (number, scope, name)
        if key not in self._found:
            self._found[key] = self._lookup(number, scope, name)
        return self._found[key]

    def _lookup(self, number: int, owner: int, name: str) -> Resolution:
        file = self.project.files[number]
        scopes = self._scopes(file, owner)
        for scope in scopes:
            resolution = self._in_scope(number, scope, owner, name)
            if resolution is not None:
                return resolution
        for scope in scopes if file.stars else ():
            resolution = self._from_stars(number, scope, name)
            if resolution is not None and resolution.things:
                return resolution
        around = self._around(number, owner, name)
        if around.things or around.settled:
            return around
        if name in file.builtins:
            return FOREIGN
        unsure = any(not self.members.module(number, star).things for star in file.stars)
        return DOUBTFUL if unsure and not file.rules.passes_includes_on else around

    def _scopes(self, file: ProjectFile, owner: int) -> tuple[int, ...]:
        """The scopes around `owner`, innermost first. A module of Rust does not see what is outside it."""
        scopes = file.scopes(owner)
        if file.family == "rust":
            for at, scope in enumerate(scopes, 1):
                if scope and file.symbol(scope).kind == "module":
                    return scopes[:at]
        return scopes

    def _in_scope(self, number: int, scope: int, owner: int, name: str) -> Resolution | None:
        file = self.project.files[number]
        kind = file.symbol(scope).kind
        if scope and (kind in _TYPES or (kind == "module" and file.family == "ruby")):
            if file.rules.implicit_self:
                member = self.member_of_class(SymbolPlace(number, scope), name)
                return member if member.things else None
            if file.family != "python" or scope != owner:
                return None
        return self.members.bound_inside(SymbolPlace(number, scope), name)

    def _from_stars(self, number: int, scope: int, name: str) -> Resolution | None:
        if not self.project.files[number].rules.star_names:
            return None
        return self.members.star_imported(SymbolPlace(number, scope), name, set())

    # Beyond the file

    def _around(self, number: int, owner: int, name: str) -> Resolution:
        file = self.project.files[number]
        if file.rules.home != "file":
            return self._around_package(number, owner, name)
        resolution = import_resolver(file.family).find_path(self.project, file, file.home, (name,))
        return resolution if resolution.things else UNKNOWN

    def _around_package(self, number: int, owner: int, name: str) -> Resolution:
        file = self.project.files[number]
        for prefix in self._prefixes(file, owner):
            places = self.project.symbols.get((file.family, (*prefix, name)))
            if places:
                return self._choose(number, places)
        space = Namespace(file.family, (name,))
        return Resolution((space,)) if space in self.project.spaces else UNKNOWN

    def _prefixes(self, file: ProjectFile, owner: int) -> Iterator[Name]:
        """The names that may qualify a bare name: of the enclosing classes and namespaces."""
        whole = file.home + (file.symbol(owner).path if file.outline.symbols else ())
        last = 0 if file.rules.nested_namespaces else len(file.home)
        for length in range(len(whole), last - 1, -1):
            yield whole[:length]
        if file.family == "php" and file.home:
            yield ()

    def _choose(self, number: int, places: list[SymbolPlace]) -> Resolution:
        """Of definitions with one qualified name: this file's, or else those that the language lets it
        see."""
        here = [place for place in places if place.file == number]
        if here:
            return exactly(here)
        file = self.project.files[number]
        if not file.rules.passes_includes_on:
            kinds = {self.project.symbol(place).kind for place in places}
            if kinds == {"module"}:
                return Resolution((Namespace(file.family, self.project.qualified(places[0])),))
            return exactly(places)
        return self._choose_visible(number, places)

    def _choose_visible(self, number: int, places: list[SymbolPlace]) -> Resolution:
        files, visible = self.project.files, self.visible(number)
        in_view = [place for place in places if place.file in visible]
        declared = {place.file for place in in_view}
        stems = self._visible_stems(number)
        public = [p for p in places if self.project.symbol(p).visibility != "private" or p.file in visible]
        partners = [
            place
            for place in self.members.definitions(public)
            if place.file in visible
            or declared & self.visible(place.file)
            or _stem(files[place.file].path) in stems
        ]
        resolution = exactly(partners or in_view)
        return resolution if resolution.things else UNKNOWN

    def visible(self, number: int) -> frozenset[int]:
        """The files that a C or shell file includes, directly or not, and the file itself."""
        if number not in self._visible:
            visited, queue = {number}, [number]
            while queue:
                current = queue.pop()
                for imported in self.project.files[current].stars:
                    for thing in self.members.module(current, imported).things[:1]:
                        if isinstance(thing, SymbolPlace) and thing.file not in visited:
                            visited.add(thing.file)
                            queue.append(thing.file)
            self._visible[number] = frozenset(visited)
        return self._visible[number]

    def _visible_stems(self, number: int) -> frozenset[str]:
        if number not in self._stems:
            paths = (self.project.files[file].path for file in self.visible(number))
            self._stems[number] = frozenset(_stem(path) for path in paths)
        return self._stems[number]


def _stem(path: str) -> str:
    return path.rsplit("/", 1)[-1].split(".")[0]

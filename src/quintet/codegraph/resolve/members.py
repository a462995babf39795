"""What a module, namespace or class defines under a name, through imports and re-exports."""

from quintet.codegraph.resolve.imports import import_resolver
from quintet.codegraph.resolve.project import Namespace, Project, ProjectFile, SymbolPlace, Thing
from quintet.codegraph.resolve.resolution import DOUBTFUL, FOREIGN, UNKNOWN, Resolution, either, exactly
from quintet.model.symbols import Import

MAX_HOPS = 50  # re-exports from file to file; people write shorter chains
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".h++")
Trail = set[tuple[int, int, str]]


class Members:
    """Looks at what a class itself defines, never at what it inherits."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._found: dict[tuple[Thing, str], Resolution] = {}
        self._modules: dict[tuple[int, int, str, int], Resolution] = {}
        self._inside: dict[tuple[SymbolPlace, str], Resolution | None] = {}

    def of(self, thing: Thing, name: str) -> Resolution:
        key = (thing, name)
        if key not in self._found:
            self._found[key] = self._of(thing, name, set())
        return self._found[key]

    def _of(self, thing: Thing, name: str, trail: Trail) -> Resolution:
        if isinstance(thing, Namespace):
            return self._of_space(thing, name)
        if self.project.symbol(thing).kind == "module":
            return self._of_module(thing, name, trail)
        return self.of_class(thing, name)

    # Classes and namespaces

    def of_class(self, place: SymbolPlace, name: str) -> Resolution:
        """A member that the class itself defines; for anything but a class, a definition inside it."""
        file = self.project.files[place.file]
        here = [SymbolPlace(place.file, number) for number in file.symbols_named(place.symbol, name)]
        if not file.rules.open_classes or (here and file.family != "c"):
            return exactly(here) if here else UNKNOWN
        parts = self.project.symbols.get((file.family, (*self.project.qualified(place), name)), here)
        return exactly(self.definitions(parts)) if parts else UNKNOWN

    def definitions(self, places: list[SymbolPlace]) -> list[SymbolPlace]:
        """The places without declarations in C headers, if a source file has the definition."""
        defined = [p for p in places if not self.project.files[p.file].path.endswith(_HEADERS)]
        return defined or places

    def _of_space(self, space: Namespace, name: str) -> Resolution:
        whole = (*space.name, name)
        modules = self.project.modules_at(space.family, whole)
        places = self.project.symbols.get((space.family, whole), [])
        if modules and all(self.project.symbol(place).kind == "module" for place in places):
            return exactly(modules)
        return exactly((*modules, *self.definitions(places)))

    # Modules

    def _of_module(self, place: SymbolPlace, name: str, trail: Trail) -> Resolution:
        if (*place, name) in trail or len(trail) > MAX_HOPS:
            return FOREIGN
        trail.add((*place, name))
        file = self.project.files[place.file]
        if file.rules.open_classes:
            return self._of_space(Namespace(file.family, self.project.qualified(place)), name)
        written = self.bound_in(place, name, trail)
        if written is not None:
            return written
        if file.family == "script" and name == "default":
            return Resolution((place,), "likely")  # a module without a default export stands for itself
        starred = self.star_imported(place, name, trail)
        if starred.things or not starred.settled:
            return starred
        return self._submodule(file, place, name)

    def _submodule(self, file: ProjectFile, place: SymbolPlace, name: str) -> Resolution:
        if file.family == "script":
            return FOREIGN
        return exactly(self.project.modules_at(file.family, (*self.project.qualified(place), name)))

    def bound_inside(self, place: SymbolPlace, name: str) -> Resolution | None:
        """What the scope `place` binds `name` to, as seen from inside."""
        key = (place, name)
        if key not in self._inside:
            self._inside[key] = self.bound_in(place, name, None, inside=True)
        return self._inside[key]

    def bound_in(
        self, place: SymbolPlace, name: str, trail: Trail | None, *, inside: bool = False
    ) -> Resolution | None:
        """What the definitions and imports of the module bind `name` to. Others see a script's imports
        only if it exports them."""
        file = self.project.files[place.file]
        if file.family == "script" and not inside and name in file.exports:
            exported = [self.bound_in(place, inner, trail, inside=True) for inner in file.exports[name]]
            return either(answer or UNKNOWN for answer in exported)
        here = [SymbolPlace(place.file, number) for number in file.symbols_named(place.symbol, name)]
        answers = [exactly(here)] if here else []
        imports = [
            imported
            for imported in file.imports_by_alias.get(name, ())
            if imported.owner == place.symbol and (inside or file.family != "script" or imported.exported)
        ]
        if trail is None and len(imports) > 1:
            trail = set()  # shared, so that no import is followed twice
        answers += [self.imported(place.file, imported, trail) for imported in imports]
        return either(answers) if answers else None

    def star_imported(self, place: SymbolPlace, name: str, trail: Trail) -> Resolution:
        """What a module gets under `name` from imports of everything; DOUBTFUL if it may come from outside
        the project."""
        answers, doubtful = [], False
        for imported in self.project.files[place.file].stars:
            if imported.owner != place.symbol:
                continue
            module = self.module(place.file, imported)
            doubtful = doubtful or not module.things
            for thing in module.things:
                if self._gives_to_all(thing, name):
                    member = self._of(thing, name, trail)
                    doubtful = doubtful or not (member.things or member.settled)
                    answers += [member.at_most(module.confidence)] if member.things else []
        if answers:
            return either(answers)
        return DOUBTFUL if doubtful else FOREIGN

    def _gives_to_all(self, thing: Thing, name: str) -> bool:
        """Whether an import of everything includes `name`: a module of Python can leave names out."""
        file = self.project.files[thing.file] if isinstance(thing, SymbolPlace) else None
        if file is None or file.family != "python":
            return file is None or file.family != "c"  # an include is no namespace
        return name in file.exports if file.exports else not name.startswith("_")

    # Imports

    def module(self, number: int, imported: Import) -> Resolution:
        """The module that an import of file `number` reads from."""
        key = (number, imported.owner, imported.module, imported.level)  # what decides the module
        if key not in self._modules:
            file = self.project.files[number]
            resolution = import_resolver(file.family).find_module(self.project, file, imported)
            if file.family == "rust":  # `lib.rs` and `main.rs` are both the root: each means itself
                own = tuple(self._same_root(number, thing) for thing in resolution.things)
                resolution = resolution._replace(things=own)
            self._modules[key] = resolution
        return self._modules[key]

    def _same_root(self, number: int, thing: Thing) -> Thing:
        files = self.project.files
        same = (
            isinstance(thing, SymbolPlace)
            and not thing.symbol
            and files[thing.file].home == files[number].home
        )
        return SymbolPlace(number, 0) if same else thing

    def imported(self, number: int, imported: Import, trail: Trail | None = None) -> Resolution:
        """What an import binds: a module, or a member of one."""
        file = self.project.files[number]
        if file.family == "python" and not imported.alias and "." in imported.module:
            imported = imported._replace(module=imported.module.partition(".")[0])  # `import a.b` binds `a`
        module = self.module(number, imported)
        if imported.name in ("", "*") or not module.things:
            return module
        if trail is None and len(module.things) == 1:
            resolution = self.of(module.things[0], imported.name)
        else:
            trail = set() if trail is None else trail
            resolution = either(self._of(thing, imported.name, trail) for thing in module.things)
        if not resolution.things and not resolution.settled:
            resolution = DOUBTFUL
        return resolution.at_most(module.confidence)

"""The outlines of a root, indexed once: which file is which module, and every definition by its names."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from quintet.codegraph.language import Family, NameRules
from quintet.codegraph.languages.registry import BY_NAME, FAMILIES
from quintet.codegraph.resolve.meanings import meanings
from quintet.model.symbols import FileOutline, Import, Mention, Symbol, node_ids

Name = tuple[str, ...]

# Prose defines nothing.
PROSE = Family("", NameRules())


class SymbolPlace(NamedTuple):
    """A definition: the number of its file in `Project.files` and the number of its symbol there. Symbol 0
    is the module."""

    file: int
    symbol: int


class Namespace(NamedTuple):
    """A folder, package or namespace that no single file stands for."""

    family: str
    name: Name


Thing = SymbolPlace | Namespace


def split_name(text: str) -> Name:
    """The parts of a name, with the separators of any language."""
    for separator in ("::", "\\", "/"):
        text = text.replace(separator, ".")
    return tuple(part for part in text.split(".") if part)


def file_word(path: str) -> str:
    """The whole path of a file as a name, which cannot be mistaken for the last part of another path."""
    return f"/{path}"


def family_of(language: str) -> Family:
    return BY_NAME[language].family if language in BY_NAME else PROSE


def home_of(path: str, language: str, package: str) -> Name:
    """The name of the module, package or namespace that a file's definitions are in."""
    family = family_of(language)
    if family.rules.home == "package":
        return split_name(package)
    folders = tuple(path.split("/")[:-1])
    if family.rules.home == "folder":
        return folders
    if family.rules.home == "none":
        return ()
    stem = stem_of(path, family)
    return folders if stem in family.folder_files else (*folders, stem)


def stem_of(path: str, family: Family) -> str:
    name = path.rsplit("/", 1)[-1]
    for ending in family.module_endings:
        if name.endswith(ending) and name != ending:
            return name[: -len(ending)]
    return name.rsplit(".", 1)[0] or name


def is_star(imported: Import, family: Family) -> bool:
    """Whether an import binds everything in a module or file under the names it has there."""
    if imported.alias or (family.name == "script" and not imported.exported):
        return False
    return imported.name == "*" or (not imported.name and family.rules.includes)


class ProjectFile:
    """A file with its outline indexed by name. The indexes are built on first use, because most documents
    are prose that names nothing."""

    def __init__(self, file: FileOutline) -> None:
        self.document_id, self.path, self.outline = file.document_id, file.path, file.outline
        self._family = family_of(file.outline.language)
        self.family, self.rules, self.builtins = self._family.name, self._family.rules, self._family.builtins
        self.home = home_of(file.path, file.outline.language, file.outline.package)

    @cached_property
    def folder(self) -> Name:
        return tuple(self.path.split("/")[:-1])

    @cached_property
    def meanings(self) -> dict[Name, tuple[int, ...]]:
        return meanings(self.outline)

    @cached_property
    def numbers(self) -> dict[Name, int]:
        return {path: several[0] for path, several in self.meanings.items()}

    @cached_property
    def bases(self) -> dict[int, list[Mention]]:
        bases: dict[int, list[Mention]] = defaultdict(list)
        for mention in self.outline.mentions:
            if mention.relation in ("extends", "implements"):
                bases[self.representative(mention.owner)].append(mention)
        return bases

    @cached_property
    def stars(self) -> list[Import]:
        return [
            imported
            for imported in self.outline.imports
            if not self._alias_of(imported) and self.is_star(imported)
        ]

    @cached_property
    def imports_by_alias(self) -> dict[str, list[Import]]:
        bound: dict[str, list[Import]] = defaultdict(list)
        for imported in self.outline.imports:
            if alias := self._alias_of(imported):
                bound[alias].append(imported)
        return bound

    def is_star(self, imported: Import) -> bool:
        return is_star(imported, self._family)

    def _alias_of(self, imported: Import) -> str:
        """The name that an import binds here; `import a.b` of Python binds `a`."""
        if self.family == "python" and not imported.name and not imported.alias:
            return imported.module.partition(".")[0]
        return imported.alias

    @cached_property
    def _inner(self) -> set[str]:
        """The names that a scope inside the module binds."""
        defined = {path[-1] for path in self.meanings if len(path) > 1}
        return defined | {
            alias
            for alias, several in self.imports_by_alias.items()
            if any(imported.owner for imported in several)
        }

    @cached_property
    def _is_flat(self) -> bool:
        """Whether scopes see only what is written in them. In other languages they also see inherited
        members or a namespace."""
        return self.rules.closed_scopes and not any(star.owner for star in self.stars)

    @cached_property
    def exports(self) -> dict[str, list[str]]:
        exports: dict[str, list[str]] = defaultdict(list)
        for outside, inside in self.outline.exports:
            exports[outside].append(inside)
        return exports

    @cached_property
    def _scopes(self) -> dict[int, tuple[int, ...]]:
        return {}

    @cached_property
    def ids(self) -> tuple[str, ...]:
        return node_ids(self.document_id, self.outline)

    def symbol(self, number: int) -> Symbol:
        return self.outline.symbols[number]

    def representative(self, number: int) -> int:
        """The symbol that stands for all overloads of symbol `number`."""
        if number >= len(self.outline.symbols):
            return 0
        numbers = self.meanings[self.outline.symbols[number].path]
        return number if number in numbers else numbers[0]

    def scope_for(self, scope: int, name: str) -> int:
        """The module, if `name` means the same in `scope` as in the module; otherwise `scope` itself."""
        return 0 if self._is_flat and name not in self._inner else scope

    def symbols_named(self, within: int, name: str) -> list[int]:
        """What `name` may mean in symbol `within`, or else in another symbol of the same path."""
        numbers = self.meanings.get((*self.outline.symbols[within].path, name), ())
        own = [number for number in numbers if self.outline.symbols[number].parent == within]
        return own or list(numbers)

    def scopes(self, number: int) -> tuple[int, ...]:
        """Symbol `number` and everything around it, the module last."""
        scopes = self._scopes.get(number)
        if scopes is None:
            scopes = self._scopes[number] = (*self._parents(number), 0)
        return scopes

    def module_of(self, number: int) -> Name:
        """The name of the module around symbol `number`: the file's, or an inline one."""
        inline = next((n for n in self.scopes(number) if n and self.symbol(n).kind == "module"), 0)
        return self.home + (self.symbol(inline).path if inline else ())

    def _parents(self, number: int) -> Iterator[int]:
        left = len(self.outline.symbols)
        current: int | None = number
        while current and left:
            yield current
            current, left = self.outline.symbols[current].parent, left - 1


class Project:
    """`location` are the folders around the root, its own folder last: the root may be a package itself."""

    def __init__(self, files: Sequence[FileOutline], location: Name = ()) -> None:
        self.location = location
        ordered = sorted(files, key=lambda file: (file.path, file.document_id))
        self.files = [ProjectFile(file) for file in ordered]
        self.modules: dict[tuple[str, Name], list[int]] = defaultdict(list)
        self.packages: dict[tuple[str, Name], list[int]] = defaultdict(list)  # by exact name
        self.spaces: set[Namespace] = set()
        self.tails: dict[tuple[str, str], list[Name]] = defaultdict(list)  # last part -> whole names
        self.symbols: dict[tuple[str, Name], list[SymbolPlace]] = defaultdict(list)
        self.by_name: dict[tuple[str, str], list[SymbolPlace]] = defaultdict(list)
        for number, file in enumerate(self.files):
            if file.family:
                self._add_module(number, file)
                self._add_symbols(number, file)
        for space in sorted(self.spaces):
            if space.name:
                self.tails[space.family, space.name[-1]].append(space.name)

    @cached_property
    def by_path(self) -> dict[str, int]:
        return {file.path: number for number, file in enumerate(self.files)}

    @cached_property
    def path_tails(self) -> dict[str, list[int]]:
        """Files by the last part of their paths."""
        tails: dict[str, list[int]] = defaultdict(list)
        for number, file in enumerate(self.files):
            tails[file.path.rsplit("/", 1)[-1]].append(number)
        return tails

    def _add_module(self, number: int, file: ProjectFile) -> None:
        if file.rules.home == "file":
            self.modules[file.family, file.home].append(number)
        self.packages[file.family, file.home].append(number)
        for length in range(len(file.home) + 1):
            self.spaces.add(Namespace(file.family, file.home[:length]))

    def _add_symbols(self, number: int, file: ProjectFile) -> None:
        for path, several in file.meanings.items():
            if not path:
                continue
            places = [SymbolPlace(number, symbol) for symbol in several]
            self.symbols[file.family, file.home + path] += places
            self.by_name[file.family, path[-1]] += places
            if file.symbol(several[0]).kind == "module":
                self.spaces.add(Namespace(file.family, file.home + path))

    @cached_property
    def root_packages(self) -> frozenset[str]:
        """The packages that the Go files in the root declare: the root's folder has no name here."""
        return frozenset(self.files[n].outline.package for n in self.packages.get(("go", ()), ()))

    def symbol(self, place: SymbolPlace) -> Symbol:
        return self.files[place.file].symbol(place.symbol)

    def qualified(self, place: SymbolPlace) -> Name:
        file = self.files[place.file]
        return file.home + file.symbol(place.symbol).path

    def id_of(self, place: SymbolPlace) -> str:
        file = self.files[place.file]
        return file.ids[place.symbol] if place.symbol else file.document_id

    def modules_at(self, family: str, name: Name) -> tuple[Thing, ...]:
        """The module or package called `name`, from the root. Several files may claim one name."""
        files = self.modules.get((family, name), [])
        if files:
            return tuple(SymbolPlace(number, 0) for number in self._preferred(family, files))
        space = Namespace(family, name)
        return (space,) if space in self.spaces else ()

    def _preferred(self, family: str, files: list[int]) -> list[int]:
        """The file that is preferred: of `a.py` and `a.pyi`, of `a.ts`, `a.js` and `a/index.ts`, of
        `lib.rs` and `main.rs`."""
        if len(files) == 1:
            return files

        rules = FAMILIES[family]

        def rank(number: int) -> tuple[bool, int, str]:
            path = self.files[number].path
            stands_for_folder = family == "script" and stem_of(path, rules) in rules.folder_files
            endings = rules.module_endings
            ending = next((i for i, e in enumerate(endings) if path.endswith(e)), len(endings))
            return (stands_for_folder, ending, path)

        return sorted(files, key=rank)[:1]

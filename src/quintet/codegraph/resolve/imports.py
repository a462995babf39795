"""From the text of an import to the module, package or file it means.

Each family of languages has a resolver. The one here reads qualified names (`a.b.Class`). A family whose
imports work otherwise has a subclass in its folder.
"""

from collections.abc import Collection
from functools import cache
from importlib import import_module

from quintet.codegraph.languages.registry import FAMILIES
from quintet.codegraph.resolve.project import Name, Namespace, Project, ProjectFile, SymbolPlace, split_name
from quintet.codegraph.resolve.resolution import FOREIGN, Resolution, exactly
from quintet.model.symbols import Import

# Folders whose content is imported without their name.
SOURCE_FOLDERS = frozenset({"src", "lib", "include", "inc", "python", "source"})
_MAX_CANDIDATES = 8


class ImportResolver:
    """How a family reads its imports. `heads` are the names at the start of a path that mean a module
    relative to the path's place, such as `super` in Rust."""

    heads: frozenset[str] = frozenset()

    def find_module(self, project: Project, file: ProjectFile, imported: Import) -> Resolution:
        """What `imported.module` means in `file`; FOREIGN if the project has no such module."""
        parts = split_name(imported.module)
        space = Namespace(file.family, parts)
        if space in project.spaces:
            return Resolution((space,))
        return exactly(project.symbols.get((file.family, parts), ()))

    def find_path(self, _project: Project, _file: ProjectFile, _home: Name, _path: Name) -> Resolution:
        """What a path means in the module `home`, if the file does not bind its first name."""
        return FOREIGN

    def deciding_names(
        self, _project: Project, file: ProjectFile, imported: Import, _moved_packages: bool
    ) -> set[str]:
        """The names that decide what `find_module` finds: if none of them changes, the import means the same.
        `moved_packages`: a file came or went that makes its folder a package."""
        names = self.space_names(Namespace(file.family, split_name(imported.module)))
        return names | path_names(file, written_path(imported.module))

    def space_names(self, space: Namespace) -> set[str]:
        """What others call a module, package or folder; the root has a name of its own."""
        return set(space.name[-1:]) or {f"./{space.family}"}

    def names_in_path(self, _file: ProjectFile, path: Name) -> Collection[str]:
        """The names that decide what a mentioned path means."""
        return path


@cache
def import_resolver(family: str) -> ImportResolver:
    module = FAMILIES[family].imports if family in FAMILIES else ""
    resolver: ImportResolver = import_module(module).IMPORTS if module else ImportResolver()
    return resolver


def join(folder: Name, relative: str) -> Name | None:
    """`relative` read from `folder`; None if it leads out of the root."""
    parts = list(folder)
    for part in relative.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return tuple(parts)


def guess(answer: Resolution) -> Resolution:
    """The resolution of a name that was found by its end alone."""
    return answer.at_most("likely") if len(answer.things) <= _MAX_CANDIDATES else FOREIGN


def written_path(text: str) -> str:
    """The path without its quotes and without parts that only a shell can expand."""
    return "/".join(part for part in text.strip("<>\"'").split("/") if "$" not in part)


def path_names(file: ProjectFile, text: str) -> set[str]:
    """The names of the files that a path may mean, read from a folder or as the end of a path."""
    joined = (join(folder, text) for folder in (file.folder, ()))
    plain = [part for part in text.split("/") if part not in ("", ".", "..")]
    return {*plain[-1:], *(name[-1] for name in joined if name)}


def find_file(project: Project, file: ProjectFile, text: str, endings: tuple[str, ...] = ("",)) -> Resolution:
    """The file at `text`: read from the file's folder, from the root, or by the end of its path."""
    relative = written_path(text)
    parts = tuple(relative.split("/"))
    for folder in (file.folder, ()):
        name = join(folder, relative)
        for ending in endings:
            number = project.by_path.get("/".join(name) + ending) if name else None
            if number is not None:
                return Resolution((SymbolPlace(number, 0),))
    plain = tuple(part for part in parts if part not in ("", ".", ".."))
    candidates = [
        (number, tuple((project.files[number].path).split("/")))
        for ending in endings
        for number in project.path_tails.get((plain[-1] if plain else "") + ending, ())
    ]
    fits = [
        (number, path[: -len(plain)])
        for number, path in candidates
        if plain and path[-len(plain) : -1] == plain[:-1] and project.files[number].family == file.family
    ]
    answer = exactly(SymbolPlace(number, 0) for number, _ in fits)
    in_source_folder = len(fits) == 1 and fits[0][1][-1:] and fits[0][1][-1] in SOURCE_FOLDERS
    return answer if in_source_folder and not text.startswith("<") else guess(answer)

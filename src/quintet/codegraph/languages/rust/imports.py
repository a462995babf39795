"""Resolve `use` and paths in Rust."""

from collections.abc import Collection

from quintet.codegraph.resolve.imports import ImportResolver
from quintet.codegraph.resolve.project import Name, Namespace, Project, ProjectFile, split_name
from quintet.codegraph.resolve.resolution import FOREIGN, Resolution, exactly
from quintet.model.symbols import Import

_BESIDE = {("tests",), ("examples",), ("benches",)}  # folders of programs that use the library in `src`
_STANDARD = {"std", "core", "alloc", "proc_macro", "test"}


class RustImports(ImportResolver):
    heads = frozenset({"crate", "self", "super"})

    def find_module(self, project: Project, file: ProjectFile, imported: Import) -> Resolution:
        return self.find_path(project, file, file.module_of(imported.owner), split_name(imported.module))

    def find_path(self, project: Project, file: ProjectFile, home: Name, path: Name) -> Resolution:
        """The module, or the path to an item, that `path` names inside the module `home`."""
        if not path or path[0] in _STANDARD:
            return FOREIGN
        if path[0] == "crate":
            return _walk(project, _crate(file), path[1:])
        if path[0] in ("self", "super"):
            while path and path[0] in ("self", "super"):
                home = home[:-1] if path[0] == "super" else home
                path = path[1:]
            return _walk(project, home, path)
        inside = _walk(project, home, path)
        if inside.things:
            return inside
        crates = sorted(_crates(project, path[0]))
        answer = exactly(thing for crate in crates for thing in _walk(project, crate, path[1:]).things)
        return answer if answer.things else _own_library(project, file, path)

    def deciding_names(
        self, _project: Project, file: ProjectFile, imported: Import, _moved_packages: bool
    ) -> set[str]:
        parts = split_name(imported.module)
        return {*parts[-1:], *self.names_in_path(file, parts[:1] or ("self",))}

    def space_names(self, space: Namespace) -> set[str]:
        names = super().space_names(space)
        if space.name[-1:] == ("src",):
            names.update(space.name[-2:-1])  # the crate's folder has its name
        return names | {name.replace("-", "_") for name in names}

    def names_in_path(self, file: ProjectFile, path: Name) -> Collection[str]:
        names = set(path)
        if path[0] in self.heads:
            names.update(file.home, self.space_names(Namespace("rust", ())))
        elif file.folder[-1:] in _BESIDE:
            names.add("src")  # any name may be the library's
        return names


IMPORTS = RustImports()


def _crate(file: ProjectFile) -> Name:
    """The folder of the crate's root: the nearest `src`, or else the folder that holds `tests`, `examples`
    or `benches`."""
    for length in range(len(file.folder), 0, -1):
        if file.folder[length - 1] == "src":
            return file.folder[:length]
    return file.folder[:-1] if file.folder[-1:] in _BESIDE else ()


def _crates(project: Project, name: str) -> set[Name]:
    """The source folders of the crates of that name in the workspace."""
    spellings = {name, name.replace("_", "-")}
    folders = {whole for spelling in spellings for whole in project.tails.get(("rust", spelling), ())}
    return {(*whole, "src") for whole in folders if Namespace("rust", (*whole, "src")) in project.spaces}


def _own_library(project: Project, file: ProjectFile, path: Name) -> Resolution:
    """The library beside a test, example or benchmark. No source states its name, so any name may mean it."""
    if file.folder[-1:] in _BESIDE:
        library = (*file.folder[:-1], "src")
        return _walk(project, library, path[1:]).at_most("likely")
    return FOREIGN


def _walk(project: Project, home: Name, path: Name) -> Resolution:
    modules = project.modules_at("rust", home + path)
    if modules:
        return exactly(modules)
    return exactly(project.symbols.get(("rust", home + path), ())) if path else FOREIGN

"""Resolve the imports of Python."""

from collections.abc import Iterable

from quintet.codegraph.resolve.imports import SOURCE_FOLDERS, ImportResolver, guess
from quintet.codegraph.resolve.project import Name, Namespace, Project, ProjectFile, file_word, split_name
from quintet.codegraph.resolve.resolution import FOREIGN, Resolution, exactly
from quintet.model.symbols import Import

PACKAGE_FILES = ("__init__.py", "__init__.pyi")


class PythonImports(ImportResolver):
    def find_module(self, project: Project, file: ProjectFile, imported: Import) -> Resolution:
        parts = tuple(imported.module.split(".")) if imported.module else ()
        if imported.level:
            up = len(file.folder) - (imported.level - 1)
            return exactly(project.modules_at("python", file.folder[:up] + parts)) if up >= 0 else FOREIGN
        # Nothing inside a package can be imported without the package's name.
        roots = [root for root in _roots(project, parts) if not _is_package(project, root)]
        around = [root for root in roots if file.folder[: len(root)] == root]
        if around:
            return exactly(project.modules_at("python", max(around, key=len) + parts))
        for inside in _below_package(project, parts) if _is_package(project, ()) else ():
            if modules := project.modules_at("python", inside):
                return exactly(modules)
        answer = exactly(thing for root in roots for thing in project.modules_at("python", root + parts))
        expected = len(roots) == 1 and roots[0][-1] in SOURCE_FOLDERS
        return answer if expected else guess(answer)

    def deciding_names(
        self, project: Project, file: ProjectFile, imported: Import, moved_packages: bool
    ) -> set[str]:
        names = _looked_for(imported)
        if imported.level:
            up = len(file.folder) - (imported.level - 1)
            names = [file.folder[:up] + parts for parts in names] if up >= 0 else []
        else:  # the root may be a package itself
            names += [() for parts in names if parts == project.location[-len(parts) :]]
        deciding = {word for name in names for word in self.space_names(Namespace("python", name))}
        if moved_packages and not imported.level:
            deciding.update(*(_package_files(project, parts) for parts in _looked_for(imported)))
        return deciding


IMPORTS = PythonImports()


def _roots(project: Project, parts: Name) -> list[Name]:
    """The folders from which an absolute import of `parts` can be read, packages among them."""
    names = project.tails.get(("python", parts[-1]), ()) if parts else ()
    return [name[: -len(parts)] for name in names if name[-len(parts) :] == parts]


def _below_package(project: Project, parts: Name) -> list[Name]:
    """What `parts` may mean below the root, where the root is a package: `shop.api.order` in `/src/shop/api`
    is its `order`."""
    lengths = range(1, min(len(parts), len(project.location)) + 1)
    return [parts[length:] for length in lengths if parts[:length] == project.location[-length:]]


def _is_package(project: Project, folder: Name) -> bool:
    return any("/".join((*folder, name)) in project.by_path for name in PACKAGE_FILES)


def _looked_for(imported: Import) -> list[Name]:
    """The whole name, and what `import a.b` binds."""
    parts = split_name(imported.module)
    return [parts] if imported.alias or imported.name == "*" else [parts, parts[:1]]


def _package_files(project: Project, parts: Name) -> Iterable[str]:
    """The files that decide whether an absolute import is read from a folder: it cannot be a package."""
    folders = _roots(project, parts) + [()] * bool(_below_package(project, parts))
    return (file_word("/".join((*folder, package))) for folder in folders for package in PACKAGE_FILES)

"""Resolve the imports of Go."""

from quintet.codegraph.resolve.imports import ImportResolver
from quintet.codegraph.resolve.project import Namespace, Project, ProjectFile
from quintet.codegraph.resolve.resolution import FOREIGN, Resolution
from quintet.model.symbols import Import


class GoImports(ImportResolver):
    def find_module(self, project: Project, _file: ProjectFile, imported: Import) -> Resolution:
        """The folder whose path from the root ends the import path. A single matching name may be a
        coincidence."""
        parts = tuple(part for part in imported.module.split("/") if part)
        names = project.tails.get(("go", parts[-1]), ()) if parts else ()
        fits = [name for name in names if ("go", name) in project.packages and parts[-len(name) :] == name]
        if fits:
            longest = max(fits, key=len)
            answer = Resolution((Namespace("go", longest),))
            return answer if 1 < len(longest) < len(parts) else answer.at_most("likely")
        is_root = bool(parts) and parts[-1] in project.root_packages
        return Resolution((Namespace("go", ()),), "likely") if is_root else FOREIGN

    def deciding_names(
        self, project: Project, _file: ProjectFile, imported: Import, _moved_packages: bool
    ) -> set[str]:
        last = [part for part in imported.module.split("/") if part][-1:]
        is_root = not project.root_packages.isdisjoint(last)
        return {*last, *(self.space_names(Namespace("go", ())) if is_root else ())}


IMPORTS = GoImports()

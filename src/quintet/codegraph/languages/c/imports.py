"""Resolve `#include` in C and C++, and `using` in C++."""

from quintet.codegraph.resolve.imports import ImportResolver, find_file
from quintet.codegraph.resolve.project import Project, ProjectFile
from quintet.codegraph.resolve.resolution import Resolution
from quintet.model.symbols import Import


class CImports(ImportResolver):
    def find_module(self, project: Project, file: ProjectFile, imported: Import) -> Resolution:
        """An included file has an ending or stands in a folder; any other name is a namespace of C++."""
        if "." in imported.module or "/" in imported.module:
            return find_file(project, file, imported.module)
        return super().find_module(project, file, imported)


IMPORTS = CImports()

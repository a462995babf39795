"""Resolve the `source` commands of a shell script."""

from quintet.codegraph.resolve.imports import ImportResolver, find_file
from quintet.codegraph.resolve.project import Project, ProjectFile
from quintet.codegraph.resolve.resolution import Resolution
from quintet.model.symbols import Import


class BashImports(ImportResolver):
    def find_module(self, project: Project, file: ProjectFile, imported: Import) -> Resolution:
        return find_file(project, file, imported.module)


IMPORTS = BashImports()

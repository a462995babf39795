"""Resolve `use` and `include` in PHP."""

from quintet.codegraph.resolve.imports import ImportResolver, find_file
from quintet.codegraph.resolve.project import Project, ProjectFile
from quintet.codegraph.resolve.resolution import Resolution
from quintet.model.symbols import Import


class PhpImports(ImportResolver):
    def find_module(self, project: Project, file: ProjectFile, imported: Import) -> Resolution:
        if imported.module.endswith((".php", ".inc")):
            return find_file(project, file, imported.module)
        return super().find_module(project, file, imported)


IMPORTS = PhpImports()

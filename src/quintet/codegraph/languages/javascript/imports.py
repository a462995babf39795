"""Resolve the imports of JavaScript and TypeScript."""

from quintet.codegraph.languages.javascript import SCRIPT
from quintet.codegraph.resolve.imports import ImportResolver, guess, join
from quintet.codegraph.resolve.project import Name, Namespace, Project, ProjectFile, SymbolPlace
from quintet.codegraph.resolve.resolution import Resolution, exactly
from quintet.model.symbols import Import


class ScriptImports(ImportResolver):
    def find_module(self, project: Project, file: ProjectFile, imported: Import) -> Resolution:
        names = _names(file, imported.module)
        if _is_relative(imported.module):
            return exactly(next(filter(None, (_modules(project, name) for name in names)), ()))
        ends = [(end, name) for end in names for name in project.tails.get(("script", end[-1]), ())]
        fits = [name for end, name in ends if name[-len(end) :] == end]
        return guess(exactly(thing for name in fits for thing in _modules(project, name)))

    def deciding_names(
        self, _project: Project, file: ProjectFile, imported: Import, _moved_packages: bool
    ) -> set[str]:
        names = {
            word
            for name in _names(file, imported.module)
            for word in self.space_names(Namespace("script", name))
        }
        if imported.name in ("", "*"):
            names.add("default")  # what a module is when it is called
        return names


IMPORTS = ScriptImports()


def _names(file: ProjectFile, text: str) -> list[Name]:
    """For a relative import, the names from the root that it may mean; the first that exists counts. For
    any other, the end of the name."""
    if not _is_relative(text):
        return _end(text)
    name = join(file.folder, text)
    if name is None:
        return []
    spellings = (name, (*name[:-1], *map(_without_ending, name[-1:])))
    return [form for name in spellings for form in (name, name[:-1] if name[-1:] == ("index",) else name)]


def _is_relative(text: str) -> bool:
    return text.startswith(("./", "../")) or text in (".", "..")


def _end(text: str) -> list[Name]:
    is_alias = text.startswith(("@/", "~/", "#/"))
    parts = tuple(part for part in text.lstrip("@~#").split("/") if part)
    if not parts or (text[0] == "@" and not is_alias) or (len(parts) < 2 and not is_alias):
        return []
    last = _without_ending(parts[-1])
    if last == "index" and len(parts) > 1:
        return [parts[:-1]]
    return [(*parts[:-1], last)]


def _modules(project: Project, name: Name) -> list[SymbolPlace]:
    return [thing for thing in project.modules_at("script", name) if isinstance(thing, SymbolPlace)]


def _without_ending(name: str) -> str:
    ending = next((ending for ending in SCRIPT.module_endings if name.endswith(ending)), "")
    return name[: len(name) - len(ending)]

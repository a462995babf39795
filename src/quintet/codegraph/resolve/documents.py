"""What a document mentions: files by their paths, definitions by their names.

`formats/mentions.py` explains how the two kinds of mention differ.
"""

from quintet.codegraph.languages.registry import FAMILIES
from quintet.codegraph.resolve.imports import join
from quintet.codegraph.resolve.members import Members
from quintet.codegraph.resolve.project import Name, Project, ProjectFile, SymbolPlace
from quintet.codegraph.resolve.resolution import FOREIGN, Resolution, exactly

_FAMILIES = sorted(FAMILIES)


def find_named(project: Project, members: Members, file: ProjectFile, path: Name) -> Resolution:
    if len(path) == 1 and ("/" in path[0] or "." in path[0]):
        return _file(project, file, path[0])
    return _definition(project, members, path)


def _file(project: Project, file: ProjectFile, text: str) -> Resolution:
    """The file that a link leads to, or else the file whose path ends like this."""
    for folder in ((), ()) if text.startswith("/") else (file.folder, ()):
        place = join(folder, text)
        number = project.by_path.get("/".join(place)) if place else None
        if number is not None:
            return Resolution((SymbolPlace(number, 0),))
    if text.startswith((".", "/")):
        return FOREIGN
    parts = tuple(part for part in text.split("/") if part)
    files = project.path_tails.get(parts[-1], ()) if parts else ()
    fits = [n for n in files if tuple(project.files[n].path.split("/"))[-len(parts) :] == parts]
    return exactly(SymbolPlace(number, 0) for number in fits).at_most("likely")


def _definition(project: Project, members: Members, path: Name) -> Resolution:
    """By a single name: likely if only one definition has it. By a dotted name: the definition whose name
    from the root ends with it."""
    matches = [
        place
        for family in _FAMILIES
        for place in project.by_name.get((family, path[-1]), ())
        if project.qualified(place)[-len(path) :] == path
    ]
    outermost = [place for place in matches if len(project.symbol(place).path) == 1]
    matches = members.definitions(outermost if len(path) == 1 and outermost else matches)
    if len(path) == 1:
        return exactly(matches).at_most("likely")
    return exactly(matches or _modules(project, path))


def _modules(project: Project, path: Name) -> list[SymbolPlace]:
    names = [(f, name) for f in _FAMILIES for name in project.tails.get((f, path[-1]), ())]
    things = [t for f, name in names if name[-len(path) :] == path for t in project.modules_at(f, name)]
    return [thing for thing in things if isinstance(thing, SymbolPlace)]

"""Which documents an edit reaches, so that no other has to be resolved again.

An import that renames a name, or a class whose base changed, passes the change on under its own name.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from quintet.codegraph.languages.python.imports import PACKAGE_FILES
from quintet.codegraph.resolve.changes import GuessableName, foreign_methods, shape_of, star_names
from quintet.codegraph.resolve.edges import MAX_CANDIDATES
from quintet.codegraph.resolve.imports import import_resolver, path_names
from quintet.codegraph.resolve.project import Name, Project, ProjectFile, split_name
from quintet.model.symbols import Import

FileImports = list[tuple[Import, set[str]]]  # of a file, each with the names that decide what it means


def affected(
    project: Project, documents: Collection[str], names: Collection[str | GuessableName]
) -> set[str]:
    """The documents to resolve again after `documents` changed and definitions called `names` appeared,
    disappeared or moved. `project` is the state after that."""
    if not names:
        return set(documents)
    guesses = [name for name in names if isinstance(name, GuessableName)]
    changed = {name for name in names if isinstance(name, str)}
    changed.update(guess.name for guess in guesses if not _is_common(project, documents, guess))
    moved_packages = any(word.endswith(PACKAGE_FILES) for word in changed)
    imported = [
        [(i, _imported_names(project, file, i, moved_packages)) for i in file.outline.imports]
        for file in project.files
    ]
    _propagate(project, imported, changed)
    seen_by_documents = changed.union(guess.name for guess in guesses)
    reached = {
        file.document_id
        for file, imports in zip(project.files, imported, strict=True)
        if _depends_on(file, imports, changed if file.family else seen_by_documents)
    }
    return reached | set(documents)


def _is_common(project: Project, documents: Collection[str], guessed: GuessableName) -> bool:
    """Whether so many others have that name that nothing is guessed by it, with or without this one."""
    others = 0
    for place in project.by_name.get((guessed.family, guessed.name), ()):
        file = project.files[place.file]
        if file.document_id not in documents:
            others += shape_of(file.outline, file.symbol(place.symbol)) == guessed.shape
        if others > MAX_CANDIDATES:
            return True
    return False


def _propagate(project: Project, imported: Sequence[FileImports], names: set[str]) -> None:
    """Add the names under which others see definitions called `names`."""
    passes_on: dict[str, list[Collection[str]]] = defaultdict(list)
    for file, imports in zip(project.files, imported, strict=True):
        for cause, effect in _propagations(file, imports):
            passes_on[cause].append(effect)
    queue = list(names)
    while queue:
        for effect in passes_on.get(queue.pop(), ()):
            queue += [name for name in effect if name not in names]
            names.update(effect)


def _depends_on(file: ProjectFile, imports: FileImports, names: set[str]) -> bool:
    """Whether one of the names decides how a mention or an import of the file resolves."""
    if any(not names.isdisjoint(causes) for _, causes in imports):
        return True
    for symbol in file.outline.symbols:
        is_open = symbol.kind in ("class", "interface", "module")
        if not names.isdisjoint(symbol.path[-1:] if is_open else symbol.path[:-1]):
            return True
    mentioned = {mention.path for mention in file.outline.mentions}
    return any(not names.isdisjoint(_mentioned_names(file, path)) for path in mentioned)


def _mentioned_names(file: ProjectFile, path: Name) -> Collection[str]:
    """The names in a path, and the names of the files that it may mean."""
    if not file.family:
        is_file = len(path) == 1 and ("/" in path[0] or "." in path[0])
        return {*path, *path_names(file, path[0])} if is_file else path
    return import_resolver(file.family).names_in_path(file, path)


def _imported_names(project: Project, file: ProjectFile, imported: Import, moved_packages: bool) -> set[str]:
    """The names that decide what an import means."""
    deciding = import_resolver(file.family).deciding_names(project, file, imported, moved_packages)
    return {imported.name, imported.alias, *deciding} - {""}


def _propagations(file: ProjectFile, imports: FileImports) -> Iterable[tuple[str, Collection[str]]]:
    """Names that decide what other names mean, each with those it decides."""
    starred = star_names(file.outline, file.path) if file.stars else set()
    for imported, causes in imports:
        effect: Collection[str] = (imported.alias,)
        if file.is_star(imported):
            effect = starred
        elif not imported.alias:
            effect = split_name(imported.module)[:1]
        for cause in causes:
            yield cause, effect
    for path, name in (*_base_names(file), *foreign_methods(file.outline)):
        for cause in _mentioned_names(file, path):
            yield cause, (name,)
    for outside, inside in file.outline.exports:
        yield inside, (outside,)


def _base_names(file: ProjectFile) -> Iterable[tuple[Name, str]]:
    """What each class extends, and the name of the class."""
    return ((m.path, file.symbol(owner).name) for owner, mentions in file.bases.items() for m in mentions)

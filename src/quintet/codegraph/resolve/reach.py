"""Which documents an edit reaches, so that no other needs to be resolved again.

A name that an import renames, or a class whose base changed, passes the change on under its own name.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from quintet.codegraph.resolve.changes import (
    Guessed,
    file_word,
    shape_of,
    space_words,
    starred_names,
    written_away,
)
from quintet.codegraph.resolve.edges import MAX_CANDIDATES
from quintet.codegraph.resolve.modules import (
    PACKAGE_FILES,
    RUST_BESIDE,
    RUST_HEADS,
    below_package,
    join,
    python_roots,
    script_names,
    written_path,
)
from quintet.codegraph.resolve.project import File, Name, Project, Space, is_star, split_name
from quintet.model.symbols import Import

Imports = list[tuple[Import, set[str]]]  # of a file, each with the names that decide what it means


def affected(project: Project, documents: Collection[str], names: Collection[str | Guessed]) -> set[str]:
    """The documents to resolve again after `documents` changed and what is called `names` came, went or
    moved. `project` is as it is after that."""
    if not names:
        return set(documents)
    guessed = [name for name in names if isinstance(name, Guessed)]
    seen = {name for name in names if isinstance(name, str)}
    seen.update(one.name for one in guessed if not _is_common(project, documents, one))
    moved_packages = any(word.endswith(PACKAGE_FILES) for word in seen)
    imported = [
        [(one, _imported_names(project, file, one, moved_packages)) for one in file.outline.imports]
        for file in project.files
    ]
    _pass_on(project, imported, seen)
    seen_by_documents = seen.union(one.name for one in guessed)
    found = {
        file.document_id
        for file, imports in zip(project.files, imported, strict=True)
        if _hangs_on(file, imports, seen if file.family else seen_by_documents)
    }
    return found | set(documents)


def _is_common(project: Project, documents: Collection[str], guessed: Guessed) -> bool:
    """Whether so many others have that name that nothing is guessed by it, with this one or without."""
    others = 0
    for place in project.by_name.get((guessed.family, guessed.name), ()):
        file = project.files[place.file]
        if file.document_id not in documents:
            others += shape_of(file.outline, file.symbol(place.symbol)) == guessed.shape
        if others > MAX_CANDIDATES:
            return True
    return False


def _pass_on(project: Project, imported: Sequence[Imports], names: set[str]) -> None:
    """Add the names under which others see what is called `names`."""
    passes_on: dict[str, list[Collection[str]]] = defaultdict(list)
    for file, imports in zip(project.files, imported, strict=True):
        for cause, effect in _passed_on(file, imports):
            passes_on[cause].append(effect)
    waiting = list(names)
    while waiting:
        for effect in passes_on.get(waiting.pop(), ()):
            waiting += [name for name in effect if name not in names]
            names.update(effect)


def _hangs_on(file: File, imports: Imports, names: set[str]) -> bool:
    """Whether one of the names decides what a mention or an import of a file resolves to."""
    if any(not names.isdisjoint(causes) for _, causes in imports):
        return True
    for symbol in file.outline.symbols:
        is_open = symbol.kind in ("class", "interface", "module")
        if not names.isdisjoint(symbol.path[-1:] if is_open else symbol.path[:-1]):
            return True
    mentioned = {mention.path for mention in file.outline.mentions}
    return any(not names.isdisjoint(_mentioned_names(file, path)) for path in mentioned)


def _mentioned_names(file: File, path: Name) -> Collection[str]:
    """The names in a path, and those of the files that it or its first part stands for."""
    if not file.family:
        is_file = len(path) == 1 and ("/" in path[0] or "." in path[0])
        return {*path, *_path_words(file, path[0])} if is_file else path
    if file.family != "rust":
        return path
    names = set(path)
    if path[0] in RUST_HEADS:
        names.update(file.home, space_words(Space("rust", ())))
    elif file.folder[-1:] in RUST_BESIDE:
        names.add("src")  # any name may be the library's
    return names


def _imported_names(project: Project, file: File, imported: Import, moved_packages: bool) -> set[str]:
    """What decides which module an import means, and what of it."""
    names = {imported.name, imported.alias}
    if file.family == "python":
        names |= _python_words(project, file, imported)
        if moved_packages and not imported.level:
            names.update(*(_package_files(project, parts) for parts in _python_parts(imported)))
    elif file.family == "script":
        names.update(*(space_words(Space("script", name)) for name in script_names(file, imported.module)))
        if imported.name in ("", "*"):
            names.add("default")  # what a module is when it is called
    elif file.family == "rust":
        parts = split_name(imported.module)
        names.update(parts[-1:], _mentioned_names(file, parts[:1] or ("self",)))
    elif file.family == "go":
        names |= _go_words(project, imported.module)
    else:
        names |= space_words(Space(file.family, split_name(imported.module)))
        names |= _path_words(file, written_path(imported.module))
    return names - {""}


def _python_parts(imported: Import) -> list[Name]:
    """What is looked for: the whole name, and what `import a.b` binds."""
    parts = split_name(imported.module)
    return [parts] if imported.alias or imported.name == "*" else [parts, parts[:1]]


def _python_words(project: Project, file: File, imported: Import) -> set[str]:
    names = _python_parts(imported)
    if imported.level:
        up = len(file.folder) - (imported.level - 1)
        names = [file.folder[:up] + parts for parts in names] if up >= 0 else []
    else:  # the root may be a package itself
        names += [() for parts in names if parts == project.location[-len(parts) :]]
    return {word for name in names for word in space_words(Space("python", name))}


def _go_words(project: Project, module: str) -> set[str]:
    last = [part for part in module.split("/") if part][-1:]
    is_root = not project.root_packages.isdisjoint(last)
    return {*last, *(space_words(Space("go", ())) if is_root else ())}


def _path_words(file: File, text: str) -> set[str]:
    """What the files are called that a path may mean, read from a folder or as the end of one."""
    joined = (join(folder, text) for folder in (file.folder, ()))
    plain = [part for part in text.split("/") if part not in ("", ".", "..")]
    return {*plain[-1:], *(name[-1] for name in joined if name)}


def _package_files(project: Project, parts: Name) -> Iterable[str]:
    """The files that decide whether an absolute import is read from a folder: none is from a package."""
    folders = python_roots(project, parts) + [()] * bool(below_package(project, parts))
    return (file_word("/".join((*folder, package))) for folder in folders for package in PACKAGE_FILES)


def _passed_on(file: File, imports: Imports) -> Iterable[tuple[str, Collection[str]]]:
    """Names that decide what others mean, each with those that it decides."""
    starred = starred_names(file.outline, file.path) if file.stars else set()
    for imported, causes in imports:
        effect: Collection[str] = (imported.alias,)
        if is_star(imported, file.family):
            effect = starred
        elif not imported.alias:
            effect = split_name(imported.module)[:1]
        for cause in causes:
            yield cause, effect
    for path, name in (*_based(file), *written_away(file.outline)):
        for cause in _mentioned_names(file, path):
            yield cause, (name,)
    for outside, inside in file.outline.exports:
        yield inside, (outside,)


def _based(file: File) -> Iterable[tuple[Name, str]]:
    """What a class extends, and its own name."""
    return ((m.path, file.symbol(owner).name) for owner, mentions in file.bases.items() for m in mentions)

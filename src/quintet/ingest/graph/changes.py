"""Which documents an edit reaches, so that no other needs to be resolved again.

All that one document's edges can hang on elsewhere has a name: a symbol's, a module's, a folder's, a path's.
A name that an import renames, or a class whose base changed, passes the change on under its own name.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from quintet.ingest.graph.languages import FAMILIES, TRANSITIVE
from quintet.ingest.graph.meanings import meanings, occurrences
from quintet.ingest.graph.modules import PACKAGE_FILES, RUST_HEADS, below_package, python_roots
from quintet.ingest.graph.project import File, Name, Project, is_star, split_name, stem_of
from quintet.symbols import FileOutline, Import, Outline


def bound_names(outline: Outline, path: str) -> set[str]:
    """The names by which other files may reach this one."""
    names = module_names(path, outline)
    for symbol in outline.symbols:
        names.update(symbol.path)
    for imported in outline.imports:
        names.update((imported.alias,) if imported.alias else split_name(imported.module)[:1])
    names.update(outside for outside, _ in outline.exports)
    return names - {""}


def module_names(path: str, outline: Outline) -> set[str]:
    """What a file is called as a whole: its path, its name with and without ending, the folders and
    packages that exist because of it, and the `default` that a script's module may be taken for."""
    family = FAMILIES.get(outline.language, "")
    *folders, name = path.split("/")
    names = {path, name, name.split(".")[0], name.rpartition(".")[0], stem_of(path, family)}
    names.update(folders, split_name(outline.package))
    return names | {"default"} if family == "script" else names


def changed_names(before: Outline | None, after: Outline | None, path: str) -> set[str]:
    """The names under which others can see a difference between two outlines of the file at `path` (None: it
    was not there, or is gone). A change inside a function's body has none."""
    old, new = (dict(_facts(outline, path)) if outline else {} for outline in (before, after))
    differing = old.keys() ^ new.keys()
    return {name for fact in differing for name in (old | new)[fact]} - {""}


def _facts(outline: Outline, path: str) -> Iterable[tuple[tuple[object, ...], set[str]]]:
    """All that the edges of other files can hang on, each with the names that lead to it."""
    whole, everything = module_names(path, outline), bound_names(outline, path)
    family = FAMILIES.get(outline.language, "")
    yield ("file", outline.language, outline.package), everything
    yield ("lists its exports", bool(outline.exports)), everything
    places = occurrences(outline)
    for symbol in outline.symbols:
        parent = outline.symbols[symbol.parent or 0]
        yield (
            ("symbol", symbol.path, symbol.kind, symbol.visibility, parent.path, parent.kind),
            set(symbol.path),
        )
    for name, several in meanings(outline).items():
        meant = tuple((places[one], places[outline.symbols[one].parent or 0]) for one in several)
        yield ("meaning", name, meant), set(name)
    for i in outline.imports:
        owner = outline.symbols[i.owner].path
        names = {i.alias} if i.alias else set(split_name(i.module)[:1])
        if is_star(i, family):
            names = everything if family in TRANSITIVE else whole
        yield ("import", owner, i.module, i.level, i.name, i.alias, i.exported), names
    for place, m in enumerate(m for m in outline.mentions if m.relation in ("extends", "implements")):
        owner = outline.symbols[m.owner].path
        yield ("base", place, owner, places[m.owner], m.relation, m.path, m.base), set(owner)
    for outside, inside in outline.exports:
        yield ("export", outside, inside), {outside}


def affected(
    files: Sequence[FileOutline], documents: Collection[str], names: Collection[str], location: Name = ()
) -> set[str]:
    """The documents to resolve again after `documents` changed and what is called `names` came, went or
    moved."""
    project = Project(files, location)
    readers: dict[str, list[int]] = defaultdict(list)
    passes_on: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for number, file in enumerate(project.files):
        imported = [(one, _imported_names(project, file, one)) for one in file.outline.imports]
        for name in _hangs_on(file, imported):
            readers[name].append(number)
        for cause, effect in _passed_on(file, imported):
            passes_on[cause].append(effect)
    reached, waiting = set(names), list(names)
    while waiting:
        for effect in passes_on.get(waiting.pop(), ()):
            waiting += [name for name in effect if name not in reached]
            reached.update(effect)
    found = {project.files[number].document_id for name in reached for number in readers.get(name, ())}
    return found | set(documents)


def _hangs_on(file: File, imported: Iterable[tuple[Import, set[str]]]) -> set[str]:
    """The names that decide what the mentions and imports of a file resolve to."""
    names: set[str] = set()
    for path in {mention.path for mention in file.outline.mentions}:
        names.update(_mentioned_names(file, path))
    for symbol in file.outline.symbols:
        if symbol.path and symbol.kind in ("class", "interface", "module"):
            names.add(symbol.name)
        elif len(symbol.path) > 1:
            names.update(symbol.path[:-1])
    for _, causes in imported:
        names.update(causes)
    return names


def _mentioned_names(file: File, path: Name) -> set[str]:
    """The names in a path, and those of the files that it or its first part stands for."""
    names = {*path, *(part.rstrip("/").rsplit("/", 1)[-1] for part in path if "/" in part)}
    return names.union(file.home) if file.family == "rust" and path[0] in RUST_HEADS else names


def _imported_names(project: Project, file: File, imported: Import) -> set[str]:
    """What decides which module an import means: its last part, or the folder when only dots are given."""
    parts, last = split_name(imported.module), imported.module.rsplit("/", 1)[-1]
    names = {imported.name, imported.alias, *parts[-1:], last}
    if file.family == "python" and not imported.level:
        names.update(_package_files(project, parts), _package_files(project, parts[:1]))
    if file.family == "rust":
        names |= _mentioned_names(file, parts[:1] or ("self",)) | {"src"}  # where a crate's own name leads
    elif not (imported.name or imported.alias):
        names.update(parts[:1])  # what Python's `import a.b` binds
    if "/" in imported.module:
        names.add(last.split(".")[0])
    return names if last.strip(".") else names.union(file.folder)


def _package_files(project: Project, parts: Name) -> Iterable[str]:
    """The files that decide whether an absolute import is read from a folder: none is from a package."""
    folders = python_roots(project, parts) + [()] * bool(below_package(project, parts))
    return ("/".join((*folder, package)) for folder in folders for package in PACKAGE_FILES)


def _passed_on(
    file: File, imports: Iterable[tuple[Import, set[str]]]
) -> Iterable[tuple[str, tuple[str, ...]]]:
    whole = module_names(file.path, file.outline)
    if file.family in TRANSITIVE:  # what a file defines is known to those who include what it includes
        whole = bound_names(file.outline, file.path)
    for imported, causes in imports:
        effect: Name = (imported.alias,)
        if is_star(imported, file.family):
            effect = tuple(sorted(whole))
        elif not imported.alias:
            effect = split_name(imported.module)[:1]
        for cause in causes:
            yield cause, effect
    for owner, mentions in file.bases.items():
        for mention in mentions:
            for cause in _mentioned_names(file, mention.path):
                yield cause, (file.symbol(owner).name,)
    for outside, inside in file.outline.exports:
        yield inside, (outside,)

"""The names under which other files notice that a file changed, appeared or disappeared.

Everything that the edges of another document can depend on has a name: of a symbol, a module, a package or a
path. What else a module holds, such as its imports, matters only to files that name the module.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from quintet.codegraph.resolve.imports import import_resolver
from quintet.codegraph.resolve.meanings import meanings, occurrences
from quintet.codegraph.resolve.project import (
    Name,
    Namespace,
    family_of,
    file_word,
    home_of,
    is_star,
    split_name,
)
from quintet.model.symbols import FileOutline, Outline, Symbol, SymbolKind

Change = tuple[str, Outline | None, Outline | None]  # path, before, after; None: it was not there, or is gone
Shape = tuple[SymbolKind, SymbolKind, bool]  # decides which mentions can mean a definition


class GuessableName(NamedTuple):
    """A definition that others reach by the name of its module or class. Its own name matters only where a
    name is guessed, and nothing is guessed if too many definitions of the same shape share the name."""

    family: str
    name: str
    shape: Shape


Names = set[str | GuessableName]


def shape_of(outline: Outline, symbol: Symbol) -> Shape:
    parent = outline.symbols[symbol.parent or 0]
    return symbol.kind, parent.kind, parent.path == symbol.path[:-1]


def bound_names(outline: Outline, path: str) -> Names:
    """The names by which other files can reach this file and its definitions."""
    names: Names = set(module_names(path, outline))
    for symbol in outline.symbols:
        names |= _symbol_names(outline, symbol, is_module_named=True)
    return names


def _symbol_names(outline: Outline, symbol: Symbol, *, is_module_named: bool = False) -> Names:
    family = family_of(outline.language)
    inner, shape = symbol.path[:-1], shape_of(outline, symbol)
    is_plain = symbol.kind in ("function", "method", "variable") and shape[2]
    if is_plain and family.rules.closed_scopes and (inner or (is_module_named and family.name == "python")):
        return {*inner, GuessableName(family.name, symbol.name, shape)}
    return set(symbol.path)


def module_names(path: str, outline: Outline) -> set[str]:
    """The names of the file as a whole: its file name, and its module or package."""
    family = family_of(outline.language)
    name = path.rsplit("/", 1)[-1]
    names = {name}
    if family.name:
        home = home_of(path, outline.language, outline.package)
        names |= space_names(Namespace(family.name, home))
        if family.rules.home == "folder" and not home:
            names.add(outline.package)  # the root's folder tells nothing
    if family.rules.home != "file":
        names |= {name.split(".")[0], name.rpartition(".")[0]}
    return names - {""}


def space_names(space: Namespace) -> set[str]:
    return import_resolver(space.family).space_names(space)


def changed_spaces(files: Iterable[FileOutline], changes: Sequence[Change]) -> set[str]:
    """The names of the folders and packages that appeared with their first file or disappeared with their
    last. `files` are those of the root after the changes."""
    old = {space for path, before, _ in changes for space in _spaces(path, before)}
    new = {space for path, _, after in changes for space in _spaces(path, after)}
    moved = old ^ new
    if moved:
        changed = {path for path, _, _ in changes}
        for file in files:
            if file.path not in changed:
                moved -= _spaces(file.path, file.outline)
    return {name for space in moved for name in space_names(space)}


def _spaces(path: str, outline: Outline | None) -> set[Namespace]:
    """The folders or packages that exist because of this file. A script's folder without `index` is not
    one."""
    family = family_of(outline.language).name if outline else ""
    if outline is None or family in ("", "script"):
        return set()
    home = home_of(path, outline.language, outline.package)
    return {Namespace(family, home[:length]) for length in range(len(home) + 1)}


def changed_names(before: Outline | None, after: Outline | None, path: str) -> Names:
    """The names under which others notice a difference between two outlines of the file at `path`; None
    stands for a file that did not exist, or no longer does. A change inside a function's body has no
    such name."""
    if not before or not after or (before.language, before.package) != (after.language, after.package):
        names = (bound_names(outline, path) for outline in (before, after) if outline)
        return {file_word(path)}.union(*names)
    old, new = (dict(_facts(outline, path)) for outline in (before, after))
    differing = old.keys() ^ new.keys()
    return {name for fact in differing for name in (old | new)[fact]} - {""}


def _facts(outline: Outline, path: str) -> Iterable[tuple[tuple[object, ...], Names]]:
    """Everything that the edges of other files can depend on, each with the names that lead to it."""
    family = family_of(outline.language)
    yield ("lists its exports", bool(outline.exports)), set(module_names(path, outline))
    places = occurrences(outline)
    for symbol in outline.symbols:
        parent = outline.symbols[symbol.parent or 0]
        yield (
            ("symbol", symbol.path, symbol.kind, symbol.visibility, parent.path, parent.kind),
            _symbol_names(outline, symbol),
        )
    for name, several in meanings(outline).items():
        occurrences_meant = tuple(
            (places[number], places[outline.symbols[number].parent or 0]) for number in several
        )
        symbols = (outline.symbols[number] for number in several)
        yield (
            ("meaning", name, occurrences_meant),
            set().union(*(_symbol_names(outline, number) for number in symbols)),
        )
    for i in outline.imports:
        owner = outline.symbols[i.owner].path
        names: Names = {i.alias} if i.alias else set(split_name(i.module)[:1])
        if is_star(i, family):
            names = set(star_names(outline, path))
        yield ("import", owner, i.module, i.level, i.name, i.alias, i.exported), names
    for place, m in enumerate(m for m in outline.mentions if m.relation in ("extends", "implements")):
        owner = outline.symbols[m.owner].path
        yield ("base", place, owner, places[m.owner], m.relation, m.path, m.base), set(owner)
    for outside, inside in outline.exports:
        yield ("export", outside, inside), {outside}


def star_names(outline: Outline, path: str) -> set[str]:
    """The names under which others notice that a file imports everything from elsewhere: the file's own,
    if others must name it to see that; also what it defines, if they need not."""
    family, names = family_of(outline.language), module_names(path, outline)
    if family.rules.passes_includes_on:  # files that include the same file see what it defines
        names.update(name for symbol in outline.symbols for name in symbol.path)
    elif family.name == "rust":
        names.update(name for _, name in foreign_methods(outline))
    elif family.rules.home != "file":
        bases = (m.owner for m in outline.mentions if m.relation in ("extends", "implements"))
        names.update(outline.symbols[owner].name for owner in bases)
    return names - {""}


def foreign_methods(outline: Outline) -> Iterable[tuple[Name, str]]:
    """Methods of Rust for a type that another file defines: the type as it is called here, and the method."""
    paths = {symbol.path for symbol in outline.symbols} if outline.language == "rust" else set()
    return ((path[:-1], path[-1]) for path in sorted(paths) if len(path) > 1 and path[:-1] not in paths)

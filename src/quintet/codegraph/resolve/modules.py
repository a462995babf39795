"""From the text of an import to the module, package or file it means, language by language."""

from collections.abc import Callable

from quintet.codegraph.resolve.answer import FOREIGN, Answer, exactly
from quintet.codegraph.resolve.project import SCRIPT_ENDINGS, File, Name, Place, Project, Space, split_name
from quintet.model.symbols import Import

# Folders whose content is imported without their name.
_SOURCE_FOLDERS = {"src", "lib", "include", "inc", "python", "source"}
RUST_HEADS = {"crate", "self", "super"}
RUST_BESIDE = {("tests",), ("examples",), ("benches",)}  # folders of programs that use the library in `src`
_RUST_STANDARD = {"std", "core", "alloc", "proc_macro", "test"}
PACKAGE_FILES = ("__init__.py", "__init__.pyi")
_MAX_CANDIDATES = 8


def find_module(project: Project, file: File, imported: Import) -> Answer:
    """What `imported.module` means in `file`; FOREIGN if it is nothing of the project."""
    finder = _FINDERS.get(file.family)
    return finder(project, file, imported) if finder else FOREIGN


def join(folder: Name, relative: str) -> Name | None:
    """`relative` read from `folder`; None if it leads out of the root."""
    parts = list(folder)
    for part in relative.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return tuple(parts)


def python_roots(project: Project, parts: Name) -> list[Name]:
    """The folders from which an absolute import of `parts` can be read, packages among them."""
    names = project.tails.get(("python", parts[-1]), ()) if parts else ()
    return [name[: -len(parts)] for name in names if name[-len(parts) :] == parts]


def below_package(project: Project, parts: Name) -> list[Name]:
    """What `parts` may mean below the root, where the root is a package: `shop.api.order` in `/src/shop/api`
    is its `order`."""
    lengths = range(1, min(len(parts), len(project.location)) + 1)
    return [parts[length:] for length in lengths if parts[:length] == project.location[-length:]]


def _python(project: Project, file: File, imported: Import) -> Answer:
    parts = tuple(imported.module.split(".")) if imported.module else ()
    if imported.level:
        up = len(file.folder) - (imported.level - 1)
        return exactly(project.modules_at("python", file.folder[:up] + parts)) if up >= 0 else FOREIGN
    # Nothing inside a package can be imported without the package's name.
    roots = [root for root in python_roots(project, parts) if not _is_package(project, root)]
    around = [root for root in roots if file.folder[: len(root)] == root]
    if around:
        return exactly(project.modules_at("python", max(around, key=len) + parts))
    for inside in below_package(project, parts) if _is_package(project, ()) else ():
        if found_there := project.modules_at("python", inside):
            return exactly(found_there)
    found = exactly(thing for root in roots for thing in project.modules_at("python", root + parts))
    expected = len(roots) == 1 and roots[0][-1] in _SOURCE_FOLDERS
    return found if expected else _guess(found)


def _is_package(project: Project, folder: Name) -> bool:
    return any("/".join((*folder, name)) in project.by_path for name in PACKAGE_FILES)


def _guess(found: Answer) -> Answer:
    """Found by the end of its name alone."""
    return found.at_most("likely") if len(found.things) <= _MAX_CANDIDATES else FOREIGN


def _script(project: Project, file: File, imported: Import) -> Answer:
    names = script_names(file, imported.module)
    if _is_relative(imported.module):
        return exactly(next(filter(None, (_script_at(project, name) for name in names)), ()))
    ends = [(end, name) for end in names for name in project.tails.get(("script", end[-1]), ())]
    fits = [name for end, name in ends if name[-len(end) :] == end]
    return _guess(exactly(thing for name in fits for thing in _script_at(project, name)))


def script_names(file: File, text: str) -> list[Name]:
    """The names from the root that a relative import may mean, of which the first counts that is there; how
    the name ends that any other means."""
    if not _is_relative(text):
        return _script_end(text)
    name = join(file.folder, text)
    if name is None:
        return []
    tries = (name, (*name[:-1], *map(_without_ending, name[-1:])))
    return [shown for tried in tries for shown in (tried, tried[:-1] if tried[-1:] == ("index",) else tried)]


def _is_relative(text: str) -> bool:
    return text.startswith(("./", "../")) or text in (".", "..")


def _script_end(text: str) -> list[Name]:
    is_alias = text.startswith(("@/", "~/", "#/"))
    parts = tuple(part for part in text.lstrip("@~#").split("/") if part)
    if not parts or (text[0] == "@" and not is_alias) or (len(parts) < 2 and not is_alias):
        return []
    last = _without_ending(parts[-1])
    if last == "index" and len(parts) > 1:
        return [parts[:-1]]
    return [(*parts[:-1], last)]


def _script_at(project: Project, name: Name) -> list[Place]:
    return [thing for thing in project.modules_at("script", name) if isinstance(thing, Place)]


def _without_ending(name: str) -> str:
    ending = next((ending for ending in SCRIPT_ENDINGS if name.endswith(ending)), "")
    return name[: len(name) - len(ending)]


def rust_crate(file: File) -> Name:
    """The folder of the crate's root: the nearest `src`, or else the folder above the crate's own folders."""
    for length in range(len(file.folder), 0, -1):
        if file.folder[length - 1] == "src":
            return file.folder[:length]
    return file.folder[:-1] if file.folder[-1:] in RUST_BESIDE else ()


def _rust(project: Project, file: File, imported: Import) -> Answer:
    return rust_module(project, file, _rust_home(file, imported.owner), split_name(imported.module))


def _rust_home(file: File, owner: int) -> Name:
    """The module that symbol `owner` stands in: the file's or an inline one."""
    inline = next((n for n in file.scopes(owner) if n and file.symbol(n).kind == "module"), 0)
    return file.home + (file.symbol(inline).path if inline else ())


def rust_module(project: Project, file: File, home: Name, parts: Name) -> Answer:
    """The module, or the path to an item, that `parts` names inside the module `home`."""
    if not parts or parts[0] in _RUST_STANDARD:
        return FOREIGN
    if parts[0] == "crate":
        return _rust_walk(project, rust_crate(file), parts[1:])
    if parts[0] in ("self", "super"):
        while parts and parts[0] in ("self", "super"):
            home = home[:-1] if parts[0] == "super" else home
            parts = parts[1:]
        return _rust_walk(project, home, parts)
    inside = _rust_walk(project, home, parts)
    if inside.things:
        return inside
    crates = sorted(_crates(project, parts[0]))
    found = exactly(thing for crate in crates for thing in _rust_walk(project, crate, parts[1:]).things)
    return found if found.things else _own_library(project, file, parts)


def _crates(project: Project, name: str) -> set[Name]:
    """The source folders of the workspace's crates of that name."""
    spellings = {name, name.replace("_", "-")}
    folders = {whole for spelling in spellings for whole in project.tails.get(("rust", spelling), ())}
    return {(*whole, "src") for whole in folders if Space("rust", (*whole, "src")) in project.spaces}


def _own_library(project: Project, file: File, parts: Name) -> Answer:
    """What a test, an example or a program says of the library beside it, whose name no source tells."""
    if file.folder[-1:] in RUST_BESIDE:
        library = (*file.folder[:-1], "src")
        return _rust_walk(project, library, parts[1:]).at_most("likely")
    return FOREIGN


def _rust_walk(project: Project, home: Name, parts: Name) -> Answer:
    found = project.modules_at("rust", home + parts)
    if found:
        return exactly(found)
    return exactly(project.symbols.get(("rust", home + parts), ())) if parts else FOREIGN


def _go(project: Project, file: File, imported: Import) -> Answer:
    """The folder whose path from the root ends the import path. One name alone may be somebody else's."""
    parts = tuple(part for part in imported.module.split("/") if part)
    names = project.tails.get(("go", parts[-1]), ()) if parts else ()
    fits = [name for name in names if ("go", name) in project.packages and parts[-len(name) :] == name]
    if fits:
        longest = max(fits, key=len)
        found = Answer((Space("go", longest),))
        return found if 1 < len(longest) < len(parts) else found.at_most("likely")
    is_root = bool(parts) and parts[-1] in project.root_packages
    return Answer((Space("go", ()),), "likely") if is_root else FOREIGN


def _qualified(project: Project, file: File, imported: Import) -> Answer:
    """Java, C# and PHP: a namespace, a class in one, a member of a class; or the file PHP includes."""
    if file.family == "php" and imported.module.endswith((".php", ".inc")):
        return find_path(project, file, imported.module)
    parts = split_name(imported.module)
    space = Space(file.family, parts)
    if space in project.spaces:
        return Answer((space,))
    return exactly(project.symbols.get((file.family, parts), ()))


def written_path(text: str) -> str:
    """Without quotes, and without what only a shell knows."""
    return "/".join(part for part in text.strip("<>\"'").split("/") if "$" not in part)


def find_path(project: Project, file: File, text: str, endings: tuple[str, ...] = ("",)) -> Answer:
    """The file at `text`: read from the file's folder, from the root, or by the end of its path."""
    relative = written_path(text)
    parts = tuple(relative.split("/"))
    for folder in (file.folder, ()):
        name = join(folder, relative)
        for ending in endings:
            number = project.by_path.get("/".join(name) + ending) if name else None
            if number is not None:
                return Answer((Place(number, 0),))
    plain = tuple(part for part in parts if part not in ("", ".", ".."))
    found = [
        (number, tuple((project.files[number].path).split("/")))
        for ending in endings
        for number in project.path_tails.get((plain[-1] if plain else "") + ending, ())
    ]
    fits = [
        (number, path[: -len(plain)])
        for number, path in found
        if plain and path[-len(plain) : -1] == plain[:-1] and project.files[number].family == file.family
    ]
    answer = exactly(Place(number, 0) for number, _ in fits)
    in_source_folder = len(fits) == 1 and fits[0][1][-1:] and fits[0][1][-1] in _SOURCE_FOLDERS
    return answer if in_source_folder and not text.startswith("<") else _guess(answer)


def _path(project: Project, file: File, imported: Import) -> Answer:
    return find_path(project, file, imported.module)


def _c(project: Project, file: File, imported: Import) -> Answer:
    """An included file has an ending or stands in a folder; what else is named is C++'s namespace."""
    is_file = "." in imported.module or "/" in imported.module
    return find_path(project, file, imported.module) if is_file else _qualified(project, file, imported)


def _ruby(project: Project, file: File, imported: Import) -> Answer:
    return find_path(project, file, imported.module, ("", ".rb"))


_FINDERS: dict[str, Callable[[Project, File, Import], Answer]] = {
    "python": _python,
    "script": _script,
    "rust": _rust,
    "go": _go,
    "java": _qualified,
    "csharp": _qualified,
    "php": _qualified,
    "c": _c,
    "bash": _path,
    "ruby": _ruby,
}

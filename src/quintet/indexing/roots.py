"""From the paths that a caller gives to roots, and the parts of them to sync."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from unicodedata import normalize

from quintet.errors import UsageError
from quintet.indexing.files import FileProblem
from quintet.indexing.no_links import is_folder
from quintet.indexing.run import Report
from quintet.ports.reading import Root


@dataclass(frozen=True, slots=True)
class SyncTarget:
    """A root, the part of it to sync, and the inner roots that become part of it."""

    root: Root
    under: str = ""
    only: tuple[str, ...] | None = None
    absorbs: tuple[str, ...] = ()

    def covers(self, path: str) -> bool:
        if self.only is not None:
            return path in self.only
        return not self.under or path == self.under or path.startswith(self.under + "/")


@dataclass(frozen=True, slots=True)
class GivenPath:
    """A path of the caller, resolved, with the root name if one was given."""

    name: str | None
    location: Path


PathsOrGiven = str | os.PathLike[str] | Sequence[str | os.PathLike[str] | GivenPath]


def given_paths(paths: PathsOrGiven, base: Path) -> list[GivenPath]:
    """The paths of a caller, resolved. A single path counts as a list of one."""
    listed = [paths] if isinstance(paths, str | os.PathLike) else paths
    return [path if isinstance(path, GivenPath) else resolve_path(os.fspath(path), base) for path in listed]


def resolve_path(given: str, base: Path) -> GivenPath:
    """Parse `path` or `name=path`. If a path with an equals sign exists, it is taken as a path."""
    name, separator, rest = given.partition("=")
    if separator and not (base / given).exists():
        if not name.strip():
            raise _invalid_path(f"{given!r} has an empty root name; write name=path")
        return GivenPath(normalize("NFC", name.strip()), _existing_path(rest, base))
    return GivenPath(None, _existing_path(given, base))


def _existing_path(path: str, base: Path) -> Path:
    try:
        location = (base / path).resolve(strict=True) if path else None
    except (OSError, RuntimeError, ValueError):
        location = None
    if location is None or not (location.is_dir() or location.is_file()):
        raise _invalid_path(f"there is no file or folder {path!r}; give a path that exists")
    if any("\ud800" <= char <= "\udfff" for char in str(location)):
        raise _invalid_path(f"{path!r} has a name that is not valid UTF-8; rename it")
    return disk_spelling(location)


def disk_spelling(location: Path) -> Path:
    """`location` as the disk spells it. A file system that ignores case or Unicode form accepts many
    spellings of one path, and two spellings must not become two roots or files."""
    spelling = Path(location.anchor)
    for name in location.parts[1:]:
        spelling /= _name_on_disk(spelling, name)
    return spelling


def _name_on_disk(parent: Path, name: str) -> str:
    others = {name.swapcase(), *(normalize(form, name) for form in ("NFC", "NFD"))} - {name}
    if not any(os.access(parent / other, os.F_OK) for other in others):
        return name
    try:
        names = [entry.name for entry in parent.iterdir()]
    except OSError:
        return name
    alike = [other for other in names if _fold(other) == _fold(name)]
    return name if name in alike or len(alike) != 1 else alike[0]


def _fold(name: str) -> str:
    return normalize("NFC", normalize("NFC", name).casefold())


def path_in_root(location: Path, root: Root) -> str:
    """The path of `location` in the root, as an index stores it."""
    return normalize("NFC", location.relative_to(root.location).as_posix())


def targets_of_run(
    given: Sequence[GivenPath], known: Sequence[Root], within: Path | None, report: Report
) -> list[SyncTarget]:
    """What a run syncs: the given paths, or else the known roots, only those in `within` if that is given.
    Where nothing is known it is the current folder, unless `within` says that a server asks."""
    if not given and not known and within is None:
        given = [resolve_path(".", Path.cwd())]
    if given:
        return sync_targets(given, known)
    wanted = [root for root in known if within is None or Path(root.location).is_relative_to(within)]
    return all_targets(existing_roots(wanted, report))


def sync_targets(given: Sequence[GivenPath], known: Iterable[Root]) -> list[SyncTarget]:
    """The root and part of it for each path. Outer folders come first, so that nested ones become part of
    them."""
    roots = {root.name: root for root in known}
    targets: list[SyncTarget] = []
    for path in sorted(given, key=_outermost_first):
        target = _folder_target(path, roots) if path.location.is_dir() else _file_target(path, roots)
        for name in target.absorbs:
            del roots[name]
        roots[target.root.name] = target.root
        if not any(other.root.name == target.root.name and _is_within(target, other) for other in targets):
            targets.append(target)
    return targets


def _outermost_first(path: GivenPath) -> tuple[bool, int, str]:
    return path.location.is_file(), len(path.location.parts), str(path.location)


def existing_roots(known: Sequence[Root], report: Report) -> list[Root]:
    """The roots whose folder exists. A root without its folder keeps its documents until it is forgotten."""
    for root in known:
        if not is_folder(root.location):
            missing = "is behind a link now" if Path(root.location).is_dir() else "is missing"
            reason = f"the folder of this root {missing}; restore it, or run 'quintet forget' on it"
            report.problems.append(FileProblem(root.location, reason))
    return [root for root in known if is_folder(root.location)]


def all_targets(known: Sequence[Root]) -> list[SyncTarget]:
    """A target for each root of the index, except roots inside another root."""
    roots = {root.name: root for root in known}
    whole = [_whole_root(root, roots) for root in known if root.only is None]
    inner = {name for target in whole for name in target.absorbs}
    parts = [SyncTarget(root, only=root.only) for root in known if root.only is not None]
    return [target for target in (*whole, *parts) if target.root.name not in inner]


def _is_within(target: SyncTarget, other: SyncTarget) -> bool:
    if target.only is not None:
        return all(other.covers(path) for path in target.only)
    return other.only is None and other.covers(target.under) and target.absorbs == ()


def _folder_target(path: GivenPath, roots: dict[str, Root]) -> SyncTarget:
    outer = _root_around(path.location, roots)
    if outer is not None:
        _check_name(path, outer)
        if Path(outer.location) == path.location:
            return _whole_root(outer, roots)
        return SyncTarget(outer, path_in_root(path.location, outer))
    same = next((root for root in roots.values() if Path(root.location) == path.location), None)
    if same is not None:  # until now single files of it, now the whole folder
        _check_name(path, same)
        return _whole_root(replace(same, only=None), roots)
    return _whole_root(Root(_new_name(path, path.location, roots), str(path.location)), roots)


def _whole_root(root: Root, roots: dict[str, Root]) -> SyncTarget:
    """All of a root. Roots inside it become part of it, also those left over from an interrupted run."""
    return SyncTarget(root, absorbs=_roots_inside(Path(root.location), roots, root.name))


def _file_target(path: GivenPath, roots: dict[str, Root]) -> SyncTarget:
    outer = _root_around(path.location, roots)
    if outer is not None:
        _check_name(path, outer)
        return SyncTarget(outer, path_in_root(path.location, outer))
    folder, name = path.location.parent, normalize("NFC", path.location.name)
    same = next((root for root in roots.values() if Path(root.location) == folder), None)
    if same is not None:
        _check_name(path, same)
        only = tuple(sorted({*(same.only or ()), name}))
        return SyncTarget(replace(same, only=only), only=(name,))
    root = Root(_new_name(path, folder, roots), str(folder), (name,))
    return SyncTarget(root, only=(name,))


def _root_around(location: Path, roots: dict[str, Root]) -> Root | None:
    """The whole-folder root that holds `location`."""
    around = (r for r in roots.values() if r.only is None and location.is_relative_to(r.location))
    return min(around, key=lambda root: len(root.location), default=None)


def _roots_inside(location: Path, roots: dict[str, Root], name: str) -> tuple[str, ...]:
    inner = (r.name for r in roots.values() if r.name != name and Path(r.location).is_relative_to(location))
    return tuple(sorted(inner))


def _check_name(path: GivenPath, root: Root) -> None:
    if path.name is not None and (path.name != root.name or str(path.location) != root.location):
        raise _invalid_path(
            f"{path.location} is already part of root {root.name!r}; leave out the name {path.name!r}"
        )


def _new_name(path: GivenPath, folder: Path, roots: dict[str, Root]) -> str:
    """The given name; otherwise the folder's name with as many parents in front as make it unique."""
    if path.name is not None:
        if path.name in roots:
            taken = roots[path.name].location
            raise _invalid_path(f"the root name {path.name!r} is taken by {taken}; choose another")
        return path.name
    parts = [normalize("NFC", part) for part in folder.parts[1:]] or ["root"]
    for count in range(1, len(parts) + 1):
        name = "/".join(parts[-count:])
        if name not in roots:
            return name
    return normalize("NFC", folder.as_posix())


def _invalid_path(message: str) -> UsageError:
    return UsageError(message, code="invalid_path")

"""From the paths a caller names to roots and the parts of them to look at."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from unicodedata import normalize

from quintet.errors import UsageError
from quintet.indexing.run import Report
from quintet.indexing.walk import FileProblem
from quintet.ports.reading import Root


@dataclass(frozen=True, slots=True)
class SyncTarget:
    """A root, the part of it to look at, and inner roots that become part of it."""

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
    """A path as it was given, resolved; all are checked before any is indexed."""

    name: str | None
    location: Path


def resolve_path(given: str, base: Path) -> GivenPath:
    """`path` or `name=path`. A path that really holds an equals sign comes first."""
    name, separator, rest = given.partition("=")
    if separator and not (base / given).exists():
        if not name.strip():
            raise _bad(f"{given!r} names a root without a name; write name=path")
        return GivenPath(normalize("NFC", name.strip()), _existing(rest, base))
    return GivenPath(None, _existing(given, base))


def _existing(path: str, base: Path) -> Path:
    try:
        location = (base / path).resolve(strict=True) if path else None
    except (OSError, RuntimeError, ValueError):
        location = None
    if location is None or not (location.is_dir() or location.is_file()):
        raise _bad(f"there is no file or folder {path!r}; check the spelling or give a path that exists")
    if any("\ud800" <= char <= "\udfff" for char in str(location)):
        raise _bad(f"{path!r} has a name that is not valid UTF-8; rename it")
    return disk_spelling(location)


def disk_spelling(place: Path) -> Path:
    """As the disk spells it. Where neither case nor normal form counts, a place answers to many names, and
    one of them must not become a root or a file beside another."""
    found = Path(place.anchor)
    for name in place.parts[1:]:
        found /= _listed(found, name)
    return found


def _listed(parent: Path, name: str) -> str:
    others = {name.swapcase(), *(normalize(form, name) for form in ("NFC", "NFD"))} - {name}
    if not any(os.access(parent / other, os.F_OK) for other in others):
        return name
    try:
        names = [entry.name for entry in parent.iterdir()]
    except OSError:
        return name
    alike = [one for one in names if _folded(one) == _folded(name)]
    return name if name in alike or len(alike) != 1 else alike[0]


def _folded(name: str) -> str:
    return normalize("NFC", normalize("NFC", name).casefold())


def path_in_root(location: Path, root: Root) -> str:
    """Where that is in the root, as paths are in an index."""
    return normalize("NFC", location.relative_to(root.location).as_posix())


def sync_targets(given: Sequence[GivenPath], known: Iterable[Root]) -> list[SyncTarget]:
    """Where each path belongs. Folders go outermost first, so that nested ones fold into the outer."""
    roots = {root.name: root for root in known}
    found: list[SyncTarget] = []
    for one in sorted(
        given, key=lambda one: (one.location.is_file(), len(one.location.parts), str(one.location))
    ):
        target = _folder(one, roots) if one.location.is_dir() else _file(one, roots)
        for name in target.absorbs:
            del roots[name]
        roots[target.root.name] = target.root
        if not any(other.root.name == target.root.name and _within(target, other) for other in found):
            found.append(target)
    return found


def present(known: Sequence[Root], report: Report) -> list[Root]:
    """The roots whose folder exists. A root without its folder keeps its documents until it is forgotten."""
    for root in known:
        if not Path(root.location).is_dir():
            reason = "the folder of this root is gone; bring it back, or run 'quintet forget' on it"
            report.problems.append(FileProblem(root.location, reason))
    return [root for root in known if Path(root.location).is_dir()]


def all_targets(known: Sequence[Root]) -> list[SyncTarget]:
    """Everything that is indexed already, as if every root had been named anew."""
    roots = {root.name: root for root in known}
    whole = [_whole(root, roots) for root in known if root.only is None]
    inner = {name for target in whole for name in target.absorbs}
    parts = [SyncTarget(root, only=root.only) for root in known if root.only is not None]
    return [target for target in (*whole, *parts) if target.root.name not in inner]


def _within(target: SyncTarget, other: SyncTarget) -> bool:
    if target.only is not None:
        return all(other.covers(path) for path in target.only)
    return other.only is None and other.covers(target.under) and target.absorbs == ()


def _folder(one: GivenPath, roots: dict[str, Root]) -> SyncTarget:
    outer = _around(one.location, roots)
    if outer is not None:
        _same_name(one, outer)
        if Path(outer.location) == one.location:
            return _whole(outer, roots)
        return SyncTarget(outer, path_in_root(one.location, outer))
    same = next((root for root in roots.values() if Path(root.location) == one.location), None)
    if same is not None:  # so far single files of it, now all
        _same_name(one, same)
        return _whole(replace(same, only=None), roots)
    return _whole(Root(_new_name(one, one.location, roots), str(one.location)), roots)


def _whole(root: Root, roots: dict[str, Root]) -> SyncTarget:
    """All of a root. What lies inside it, even since a run that was cut short, becomes part of it."""
    return SyncTarget(root, absorbs=_inside(Path(root.location), roots, root.name))


def _file(one: GivenPath, roots: dict[str, Root]) -> SyncTarget:
    outer = _around(one.location, roots)
    if outer is not None:
        _same_name(one, outer)
        return SyncTarget(outer, path_in_root(one.location, outer))
    folder, name = one.location.parent, normalize("NFC", one.location.name)
    same = next((root for root in roots.values() if Path(root.location) == folder), None)
    if same is not None:
        _same_name(one, same)
        only = tuple(sorted({*(same.only or ()), name}))
        return SyncTarget(replace(same, only=only), only=(name,))
    root = Root(_new_name(one, folder, roots), str(folder), (name,))
    return SyncTarget(root, only=(name,))


def _around(location: Path, roots: dict[str, Root]) -> Root | None:
    """The whole-folder root that holds `location`."""
    around = (r for r in roots.values() if r.only is None and location.is_relative_to(r.location))
    return min(around, key=lambda root: len(root.location), default=None)


def _inside(location: Path, roots: dict[str, Root], name: str) -> tuple[str, ...]:
    inner = (r.name for r in roots.values() if r.name != name and Path(r.location).is_relative_to(location))
    return tuple(sorted(inner))


def _same_name(one: GivenPath, root: Root) -> None:
    if one.name is not None and (one.name != root.name or str(one.location) != root.location):
        raise _bad(f"{one.location} is already part of root {root.name!r}; leave the name {one.name!r} out")


def _new_name(one: GivenPath, folder: Path, roots: dict[str, Root]) -> str:
    """The given name, else the folder's, with as many parents in front as make it unique."""
    if one.name is not None:
        if one.name in roots:
            taken = roots[one.name].location
            raise _bad(f"the root name {one.name!r} is taken by {taken}; choose another")
        return one.name
    parts = [normalize("NFC", part) for part in folder.parts[1:]] or ["root"]
    for count in range(1, len(parts) + 1):
        name = "/".join(parts[-count:])
        if name not in roots:
            return name
    return normalize("NFC", folder.as_posix())


def _bad(message: str) -> UsageError:
    return UsageError(message, code="invalid_path")

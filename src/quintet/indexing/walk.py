"""Find the files below a root that are to be indexed, and name those that cannot be."""

import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from unicodedata import normalize

from quintet.errors import UsageError
from quintet.formats.decoding import UnreadableFile
from quintet.formats.registry import is_binary
from quintet.indexing import ignore
from quintet.indexing.ignore import IgnoreFile, Rules
from quintet.indexing.read import read_file
from quintet.settings import Settings

IGNORE_FILES = (".quintetignore", ".gitignore")  # the one that is asked first first
EXCLUDE_FILE = ".git/info/exclude"
MAX_IGNORE_BYTES = 1_000_000
MAX_PARENTS = 64  # how far above the root a repository is looked for
UNDECODED = re.compile("[\ud800-\udfff]")  # how Python passes on bytes that are not UTF-8
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")  # would break a line of any report
ODD = re.compile(f"{UNDECODED.pattern}|{CONTROL.pattern}")
JUNCTION = 0xA0000003  # IO_REPARSE_TAG_MOUNT_POINT, which Python has on Windows only
JUNCTIONS = hasattr(os.stat_result, "st_reparse_tag")  # elsewhere there are none to look for


@dataclass(frozen=True, slots=True)
class DiskFile:
    """A regular file under a root. `path` is relative to it, `/`-separated, NFC; `where` is absolute, as
    the system knows it, and a string because ten thousand paths cost more than walking them."""

    path: str
    where: str
    size: int
    modified_ns: int

    @property
    def location(self) -> Path:
        return Path(self.where)


@dataclass(frozen=True, slots=True)
class FileProblem:
    """Something that could not be indexed, by name and reason. Odd characters of the name are escaped."""

    path: str
    reason: str


def walk(
    root: Path, settings: Settings, *, under: str = "", only: Collection[str] | None = None
) -> tuple[list[DiskFile], list[FileProblem]]:
    """The files to index below `root`, and the problems, both in the byte order of their paths.

    `under` narrows the walk to a folder or file; the ignore files above it still hold, so the answer is
    that part of the whole walk, and nothing if there is no such thing. `only` names files instead:
    neither ignore rules nor settings.include and exclude hold for those, but the size cap does.

    In a repository, the ignore files between its top and the root hold too. They judge what is in the
    root, not the root: one that they leave out was asked for by name.

    Nothing is followed through a symbolic link: what it points to inside the root is found where it lies.
    A link that leads elsewhere or nowhere is a problem, unless the rules leave it out.
    settings.include chooses among what is not excluded. It does not bring back what the defaults leave
    out, even if it names it; a `!` pattern in a `.quintetignore` does.
    """
    base = str(root.absolute())
    if only is not None:
        answers = [find_file(base, name, size_cap(name, settings)) for name in sorted(set(only))]
        found = [answer for answer in answers if isinstance(answer, DiskFile)]
        problems = [answer for answer in answers if isinstance(answer, FileProblem)]
    else:
        search = _Search(settings)
        search.run(base, _parts(under))
        found, problems = search.found, search.problems
    found, twins = _without_twins(found)
    return found, sorted(problems + twins, key=lambda problem: (problem.path, problem.reason))


def size_cap(path: str, settings: Settings) -> int:
    """The most bytes a file of this name may have."""
    return settings.max_document_bytes if is_binary(path) else settings.max_file_bytes


def find_file(root: str, path: str, cap: int) -> DiskFile | FileProblem:
    """The file at `path` below `root`, as a walk would find it: through no link, by any spelling of its
    name, and only if it is a regular one of at most `cap` bytes."""
    return _named(root, _parts(path), cap)


@dataclass(frozen=True, slots=True)
class _Folder:
    where: str
    path: str  # "" or ending in "/"
    layers: tuple[IgnoreFile, ...]  # deepest first
    included: bool
    ahead: tuple[str, ...]  # the names that lead on to `under`


class _Search:
    """One walk: the rules of the settings, and what it has come upon so far."""

    def __init__(self, settings: Settings) -> None:
        self.found: list[DiskFile] = []
        self.problems: list[FileProblem] = []
        self._settings = settings
        self._include = _globs("include", settings.include)
        self._exclude = _globs("exclude", settings.exclude)
        self._real = ""

    def run(self, base: str, under: tuple[str, ...]) -> None:
        self._real = os.path.realpath(base)
        pending = [_Folder(base, "", self._layers_above(), not self._include, under)]
        while pending:
            pending.extend(self._visit(pending.pop()))

    def _layers_above(self) -> tuple[IgnoreFile, ...]:
        """What holds in the root from outside it: nothing, unless it belongs to a repository."""
        root = Path(self._real)
        folders = [root, *root.parents][: MAX_PARENTS + 1]
        top = next((depth for depth, folder in enumerate(folders) if _there(folder, ".git")), -1)
        layers: list[IgnoreFile] = []
        for depth, folder in enumerate(folders[: top + 1]):
            names = [name for name in IGNORE_FILES if depth and _there(folder, name)]
            if depth == top and _there(folder, EXCLUDE_FILE):
                names.append(EXCLUDE_FILE)
            above = "".join(_nfc(part) + "/" for part in root.relative_to(folder).parts)
            layers.extend(self._layers(str(folder), "", names, above))
        return tuple(layers)

    def _visit(self, folder: _Folder) -> Iterator[_Folder]:
        """Take the files of a folder; yield the folders in it."""
        try:
            with os.scandir(folder.where) as listing:
                entries = list(listing)
        except OSError as error:
            if not folder.path:
                raise UsageError(f"the root {folder.where} cannot be listed: {error.strerror}") from error
            self._report(folder.path, f"cannot be listed: {error.strerror}")
            return
        beside = {entry.name for entry in entries}
        present = [name for name in IGNORE_FILES if name in beside]
        layers = (
            self._layers(folder.where, folder.path, present) + folder.layers if present else folder.layers
        )
        for entry in _towards(entries, folder.ahead):
            try:
                if _is_folder(entry):
                    yield from self._folder(entry, folder, layers, beside)
                elif len(folder.ahead) <= 1:
                    self._file(entry, folder, layers, beside)
            except FileNotFoundError:
                continue  # gone since it was listed
            except OSError as error:
                self._report(folder.path + entry.name, f"cannot be read: {error.strerror}")

    def _folder(
        self,
        entry: os.DirEntry[str],
        parent: _Folder,
        layers: tuple[IgnoreFile, ...],
        beside: Collection[str],
    ) -> Iterator[_Folder]:
        name = _nfc(entry.name) + "/"
        path = parent.path + name
        unwanted = ignore.is_excluded_folder(entry.name, beside) or _is_environment(entry)
        if self._left_out(name, path, unwanted, layers):
            return
        if reason := _misnamed(entry.name):
            self._report(path, reason)
            return
        included = _settled(self._include.verdict(name, path), parent.included)
        yield _Folder(entry.path, path, layers, included, parent.ahead[1:])

    def _file(
        self,
        entry: os.DirEntry[str],
        folder: _Folder,
        layers: tuple[IgnoreFile, ...],
        beside: Collection[str],
    ) -> None:
        """Take what is not a folder, or only a junction to one. To the rules a link is a file, as in git, but
        the defaults may also know it as a folder: `node_modules` is often a link."""
        name = _nfc(entry.name)
        path = folder.path + name
        linked = entry.is_symlink() or entry.is_dir(follow_symlinks=False)
        unwanted = ignore.is_excluded_file(name) or (
            linked and (ignore.is_excluded_folder(name, beside) or _is_environment(entry))
        )
        if self._left_out(name, path, unwanted, layers):
            return
        if self._include and not _settled(self._include.verdict(name, path), folder.included):
            return
        facts = entry.stat(follow_symlinks=False)
        if linked:
            if reason := _astray(entry.path, self._real):
                self._report(path, reason)
            return
        answer = _judged(path, entry.path, facts, size_cap(path, self._settings))
        if isinstance(answer, DiskFile):
            self.found.append(answer)
        else:
            self.problems.append(answer)

    def _left_out(self, name: str, path: str, unwanted: bool, layers: tuple[IgnoreFile, ...]) -> bool:
        return (
            name.removesuffix("/") in ignore.NEVER
            or (unwanted and not ignore.is_brought_back(layers, name, path))
            or ignore.is_ignored(layers, name, path)
            or (bool(self._exclude) and self._exclude.verdict(name, path) is True)
        )

    def _layers(self, where: str, path: str, names: Iterable[str], above: str = "") -> tuple[IgnoreFile, ...]:
        layers = []
        label = "../" * above.count("/") + path
        for name in names:
            if Path(where, name).is_dir():
                continue
            try:
                rules, complaints = ignore.parse_rules(read_file(Path(where, name), MAX_IGNORE_BYTES).text)
            except UnreadableFile as error:
                self._report(label + name, f"not applied as an ignore file: {_too_large(error.reason)}")
                continue
            for complaint in complaints:
                self._report(label + name, complaint)
            layers.append(IgnoreFile(rules, path, name == ".quintetignore", above))
        return tuple(layers)

    def _report(self, path: str, reason: str) -> None:
        self.problems.append(FileProblem(_escaped(path), reason))


def _globs(setting: str, globs: Collection[str]) -> Rules:
    rules, complaints = ignore.parse_rules("\n".join(globs))
    if complaints:
        raise UsageError(f"setting {setting} holds a glob that is not understood: {complaints[0]}")
    return rules


def _parts(path: str) -> tuple[str, ...]:
    """The names in a path relative to the root, which must not lead out of it."""
    text = _nfc(path.replace(os.sep, "/"))
    parts = tuple(part for part in text.split("/") if part not in ("", "."))
    if text.startswith("/") or ".." in parts or Path(path).is_absolute() or "\0" in text:
        raise UsageError(f"{path!r} is not a path inside the root; give one relative to it, without '..'")
    return parts


def _named(base: str, parts: tuple[str, ...], cap: int) -> DiskFile | FileProblem:
    """The file at `parts`, reached without following a link."""
    path = "/".join(parts)
    where = base
    if not ignore.NEVER.isdisjoint(parts):
        return FileProblem(_escaped(path), "is part of version control or of an index")
    try:
        facts = os.lstat(where)
        for depth, name in enumerate(parts):
            if depth and (not stat.S_ISDIR(facts.st_mode) or _is_junction(facts)):
                return FileProblem(_escaped(path), "lies behind a symbolic link or a file")
            where = _child(where, name)
            facts = os.lstat(where)
    except OSError as error:
        return FileProblem(_escaped(path), f"cannot be read: {error.strerror}")
    return _judged(path, where, facts, cap)


def _child(where: str, name: str) -> str:
    """The entry whose name is `name` in normal form C; on the disk it may be spelt otherwise."""
    if not name.isascii():
        with os.scandir(where) as listing:
            name = min((entry.name for entry in listing if _nfc(entry.name) == name), default=name)
    return f"{where.removesuffix(os.sep)}{os.sep}{name}"


def _judged(path: str, where: str, facts: os.stat_result, cap: int) -> DiskFile | FileProblem:
    reason = _misnamed(path)
    if not stat.S_ISREG(facts.st_mode):
        reason = "not a regular file"
    elif facts.st_size > cap:
        setting = "max_document_bytes" if is_binary(path) else "max_file_bytes"
        reason = f"larger than {cap} bytes ({facts.st_size}); raise {setting} to index it"
    if reason:
        return FileProblem(_escaped(path), reason)
    return DiskFile(path, where, facts.st_size, facts.st_mtime_ns)


def _towards(entries: Iterable[os.DirEntry[str]], ahead: tuple[str, ...]) -> Iterable[os.DirEntry[str]]:
    return [entry for entry in entries if _nfc(entry.name) == ahead[0]] if ahead else entries


def _there(folder: Path, name: str) -> bool:
    return os.access(folder / name, os.F_OK)  # unlike Path.exists, also quiet where one may not look


def _astray(where: str, root: str) -> str:
    """Why a link cannot be left to what it points to, or nothing; `root` is a real path."""
    try:
        target = os.path.realpath(where, strict=True)
    except PermissionError:
        raise
    except OSError:  # its target is gone, or it leads to itself
        return "a broken symbolic link"
    inside = Path(target).is_relative_to(root)
    return "" if inside else "a symbolic link out of the folder; it is not followed"


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """One that lies here."""
    is_folder = entry.is_dir(follow_symlinks=False)
    return is_folder and not (JUNCTIONS and _is_junction(entry.stat(follow_symlinks=False)))


def _is_junction(facts: os.stat_result) -> bool:
    """What Windows has in place of links to folders, and Python takes for the folder itself."""
    return getattr(facts, "st_reparse_tag", 0) == JUNCTION


def _is_environment(entry: os.DirEntry[str]) -> bool:
    """`env` is a common name for a virtual environment, and for other things."""
    return entry.name == "env" and Path(entry.path, "pyvenv.cfg").is_file()


def _settled(verdict: bool | None, inherited: bool) -> bool:
    return inherited if verdict is None else verdict


def _too_large(reason: str) -> str:
    return f"larger than {MAX_IGNORE_BYTES} bytes" if reason == "grew beyond the size cap" else reason


def _nfc(text: str) -> str:
    return text if text.isascii() else normalize("NFC", text)


def _misnamed(name: str) -> str:
    """Why a file of this name cannot be indexed, or nothing."""
    if name.isascii() and name.isprintable():
        return ""
    if UNDECODED.search(name):
        return "its name is not valid UTF-8"
    return "its name holds a control character" if CONTROL.search(name) else ""


def _escaped(path: str) -> str:
    """`path` as text that can be stored and printed on one line."""
    return ODD.sub(_spelt, path)


def _spelt(odd: re.Match[str]) -> str:
    """Half a character is a byte on most systems; on Windows it may be any half of a pair."""
    byte = ord(odd[0]) - 0xDC00
    return f"\\x{byte:02x}" if 0x80 <= byte < 0x100 else odd[0].encode("unicode_escape").decode()


def _without_twins(found: list[DiskFile]) -> tuple[list[DiskFile], list[FileProblem]]:
    """In order of path. Of files whose names NFC makes equal, the first in byte order stays."""
    ordered = sorted(found, key=lambda file: (file.path, file.where))
    kept: dict[str, DiskFile] = {}
    twins = []
    for file in ordered:
        if kept.setdefault(file.path, file) is not file:
            twins.append(FileProblem(file.path, "another file has the same name in Unicode normal form C"))
    return list(kept.values()), twins

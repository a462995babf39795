"""List the files below a root that are to be indexed, and report those that cannot be."""

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from quintet.errors import UsageError
from quintet.formats.decoding import UnreadableFile
from quintet.indexing import ignore
from quintet.indexing.disk import (
    check_file,
    escape_path,
    find_file,
    name_problem,
    nfc,
    path_parts,
)
from quintet.indexing.files import DiskFile, FileProblem, size_cap
from quintet.indexing.git import work_tree
from quintet.indexing.ignore import IgnoreFile, Rules
from quintet.indexing.no_links import is_junction, list_folder
from quintet.indexing.read import TOO_LARGE, read_file
from quintet.settings import Settings

IGNORE_FILES = (".quintetignore", ".gitignore")  # in order of precedence
EXCLUDE_FILE = ".git/info/exclude"
MAX_IGNORE_BYTES = 1_000_000
JUNCTIONS = hasattr(os.stat_result, "st_reparse_tag")  # only Windows has junctions


def walk(
    root: Path, settings: Settings, *, under: str = "", only: Collection[str] | None = None
) -> tuple[list[DiskFile], list[FileProblem]]:
    """The files to index below `root`, and the problems, both in the byte order of their paths.

    `under` narrows the walk to a folder or file. The ignore files above it still apply, so the result is
    that part of the whole walk; it is empty if nothing of that name exists. `only` names files instead:
    ignore rules and settings.include and exclude do not apply to them, but the size cap does.

    In a repository, the ignore files between its top and the root apply too. They decide about what is in
    the root, not about the root itself: the caller asked for it by name.

    No symbolic link is followed: a target inside the root is found at its own place. A link to anywhere else
    is a problem, unless the rules exclude it. settings.include chooses among what is not excluded. It does
    not bring back what the defaults exclude, even by name; a `!` pattern in a `.quintetignore` does.
    """
    base = str(root.absolute())
    if only is not None:
        answers = [find_file(base, name, size_cap(name, settings)) for name in sorted(set(only))]
        files = [answer for answer in answers if isinstance(answer, DiskFile)]
        problems = [answer for answer in answers if isinstance(answer, FileProblem)]
    else:
        search = _Walk(settings)
        search.run(base, path_parts(under))
        files, problems = search.files, search.problems
    files, twins = _drop_same_names(files)
    return files, sorted(problems + twins, key=lambda problem: (problem.path, problem.reason))


@dataclass(frozen=True, slots=True)
class _Folder:
    full_path: str
    path: str  # "" or ending in "/"
    ignore_files: tuple[IgnoreFile, ...]  # deepest first
    included: bool
    steps: tuple[str, ...]  # the names that still lead down to `under`

    def place(self, entry: os.DirEntry[str]) -> str:
        return f"{self.full_path.removesuffix(os.sep)}{os.sep}{entry.name}"


class _Walk:
    """One walk: the rules of the settings, and the files and problems so far."""

    def __init__(self, settings: Settings) -> None:
        self.files: list[DiskFile] = []
        self.problems: list[FileProblem] = []
        self._settings = settings
        self._include = _globs("include", settings.include)
        self._exclude = _globs("exclude", settings.exclude)
        self._real_root = ""

    def run(self, base: str, under: tuple[str, ...]) -> None:
        self._real_root = os.path.realpath(base)
        pending = [_Folder(base, "", self._ignore_files_above(), not self._include, under)]
        while pending:
            pending.extend(self._visit(pending.pop()))

    def _ignore_files_above(self) -> tuple[IgnoreFile, ...]:
        """The ignore files outside the root that apply in it; none unless the root is in a repository."""
        root = Path(self._real_root)
        top = work_tree(self._real_root)
        if top is None:
            return ()
        ignore_files: list[IgnoreFile] = []
        for folder in (root, *root.parents):
            names = [name for name in IGNORE_FILES if folder != root and _exists(folder, name)]
            if folder == Path(top) and _exists(folder, EXCLUDE_FILE):
                names.append(EXCLUDE_FILE)
            above = "".join(nfc(part) + "/" for part in root.relative_to(folder).parts)
            ignore_files.extend(self._read_ignore_files(str(folder), "", names, above))
            if folder == Path(top):
                break
        return tuple(ignore_files)

    def _visit(self, folder: _Folder) -> Iterator[_Folder]:
        """Take the files of a folder; yield the folders in it."""
        with ExitStack() as stack:
            try:
                entries = stack.enter_context(list_folder(folder.full_path))
            except OSError as error:
                if not folder.path:
                    message = f"the root {folder.full_path} cannot be listed: {error.strerror}"
                    raise UsageError(message) from error
                self._report(folder.path, f"cannot be listed: {error.strerror}")
                return
            yield from self._take(entries, folder)

    def _take(self, entries: list[os.DirEntry[str]], folder: _Folder) -> Iterator[_Folder]:
        siblings = {entry.name for entry in entries}
        present = [name for name in IGNORE_FILES if name in siblings]
        if present:
            own = self._read_ignore_files(folder.full_path, folder.path, present)
            folder = replace(folder, ignore_files=own + folder.ignore_files)
        for entry in _on_the_way(entries, folder.steps):
            try:
                if _is_folder(entry):
                    yield from self._folder(entry, folder, siblings)
                elif len(folder.steps) <= 1:
                    self._file(entry, folder, siblings)
            except FileNotFoundError:
                continue  # gone since it was listed
            except OSError as error:
                self._report(folder.path + entry.name, f"cannot be read: {error.strerror}")

    def _folder(
        self, entry: os.DirEntry[str], parent: _Folder, siblings: Collection[str]
    ) -> Iterator[_Folder]:
        name = nfc(entry.name) + "/"
        path = parent.path + name
        by_default = ignore.is_excluded_folder(entry.name, siblings) or _is_environment(entry, parent)
        if self._is_excluded(name, path, by_default, parent.ignore_files):
            return
        if reason := name_problem(entry.name):
            self._report(path, reason)
            return
        included = _decide(self._include.verdict(name, path), parent.included)
        yield _Folder(parent.place(entry), path, parent.ignore_files, included, parent.steps[1:])

    def _file(self, entry: os.DirEntry[str], folder: _Folder, siblings: Collection[str]) -> None:
        """Take an entry that is no folder, or only a junction to one. To the rules a link is a file, as in
        git, but the defaults may also know it as a folder: `node_modules` is often a link."""
        name = nfc(entry.name)
        path = folder.path + name
        is_link = entry.is_symlink() or entry.is_dir(follow_symlinks=False)
        by_default = ignore.is_excluded_file(name) or (
            is_link and (ignore.is_excluded_folder(name, siblings) or _is_environment(entry, folder))
        )
        if self._is_excluded(name, path, by_default, folder.ignore_files):
            return
        if self._include and not _decide(self._include.verdict(name, path), folder.included):
            return
        facts = entry.stat(follow_symlinks=False)
        if is_link:
            if reason := _link_problem(folder.place(entry), self._real_root):
                self._report(path, reason)
            return
        answer = check_file(path, folder.place(entry), facts, size_cap(path, self._settings))
        if isinstance(answer, DiskFile):
            self.files.append(answer)
        else:
            self.problems.append(answer)

    def _is_excluded(
        self, name: str, path: str, by_default: bool, ignore_files: tuple[IgnoreFile, ...]
    ) -> bool:
        return (
            name.removesuffix("/") in ignore.NEVER
            or (by_default and not ignore.is_brought_back(ignore_files, name, path))
            or ignore.is_ignored(ignore_files, name, path)
            or (bool(self._exclude) and self._exclude.verdict(name, path) is True)
        )

    def _read_ignore_files(
        self, folder: str, path: str, names: Iterable[str], above: str = ""
    ) -> tuple[IgnoreFile, ...]:
        ignore_files = []
        label = "../" * above.count("/") + path
        for name in names:
            if Path(folder, name).is_dir():
                continue
            try:
                rules, complaints = ignore.parse_rules(read_file(Path(folder, name), MAX_IGNORE_BYTES).text)
            except UnreadableFile as error:
                too_large = f"larger than {MAX_IGNORE_BYTES} bytes"
                reason = too_large if error.reason == TOO_LARGE else error.reason
                self._report(label + name, f"not applied as an ignore file: {reason}")
                continue
            for complaint in complaints:
                self._report(label + name, complaint)
            ignore_files.append(IgnoreFile(rules, path, name == ".quintetignore", above))
        return tuple(ignore_files)

    def _report(self, path: str, reason: str) -> None:
        self.problems.append(FileProblem(escape_path(path), reason))


def _globs(setting: str, globs: Collection[str]) -> Rules:
    rules, complaints = ignore.parse_rules("\n".join(globs))
    if complaints:
        raise UsageError(f"setting {setting} has an invalid glob: {complaints[0]}")
    return rules


def _on_the_way(entries: Iterable[os.DirEntry[str]], steps: tuple[str, ...]) -> Iterable[os.DirEntry[str]]:
    return [entry for entry in entries if nfc(entry.name) == steps[0]] if steps else entries


def _exists(folder: Path, name: str) -> bool:
    return os.access(folder / name, os.F_OK)  # unlike Path.exists, it does not raise without permission


def _link_problem(link: str, root: str) -> str:
    """Why a link is a problem; empty if it leads to a place inside `root`, which is a real path."""
    try:
        target = os.path.realpath(link, strict=True)
    except PermissionError:
        raise
    except OSError:  # its target is gone, or it leads to itself
        return "a broken symbolic link"
    inside = Path(target).is_relative_to(root)
    return "" if inside else "a symbolic link out of the folder; it is not followed"


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """A folder itself, not a link or junction to one."""
    is_folder = entry.is_dir(follow_symlinks=False)
    return is_folder and not (JUNCTIONS and is_junction(entry.stat(follow_symlinks=False)))


def _is_environment(entry: os.DirEntry[str], folder: _Folder) -> bool:
    """`env` is a common name for a virtual environment, and for other things."""
    return entry.name == "env" and Path(folder.place(entry), "pyvenv.cfg").is_file()


def _decide(verdict: bool | None, inherited: bool) -> bool:
    return inherited if verdict is None else verdict


def _drop_same_names(files: list[DiskFile]) -> tuple[list[DiskFile], list[FileProblem]]:
    """In order of path. Of files whose names are equal in NFC, the first in byte order stays."""
    by_path: dict[str, DiskFile] = {}
    twins = []
    for file in sorted(files, key=lambda file: (file.path, file.full_path)):
        if by_path.setdefault(file.path, file) is not file:
            twins.append(FileProblem(file.path, "another file has the same name in Unicode normal form C"))
    return list(by_path.values()), twins

"""Compare files on disk with what was indexed. Every search that checks freshness uses this module."""

import os
import re
import stat
from collections.abc import Callable, Mapping
from unicodedata import normalize

from quintet.errors import UsageError
from quintet.formats.decoding import UnreadableFile
from quintet.formats.registry import is_binary
from quintet.indexing.files import DiskFile, FileProblem, size_cap
from quintet.indexing.git import find_uncommitted
from quintet.indexing.ignore import NEVER
from quintet.indexing.no_links import JUNCTION, is_folder, list_folder
from quintet.indexing.read import read_file
from quintet.model.results import Freshness, Note
from quintet.ports.reading import Comparison, KnownFile, Source
from quintet.settings import Settings

SECOND = 1_000_000_000
FINE_GRAIN = 20_000_000  # ns; kernels stamp files with a tick of 1 to 10 ms, Windows with 16
COARSE_GRAIN = 2 * SECOND  # FAT stores even seconds, HFS+ and old network file systems whole seconds
ANY_SIZE = 2**63
MAX_READ = 64_000_000  # bytes hashed in one comparison; a fraction of a second
UNDECODABLE = re.compile("[\ud800-\udfff]")  # how Python represents bytes that are not UTF-8
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")  # would break a line of any report
UNPRINTABLE = re.compile(f"{UNDECODABLE.pattern}|{CONTROL.pattern}")


class SourceFiles:
    """The files behind the documents of an index, compared at query time. Nothing is cached."""

    def __init__(self, settings: Settings, clock_ns: Callable[[], int]) -> None:
        self._settings = settings
        self._clock_ns = clock_ns

    def compare(self, sources: Mapping[str, Source], *, ask_git: bool) -> Comparison:
        comparison = _DiskComparison(self._settings)
        answers = {document_id: comparison.changed(source) for document_id, source in sources.items()}
        changed = {document_id: file for document_id, file in answers.items() if isinstance(file, DiskFile)}
        lost = [document_id for document_id, file in answers.items() if isinstance(file, FileProblem)]
        classes: dict[str, Freshness] = dict.fromkeys(lost, "StaleWithRisk")
        notes = comparison.notes()
        if changed:
            classes |= self._classify(changed, ask_git, notes)
        roots = {sources[document_id].root: sources[document_id] for document_id in lost}
        return Comparison(classes, _missing_roots(roots), tuple(notes))

    def _classify(
        self, changed: Mapping[str, DiskFile], ask_git: bool, notes: list[Note]
    ) -> dict[str, Freshness]:
        """By age. A file with uncommitted changes is a risk at any age: its content is not settled yet."""
        now = self._clock_ns()
        at_risk: frozenset[str] = frozenset()
        if ask_git and self._settings.git_timeout:
            answer = find_uncommitted(
                (file.full_path for file in changed.values()), self._settings.git_timeout
            )
            at_risk = answer.files
            notes.extend({"code": "git_failed", "message": failure} for failure in answer.failures)
        return {
            document_id: "StaleWithRisk"
            if file.full_path in at_risk
            else self._class_by_age(now - file.modified_ns)
            for document_id, file in changed.items()
        }

    def _class_by_age(self, age_ns: int) -> Freshness:
        """A modification time in the future counts as now."""
        age = max(age_ns, 0) / SECOND
        if age < self._settings.fresh_seconds:
            return "Fresh"
        return "Acceptable" if age < self._settings.acceptable_seconds else "Stale"


class NoFiles:
    """The disk behind documents that were not made from files: nothing can differ."""

    def compare(self, sources: Mapping[str, Source], *, ask_git: bool) -> Comparison:
        return Comparison({})


NO_FILES = NoFiles()


class _DiskComparison:
    """One comparison of several files, which reads at most `MAX_READ` bytes."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._bytes_left = MAX_READ
        self._unread = 0

    def changed(self, source: Source) -> DiskFile | FileProblem | None:
        """The file if it differs from what was indexed, or why it cannot be compared; None if unchanged."""
        try:
            file = find_file(source.location, source.path, ANY_SIZE)
            return None if isinstance(file, DiskFile) and self._is_same(file, source) else file
        except (UsageError, UnreadableFile, ValueError) as error:
            return FileProblem(source.path, str(error))

    def _is_same(self, file: DiskFile, source: Source) -> bool:
        known = source.known
        if file.size != known.size or proves_unchanged(file, known):
            return file.size == known.size
        self._bytes_left -= file.size
        if self._bytes_left < 0:
            self._unread += file.modified_ns != known.modified_ns
            return file.modified_ns == known.modified_ns
        return read_file(file.full_path, size_cap(file.path, self._settings)).sha256 == known.content_hash

    def notes(self) -> list[Note]:
        if not self._unread:
            return []
        message = f"{self._unread} files with a new date were too large to compare and count as changed"
        return [{"code": "freshness_unread", "message": message}]


def _missing_roots(roots: Mapping[str, Source]) -> frozenset[str]:
    return frozenset(name for name, source in roots.items() if not is_folder(source.location))


def proves_unchanged(file: DiskFile, known: KnownFile) -> bool:
    """Equal size and time prove that a file is unchanged only if the clock had moved on before it was read:
    a second write within one tick leaves both as they were. Git calls such an entry racily clean."""
    grain = COARSE_GRAIN if known.modified_ns % SECOND == 0 else FINE_GRAIN
    return (
        file.size == known.size
        and file.modified_ns == known.modified_ns
        and known.indexed_ns - known.modified_ns >= grain
    )


def find_file(root: str, path: str, max_bytes: int) -> DiskFile | FileProblem:
    """The file at `path` below `root` under the rules of a walk: no link is followed, any Unicode spelling of
    its name will do, and it must be a regular file of at most `max_bytes`. It is not opened: `read_file` is
    what keeps a link from being followed that appears after this look."""
    parts = path_parts(path)
    path = "/".join(parts)
    full_path = root
    if not NEVER.isdisjoint(parts):
        return FileProblem(escape_path(path), "is part of version control or of an index")
    try:
        facts = os.lstat(full_path)
        for depth, name in enumerate(parts):
            if depth and (not stat.S_ISDIR(facts.st_mode) or getattr(facts, "st_reparse_tag", 0) == JUNCTION):
                return FileProblem(escape_path(path), "lies behind a symbolic link or a file")
            full_path = _child(full_path, name)
            facts = os.lstat(full_path)
    except OSError as error:
        return FileProblem(escape_path(path), f"cannot be read: {error.strerror}")
    return check_file(path, full_path, facts, max_bytes)


def path_parts(path: str) -> tuple[str, ...]:
    """The names in a path relative to the root, which must not lead out of it."""
    text = nfc(path.replace(os.sep, "/"))
    parts = tuple(part for part in text.split("/") if part not in ("", "."))
    absolute = text.startswith("/") or os.path.isabs(path)  # noqa: PTH117  (every search asks: no Path)
    if absolute or ".." in parts or "\0" in text:
        raise UsageError(f"{path!r} is not a path inside the root; give a relative path without '..'")
    return parts


def _child(folder: str, name: str) -> str:
    """The entry of `folder` whose name in normal form C is `name`; the disk may spell it differently."""
    if not name.isascii():
        with list_folder(folder) as entries:
            name = min((entry.name for entry in entries if nfc(entry.name) == name), default=name)
    return f"{folder.removesuffix(os.sep)}{os.sep}{name}"


def check_file(path: str, full_path: str, facts: os.stat_result, max_bytes: int) -> DiskFile | FileProblem:
    reason = name_problem(path)
    if not stat.S_ISREG(facts.st_mode):
        reason = "not a regular file"
    elif facts.st_size > max_bytes:
        setting = "max_document_bytes" if is_binary(path) else "max_file_bytes"
        reason = f"larger than {max_bytes} bytes ({facts.st_size}); raise {setting} to index it"
    if reason:
        return FileProblem(escape_path(path), reason)
    return DiskFile(path, full_path, facts.st_size, facts.st_mtime_ns)


def nfc(text: str) -> str:
    return text if text.isascii() else normalize("NFC", text)


def name_problem(name: str) -> str:
    """Why a file with this name cannot be indexed; empty if it can."""
    if name.isascii() and name.isprintable():
        return ""
    if UNDECODABLE.search(name):
        return "its name is not valid UTF-8"
    return "its name contains a control character" if CONTROL.search(name) else ""


def escape_path(path: str) -> str:
    """`path` as text that can be stored and printed on one line."""
    return UNPRINTABLE.sub(_escape, path)


def _escape(match: re.Match[str]) -> str:
    """A lone surrogate stands for a byte on most systems; on Windows it may be half of any pair."""
    byte = ord(match[0]) - 0xDC00
    return f"\\x{byte:02x}" if 0x80 <= byte < 0x100 else match[0].encode("unicode_escape").decode()

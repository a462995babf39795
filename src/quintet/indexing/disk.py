"""How the files behind documents stand to what was indexed of them: a look at the disk, then a class."""

from collections.abc import Callable, Mapping
from pathlib import Path

from quintet.errors import UsageError
from quintet.formats.decoding import UnreadableFile
from quintet.indexing.changes import proves_unchanged
from quintet.indexing.git import find_uncommitted
from quintet.indexing.read import read_file
from quintet.indexing.walk import DiskFile, FileProblem, find_file, size_cap
from quintet.model.results import Freshness, Note
from quintet.ports.reading import Comparison, Source
from quintet.settings import Settings

SECOND = 1_000_000_000
ANY_SIZE = 2**63
MAX_READ = 64_000_000  # bytes compared at once; a fraction of a second


class SourceFiles:
    """The disk at query time. Nothing is kept between two looks."""

    def __init__(self, settings: Settings, clock_ns: Callable[[], int]) -> None:
        self._settings = settings
        self._clock_ns = clock_ns

    def compare(self, sources: Mapping[str, Source], *, ask_git: bool) -> Comparison:
        look = _DiskComparison(self._settings)
        seen = {document_id: look.at(source) for document_id, source in sources.items()}
        differing = {document_id: file for document_id, file in seen.items() if isinstance(file, DiskFile)}
        lost = [document_id for document_id, file in seen.items() if isinstance(file, FileProblem)]
        changed: dict[str, Freshness] = dict.fromkeys(lost, "StaleWithRisk")
        notes = list(look.notes())
        if differing:
            changed |= self._classes(differing, ask_git, notes)
        return Comparison(changed, _missing({sources[one].root: sources[one] for one in lost}), tuple(notes))

    def _classes(
        self, differing: Mapping[str, DiskFile], ask_git: bool, notes: list[Note]
    ) -> dict[str, Freshness]:
        """By age. What git calls modified is a risk at any age, for nobody has settled on it yet."""
        now = self._clock_ns()
        at_risk: frozenset[str] = frozenset()
        if ask_git and self._settings.git_timeout:
            answer = find_uncommitted((file.where for file in differing.values()), self._settings.git_timeout)
            at_risk = answer.files
            notes.extend({"code": "git_failed", "message": failure} for failure in answer.failures)
        return {
            document_id: "StaleWithRisk" if file.where in at_risk else self._by_age(now - file.modified_ns)
            for document_id, file in differing.items()
        }

    def _by_age(self, age_ns: int) -> Freshness:
        """A file from the future changed just now: the index lags behind it by nothing that counts."""
        lag = max(age_ns, 0) / SECOND
        if lag < self._settings.fresh_seconds:
            return "Fresh"
        return "Acceptable" if lag < self._settings.acceptable_seconds else "Stale"


class NoFiles:
    """The disk behind documents that were not made from files: nothing can differ."""

    def compare(self, sources: Mapping[str, Source], *, ask_git: bool) -> Comparison:
        return Comparison({})


NO_FILES = NoFiles()


class _DiskComparison:
    """One look at some files, which reads only so much."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._left = MAX_READ
        self._unread = 0

    def at(self, source: Source) -> DiskFile | FileProblem | None:
        """The file if it differs from what was indexed, or why there is none to compare. None: no change."""
        try:
            file = find_file(source.location, source.path, ANY_SIZE)
            return None if isinstance(file, DiskFile) and self._same(file, source) else file
        except (UsageError, UnreadableFile, ValueError) as error:
            return FileProblem(source.path, str(error))

    def _same(self, file: DiskFile, source: Source) -> bool:
        known = source.known
        if file.size != known.size or proves_unchanged(file, known):
            return file.size == known.size
        self._left -= file.size
        if self._left < 0:
            self._unread += file.modified_ns != known.modified_ns
            return file.modified_ns == known.modified_ns
        return read_file(file.where, size_cap(file.path, self._settings)).sha256 == known.content_hash

    def notes(self) -> list[Note]:
        if not self._unread:
            return []
        message = f"{self._unread} files with a new date were too much to compare and count as changed"
        return [{"code": "freshness_unread", "message": message}]


def _missing(roots: Mapping[str, Source]) -> frozenset[str]:
    return frozenset(name for name, source in roots.items() if not Path(source.location).is_dir())

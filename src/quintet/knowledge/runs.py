"""Runs of a source, recorded step by step: what was looked at, what changed, where it stands or ended."""

import json
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal, TypedDict

from filelock import FileLock, Timeout

from quintet.errors import Conflict, StoreError
from quintet.knowledge.files import patiently, write_whole
from quintet.model.schema import Count
from quintet.storage.sqlite.errors import translate_errors

FOLDER = "runs"
LOCK = "sync.lock"
KEPT_RUNS = 50
MOST_PROBLEMS = 100
PATIENCE = 0.5  # seconds: those who only look whether it is held hold the lock for a moment themselves
INTERRUPTED = "the run was interrupted; what it had written is kept, and another run goes on from there"


RunStep = Literal["scan", "read", "remove", "embed", "done"]


class RunProblem(TypedDict):
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class SyncRun:
    """A run over the folder of a source: counts of files and documents. `path` is the file it is at."""

    id: Count
    source_id: str
    started_ms: Count
    state: Literal["running", "done", "failed"] = "running"
    step: RunStep = "scan"
    path: str | None = None
    scanned: Count = 0
    changed: Count = 0
    deleted: Count = 0
    created_documents: Count = 0
    updated_documents: Count = 0
    deleted_documents: Count = 0
    problems: list[RunProblem] = field(default_factory=list)
    unlisted_problems: Count = 0
    error: str | None = None
    finished_ms: Count | None = None


SyncProgress = Callable[[SyncRun], None]


class RunLog:
    """The runs of one knowledge base, one file each. Of one base, one source is synced at a time."""

    def __init__(self, base: Path, clock_ms: Callable[[], int]) -> None:
        self._base = base
        self._folder = base / FOLDER
        self._clock_ms = clock_ms

    def latest(self) -> list[SyncRun]:
        """Latest first."""
        found = map(_read, self._files(newest_first=True))
        return self._judged([run for run in found if run is not None])

    def last_of(self, source_ids: Collection[str]) -> list[SyncRun]:
        """The last run of each of these, of those that had any; older ones are not even read."""
        found: dict[str, SyncRun] = {}
        for file in self._files(newest_first=True) if source_ids else ():
            run = _read(file)
            if run is not None and run.source_id in source_ids:
                found.setdefault(run.source_id, run)
            if len(found) == len(source_ids):
                break
        return self._judged(list(found.values()))

    def _judged(self, found: list[SyncRun]) -> list[SyncRun]:
        """A run that says it is running while nobody holds the lock was interrupted."""
        if not any(run.state == "running" for run in found) or self._held():
            return found
        return [
            replace(run, state="failed", error=INTERRUPTED) if run.state == "running" else run
            for run in found
        ]

    @contextmanager
    def running(self, source_id: str, progress: SyncProgress) -> Iterator["Recorder"]:
        """A run that ends as done, or as failed with what ended it."""
        with self.exclusive():
            recorder = Recorder(self._write, self._started(source_id), progress)
            try:
                yield recorder
            except BaseException as error:
                message = str(error) or type(error).__name__
                recorder.end("failed", self._clock_ms(), message)
                raise
            recorder.end("done", self._clock_ms())

    @contextmanager
    def exclusive(self, wait: float = PATIENCE) -> Iterator[None]:
        """While this is held no source is synced."""
        lock = FileLock(self._base / LOCK, timeout=wait, thread_local=False)
        with translate_errors(self._base / LOCK):
            try:
                lock.acquire()
            except Timeout:  # an OSError, which `translated` would take for a broken disk
                raise Conflict(
                    "a source of this knowledge base is being synced; try again when that has finished",
                    code="busy_writer",
                ) from None
        try:
            yield
        finally:
            lock.release()

    def _held(self) -> bool:
        try:
            with self.exclusive(wait=0):
                return False
        except Conflict:
            return True

    def _files(self, *, newest_first: bool = False) -> list[Path]:
        return sorted(self._folder.glob("[0-9]*.json"), reverse=newest_first)

    def _started(self, source_id: str) -> SyncRun:
        self._folder.mkdir(exist_ok=True)
        files = self._files()
        for old in files[: -KEPT_RUNS + 1]:
            with suppress(PermissionError):  # on Windows, while it is read; the next run drops it
                old.unlink(missing_ok=True)
        number = int(files[-1].stem) + 1 if files else 1
        return SyncRun(number, source_id, self._clock_ms())

    def _write(self, run: SyncRun) -> None:
        record = json.dumps(asdict(run)).encode()
        write_whole(self._folder / f"{run.id:08d}.json", record, durable=run.state != "running")


class Recorder:
    """The record of the run under way. Each change is written and told."""

    def __init__(self, write: SyncProgress, run: SyncRun, progress: SyncProgress) -> None:
        self._write = write
        self._progress = progress
        self.run = run
        self.at("scan")

    def at(self, step: RunStep, path: str | None = None) -> None:
        self.run = replace(self.run, step=step, path=path)
        self._write(self.run)
        self._progress(self.run)

    def count(self, **more: int) -> None:
        self.run = replace(self.run, **{name: getattr(self.run, name) + by for name, by in more.items()})

    def problem(self, path: str, reason: str) -> None:
        if len(self.run.problems) >= MOST_PROBLEMS:
            self.count(unlisted_problems=1)
        else:
            self.run.problems.append({"path": path, "reason": reason})

    def end(self, state: Literal["done", "failed"], now_ms: int, error: str | None = None) -> None:
        step = "done" if state == "done" else self.run.step
        self.run = replace(self.run, state=state, step=step, path=None, error=error, finished_ms=now_ms)
        self._write(self.run)


def _read(file: Path) -> SyncRun | None:
    """None where it went since it was listed: old runs do, and all when their base is deleted."""
    try:
        return SyncRun(**json.loads(patiently(lambda: file.read_text("utf-8"))))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise StoreError(f"{file} cannot be read ({type(error).__name__}); remove it") from error

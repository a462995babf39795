"""The log of sync runs: what each scanned and changed, its current step, and how it ended."""

import json
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal, TypedDict

from quintet.errors import Conflict, StoreError
from quintet.knowledge.files import replace_file, retry_on_windows
from quintet.model.schema import Count
from quintet.processes import private
from quintet.processes.lock import hold_lock

FOLDER = "runs"
LOCK = "sync.lock"
KEPT_RUNS = 50
MAX_PROBLEMS = 100
LOCK_SECONDS = 0.5  # long enough for others that only test the lock, and so hold it for a moment
INTERRUPTED = "the run was interrupted; what it wrote is kept, and the next run continues from there"


RunStep = Literal["scan", "read", "remove", "embed", "done"]
# interrupted: its process was ended before the run was. Nothing is wrong with the source.
RunState = Literal["running", "done", "failed", "interrupted"]


class RunProblem(TypedDict):
    """A file that could not be read, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class SyncRun:
    """A run over the folder of a source: counts of files and documents. `path` is the current file."""

    id: Count
    source_id: str
    started_ms: Count
    state: RunState = "running"
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
    """The runs of one knowledge base, a file each. Only one source of a base is synced at a time."""

    def __init__(self, base: Path, clock_ms: Callable[[], int]) -> None:
        self._base = base
        self._folder = base / FOLDER
        self._clock_ms = clock_ms

    def latest(self) -> list[SyncRun]:
        """All recorded runs, latest first."""
        runs = map(_read, self._files(newest_first=True))
        return self._mark_interrupted([run for run in runs if run is not None])

    def last_of(self, source_ids: Collection[str]) -> list[SyncRun]:
        """The last run of each of these sources that has one. Older runs are not read."""
        last: dict[str, SyncRun] = {}
        for file in self._files(newest_first=True) if source_ids else ():
            run = _read(file)
            if run is not None and run.source_id in source_ids:
                last.setdefault(run.source_id, run)
            if len(last) == len(source_ids):
                break
        return self._mark_interrupted(list(last.values()))

    def _mark_interrupted(self, runs: list[SyncRun]) -> list[SyncRun]:
        """A run that is recorded as running was interrupted if nobody holds the lock."""
        if not any(run.state == "running" for run in runs) or self._is_locked():
            return runs
        return [
            replace(run, state="interrupted", error=INTERRUPTED) if run.state == "running" else run
            for run in runs
        ]

    @contextmanager
    def record(self, source_id: str, progress: SyncProgress) -> Iterator["Recorder"]:
        """Record a run. It ends as done, as failed with the error that ended it, or as interrupted if
        somebody told the process or the run to stop."""
        with self.exclusive():
            recorder = Recorder(self._write, self._start(source_id), progress)
            try:
                yield recorder
            except BaseException as error:
                if _is_stop(error):
                    recorder.end("interrupted", self._clock_ms(), INTERRUPTED)
                else:
                    recorder.end("failed", self._clock_ms(), str(error) or type(error).__name__)
                raise
            recorder.end("done", self._clock_ms())

    def exclusive(self, timeout: float = LOCK_SECONDS) -> AbstractContextManager[None]:
        """No source can be synced while this is held."""
        busy = "a source of this knowledge base is being synced; try again when that has finished"
        return hold_lock(self._base / LOCK, timeout, busy)

    def _is_locked(self) -> bool:
        try:
            with self.exclusive(timeout=0):
                return False
        except Conflict:
            return True

    def _files(self, *, newest_first: bool = False) -> list[Path]:
        return sorted(self._folder.glob("[0-9]*.json"), reverse=newest_first)

    def _start(self, source_id: str) -> SyncRun:
        private.make_folder(self._folder)
        files = self._files()
        for old in files[: -KEPT_RUNS + 1]:
            with suppress(PermissionError):  # on Windows, while it is read; the next run drops it
                old.unlink(missing_ok=True)
        number = int(files[-1].stem) + 1 if files else 1
        return SyncRun(number, source_id, self._clock_ms())

    def _write(self, run: SyncRun) -> None:
        record = json.dumps(asdict(run)).encode()
        replace_file(self._folder / f"{run.id:08d}.json", record, durable=run.state != "running")


class Recorder:
    """Records the current run. Each step is written to the log and passed to `progress`."""

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
        if len(self.run.problems) >= MAX_PROBLEMS:
            self.count(unlisted_problems=1)
        else:
            self.run.problems.append({"path": path, "reason": reason})

    def end(self, state: RunState, now_ms: int, error: str | None = None) -> None:
        step = "done" if state == "done" else self.run.step
        self.run = replace(self.run, state=state, step=step, path=None, error=error, finished_ms=now_ms)
        self._write(self.run)


def _is_stop(error: BaseException) -> bool:
    return not isinstance(error, Exception) or getattr(error, "code", "") == "stopping"


def _read(file: Path) -> SyncRun | None:
    """None if the file was removed since it was listed, as old runs are, and all runs of a deleted base."""
    try:
        return SyncRun(**json.loads(retry_on_windows(lambda: file.read_text("utf-8"))))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise StoreError(f"{file} cannot be read ({type(error).__name__}); remove it") from error

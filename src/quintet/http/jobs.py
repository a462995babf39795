"""Long work as jobs, which take turns. Each can be followed and cancelled."""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from threading import Lock
from typing import Annotated, Any, Final, Literal, TypedDict

from quintet.errors import NotFound, QuintetError
from quintet.http.config import Limits
from quintet.http.quotas import CALLER, WorkSeconds, too_many
from quintet.http.responses import ErrorFields, error_body
from quintet.http.workers import Turns
from quintet.indexing.run import Progress
from quintet.knowledge import Outcome, SyncRun
from quintet.model.schema import Count
from quintet.serving.keys import Key
from quintet.serving.results import ReindexFields
from quintet.settings import is_debugging

Kind = Literal["reindex", "sync", "upload", "change"]
State = Literal["queued", "running", "done", "failed", "cancelled"]
ENDED: Final = ("done", "failed", "cancelled")
REMEMBERED: Final = 100  # jobs that ended

log = logging.getLogger("quintet.http")


class JobProgress(TypedDict):
    """How far a job has come in its current stage."""

    stage: str
    done: Count
    total: Count


class Outcomes(TypedDict):
    """What became of each document of an upload, in the order given."""

    documents: list[Annotated[Any, Outcome]]


class Deleted(TypedDict):
    """What was deleted."""

    id: str
    outcome: Literal["deleted"]


class DeletedSource(Deleted):
    """The source that was deleted, and how many documents with it."""

    documents: Count


class Forgotten(TypedDict):
    """How many documents were removed from the index."""

    forgotten: Count


class JobReport(TypedDict):
    progress: JobProgress | None
    # Generated clients take the first that fits, so a type stands before those with fewer fields.
    result: ReindexFields | Annotated[Any, SyncRun] | Outcomes | DeletedSource | Deleted | Forgotten | None
    error: ErrorFields | None


class JobFields(JobReport):
    """Work that goes on after its request was answered. `result` is what the request would have answered."""

    id: str
    kind: Kind
    state: State
    cancel_requested: bool
    created: str


class Cancelled(BaseException):
    """Raised between two batches of a run. Like KeyboardInterrupt, it is no error of the run."""


def nothing() -> None:
    pass


def _is_of(job: "Job", key: Key) -> bool:
    return job.key is not None and job.key.id == key.id


class Job:
    """A job. Its own thread changes it, and any thread may read it."""

    def __init__(
        self, kind: Kind = "reindex", base: str | None = None, size: int = 0, key: Key | None = None
    ) -> None:
        """`base` is the slug of the knowledge base that the job works on, if any."""
        self.size = size  # bytes that it holds
        self.key = key
        self.step = nothing  # called between two steps of the work
        self.id = secrets.token_hex(8)
        self.kind = kind
        self.base = base
        self._created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self._guard = Lock()
        self._state: State = "queued"
        self._report: JobReport = {"progress": None, "result": None, "error": None}
        self._cancelled = False
        self.failure: Exception | None = None
        self._watchers: list[Callable[[], None]] = []

    @property
    def ended(self) -> bool:
        return self._state in ENDED

    def view(self) -> JobFields:
        with self._guard:
            return {
                "id": self.id,
                "kind": self.kind,
                "state": self._state,
                "cancel_requested": self._cancelled,
                "created": self._created,
                **self._report,
            }

    def run(self, work: Callable[[Progress], Mapping[str, Any]]) -> None:
        try:
            self._check()
            self._change("running")
            self._change("done", result=work(self._progress))
        except Cancelled:
            self._change("cancelled")
        except QuintetError as error:
            self.failure = error
            self._change("failed", error=error_body(error.code, error.message, error.details)["error"])
        except Exception as error:  # otherwise the job would seem to run for ever
            log.error("fault: %s in a job", type(error).__name__, exc_info=is_debugging())
            self.failure = error
            self._change(
                "failed", error=error_body("internal_error", "unexpected fault of the server")["error"]
            )

    def cancel(self) -> None:
        with self._guard:
            self._cancelled = self._cancelled or self._state not in ENDED
            waiting = self._state == "queued"
        if waiting:
            self._change("cancelled")
        self._notify()

    @contextmanager
    def watched(self, notify: Callable[[], None]) -> Iterator[None]:
        """`notify` is called from any thread when the job changes."""
        with self._guard:
            self._watchers.append(notify)
        try:
            yield
        finally:
            with self._guard:
                self._watchers.remove(notify)

    async def wait(self, seconds: float) -> bool:
        """Whether the job ends within this time."""
        loop, changed = asyncio.get_running_loop(), asyncio.Event()

        def notify() -> None:
            loop.call_soon_threadsafe(changed.set)

        with self.watched(notify), suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not self.ended:
                    changed.clear()
                    if not self.ended:
                        await changed.wait()
        return self.ended

    def _progress(self, stage: str, done: int, total: int) -> None:
        self._change("running", progress={"stage": stage, "done": done, "total": total})
        self.step()
        self._check()

    def _check(self) -> None:
        if self._cancelled:
            raise Cancelled

    def _change(self, state: State, **report: Any) -> None:
        with self._guard:
            if self._state not in ENDED:
                self._state = state
                self._report = {**self._report, **report}  # type: ignore[typeddict-item]
        self._notify()

    def _notify(self) -> None:
        with self._guard:
            watchers = tuple(self._watchers)
        for notify in watchers:
            notify()


class Jobs:
    """The jobs of this process, newest last. Only the latest ended jobs are kept."""

    def __init__(self, limits: Limits, turns: Turns, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._turns = turns
        self._clock = clock
        self._seconds = WorkSeconds(limits.seconds_of_key, clock)
        self._jobs: dict[str, Job] = {}
        self._guard = Lock()

    def start(
        self,
        work: Callable[[Progress], Mapping[str, Any]],
        kind: Kind = "reindex",
        base: str | None = None,
        *,
        size: int = 0,
        holding: ExitStack | None = None,
    ) -> Job:
        """`size` are the bytes that the work holds; `holding` is closed when it ends. The job counts towards
        the quotas of its base and of the key of the request."""
        job = Job(kind, base, size, CALLER.get())
        with self._guard:
            self._check_quota(job)
            for old in [job.id for job in self._jobs.values() if job.ended][:-REMEMBERED]:
                del self._jobs[old]
            self._jobs[job.id] = job

        def run() -> None:
            with holding or nullcontext(), self._metered(job):
                job.run(work)

        self._turns.add(f"base {base or ''}" if job.key is None else job.key.id, run, lane=base or "")
        return job

    @contextmanager
    def _metered(self, job: Job) -> Iterator[None]:
        """Count how long the job works. Between two steps it may have to give way, which does not count."""
        mark = self._clock()

        def step() -> None:
            nonlocal mark
            self._charge(job, mark)
            self._turns.give_way()
            mark = self._clock()

        job.step = step
        try:
            yield
        finally:
            self._charge(job, mark)

    def _charge(self, job: Job, since: float) -> None:
        if job.key is not None:
            self._seconds.add(job.key, self._clock() - since)

    def check_key(self, key: Key | None, size: int = 0) -> None:
        """Refuse a key whose quota of unfinished jobs, their bytes or seconds of work is used up."""
        if key is None:
            return
        others = [job for job in tuple(self._jobs.values()) if not job.ended and _is_of(job, key)]
        held = sum(job.size for job in others)
        if len(others) >= self._limits.jobs_of_key:
            raise too_many(
                f"{len(others)} jobs of key {key.name!r} are not finished yet; wait for one or cancel it"
            )
        if held and held + size > self._limits.bytes_of_key:
            raise too_many(
                f"{held} bytes sent with key {key.name!r} are not written yet; wait for them, then send more"
            )
        self._seconds.check(key)

    def _check_quota(self, job: Job) -> None:
        """A knowledge base may have so many unfinished jobs and bytes, and so may the folders and a key."""
        self.check_key(job.key, job.size)
        others = [other for other in self._jobs.values() if not other.ended and other.base == job.base]
        held = sum(other.size for other in others)
        is_change = job.kind in ("upload", "change")
        most = self._limits.changes if is_change else self._limits.jobs
        what = "the folders" if job.base is None else f"knowledge base {job.base!r}"
        if sum((other.kind in ("upload", "change")) == is_change for other in others) >= most:
            raise too_many(f"{most} jobs of {what} are not finished yet; wait for one or cancel it")
        if held and held + job.size > self._limits.waiting_bytes:
            raise too_many(f"{held} bytes for {what} are not written yet; wait for them, then send more")

    def drop(self, job: Job) -> None:
        """Forget a job whose client has its result."""
        with self._guard:
            self._jobs.pop(job.id, None)

    @property
    def unfinished(self) -> int:
        return sum(not job.ended for job in tuple(self._jobs.values()))

    def get(self, job_id: str) -> Job:
        job = self._jobs.get(job_id)
        if job is None:
            raise NotFound(
                "there is no such job; a server forgets its jobs when it stops", code="unknown_job"
            )
        return job

    def close(self) -> None:
        """Cancel unfinished jobs and wait for the current batches."""
        for job in tuple(self._jobs.values()):
            job.cancel()
        self._turns.close()

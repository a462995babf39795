"""Long work as jobs: one runs, the others wait. Each can be followed and cancelled."""

import logging
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import Annotated, Any, Final, Literal, TypedDict

from quintet.errors import LimitError, NotFound, QuintetError
from quintet.http.responses import ErrorFields, error_body
from quintet.indexing.run import Progress
from quintet.knowledge import SyncRun
from quintet.model.schema import Count
from quintet.serving.results import ReindexFields
from quintet.settings import is_debugging

Kind = Literal["reindex", "sync"]
State = Literal["queued", "running", "done", "failed", "cancelled"]
ENDED: Final = ("done", "failed", "cancelled")
REMEMBERED: Final = 100  # jobs that ended

log = logging.getLogger("quintet.http")


class JobProgress(TypedDict):
    stage: str
    done: Count
    total: Count


class JobReport(TypedDict):
    progress: JobProgress | None
    result: ReindexFields | Annotated[Any, SyncRun] | None
    error: ErrorFields | None


class JobFields(JobReport):
    id: str
    kind: Kind
    state: State
    cancel_requested: bool
    created: str


class Cancelled(BaseException):
    """Raised between two batches of a run. Like KeyboardInterrupt, it is no error of the run."""


class Job:
    """A job. Its own thread changes it, and any thread may read it."""

    def __init__(self, kind: Kind = "reindex", base: str | None = None) -> None:
        """`base` is the slug of the knowledge base that the job works on, if any."""
        self.id = secrets.token_hex(8)
        self.kind = kind
        self.base = base
        self._created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self._guard = Lock()
        self._state: State = "queued"
        self._report: JobReport = {"progress": None, "result": None, "error": None}
        self._cancelled = False
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
            self._change("failed", error=error_body(error.code, error.message, error.details)["error"])
        except Exception as error:  # otherwise the job would seem to run for ever
            log.error("fault: %s in a job", type(error).__name__, exc_info=is_debugging())
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

    def _progress(self, stage: str, done: int, total: int) -> None:
        self._change("running", progress={"stage": stage, "done": done, "total": total})
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

    def __init__(self, most: int) -> None:
        self._most = most
        self._jobs: dict[str, Job] = {}
        self._guard = Lock()
        self._pool = ThreadPoolExecutor(1, "quintet-job")

    def start(
        self, work: Callable[[Progress], Mapping[str, Any]], kind: Kind = "reindex", base: str | None = None
    ) -> Job:
        job = Job(kind, base)
        with self._guard:
            if self.unfinished >= self._most:
                raise LimitError(
                    f"{self._most} jobs are not finished yet; wait for one or cancel it", code="too_many"
                )
            for old in [job.id for job in self._jobs.values() if job.ended][:-REMEMBERED]:
                del self._jobs[old]
            self._jobs[job.id] = job
        self._pool.submit(job.run, work)
        return job

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
        """Cancel unfinished jobs and wait for the current batch."""
        for job in tuple(self._jobs.values()):
            job.cancel()
        self._pool.shutdown(wait=True)

"""What takes long, as jobs: one runs, the others wait; each can be followed and cancelled."""

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


class Cancelled(Exception):  # noqa: N818  (not an error: somebody wanted it)
    """Raised between two batches of a run."""


class Job:
    """One run. It is changed by its own thread and read by any."""

    def __init__(self, kind: Kind = "reindex", base: str | None = None) -> None:
        """`base` is the slug of the knowledge base it works on, if it is one."""
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
        except Exception as error:  # or the thread would end and the job run for ever
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
        self._ring()

    @contextmanager
    def watched(self, ring: Callable[[], None]) -> Iterator[None]:
        """`ring` is called, from any thread, when something changed."""
        with self._guard:
            self._watchers.append(ring)
        try:
            yield
        finally:
            with self._guard:
                self._watchers.remove(ring)

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
        self._ring()

    def _ring(self) -> None:
        with self._guard:
            watchers = tuple(self._watchers)
        for ring in watchers:
            ring()


class Jobs:
    """The jobs of this process, newest last. Those that ended are forgotten after a while."""

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
            for old in [one.id for one in self._jobs.values() if one.ended][:-REMEMBERED]:
                del self._jobs[old]
            self._jobs[job.id] = job
        self._pool.submit(job.run, work)
        return job

    @property
    def unfinished(self) -> int:
        return sum(not job.ended for job in tuple(self._jobs.values()))

    def get(self, job_id: str) -> Job:
        found = self._jobs.get(job_id)
        if found is None:
            raise NotFound(
                "there is no such job; jobs are forgotten when the server stops", code="unknown_job"
            )
        return found

    def close(self) -> None:
        """Cancel what is not finished and wait for the batch at hand."""
        for job in tuple(self._jobs.values()):
            job.cancel()
        self._pool.shutdown(wait=True)

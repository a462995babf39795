"""Changes of knowledge bases. Each is a job that takes its turn; a client waits a moment for it.

The response is the result, if the change ends while the client waits. Otherwise it is 202 with the job.
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from quintet.errors import UsageError
from quintet.http.access import hide_paths
from quintet.http.config import Limits
from quintet.http.jobs import Job, Jobs, Kind
from quintet.http.requests import query_parameters
from quintet.http.responses import RequestError, json_response
from quintet.indexing.run import Progress
from quintet.serving.shared_index import SharedIndex

LONGEST_WAIT = 300  # seconds

Work = Callable[[Progress], Mapping[str, Any]]


class ChangeJobs:
    def __init__(self, shared: SharedIndex, jobs: Jobs, limits: Limits) -> None:
        self._shared = shared
        self._jobs = jobs
        self._limits = limits

    async def make(
        self,
        request: Request,
        base: str | None,
        work: Work,
        kind: Kind = "change",
        *,
        size: int = 0,
        holding: ExitStack | None = None,
    ) -> Response:
        """Do `work` in the turn of `base`, or of the folders. `size` counts towards what may wait; `holding`
        is closed at the end, also if the work is refused."""

        def hidden(progress: Progress) -> Mapping[str, Any]:
            with hide_paths(self._shared):
                return work(progress)

        with ExitStack() as unless_started:
            unless_started.push(holding or ExitStack())
            seconds = self._wait_seconds(request)
            job = self._jobs.start(hidden, kind, base, size=size, holding=holding)
            unless_started.pop_all()
        if not await job.wait(seconds):
            return job_started(job)
        self._jobs.drop(job)  # the client has its result
        if job.failure is not None:
            raise job.failure
        view = job.view()
        if view["state"] != "done":
            raise RequestError(503, "cancelled", "the change was cancelled before it began; try again")
        return json_response(view["result"])

    def _wait_seconds(self, request: Request) -> float:
        given = query_parameters(request, ["wait"]).get("wait")
        if given is None:
            return self._limits.wait_seconds
        if not (given.isascii() and given.isdecimal() and len(given) < 4 and int(given) <= LONGEST_WAIT):
            raise UsageError(
                f"wait is {given[:40]!r}; it must be a whole number of seconds from 0 to {LONGEST_WAIT}",
                details={"parameter": "wait"},
            )
        return float(given)


def job_started(job: Job) -> Response:
    return json_response(job.view(), 202, {"Location": f"/v1/jobs/{job.id}"})

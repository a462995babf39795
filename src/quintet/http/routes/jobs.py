"""The routes that reindex, and that follow and cancel jobs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from quintet.http.access import Access
from quintet.http.changes import job_started
from quintet.http.jobs import Job
from quintet.http.requests import check_fields, read_json, wrong_field
from quintet.http.responses import json_response
from quintet.http.state import Routes
from quintet.indexing.run import Progress


class JobRoutes(Routes):
    def all(self) -> list[Route]:
        return [
            self.route("/v1/reindex", POST=("write", self.reindex)),
            self.route(
                "/v1/jobs/{id}", GET=("read", self.job), DELETE=("write", self.cancel), for_bases=True
            ),
            self.route("/v1/jobs/{id}/events", GET=("read", self.events), for_bases=True),
        ]

    async def reindex(self, request: Request, access: Access) -> Response:
        """All paths are checked before the job starts."""
        body = await read_json(request, self._state.limits, required=False)
        arguments, shared = reindex_arguments(body), self._state.shared
        targets = await self._state.workers.run(lambda: shared.targets(arguments.path, arguments.paths))

        def work(progress: Progress) -> Mapping[str, Any]:
            return shared.reindex(targets, force=arguments.force, progress=progress).wire()

        return job_started(self._state.jobs.start(work))

    async def job(self, request: Request, access: Access) -> Response:
        return json_response(self._job(request, access).view())

    async def cancel(self, request: Request, access: Access) -> Response:
        """What is committed stays. 202 while the current batch is written, 200 when the job has ended."""
        job = self._job(request, access)
        job.cancel()
        return json_response(job.view(), 200 if job.ended else 202)

    async def events(self, request: Request, access: Access) -> Response:
        return self._state.streams.follow(self._job(request, access))

    def _job(self, request: Request, access: Access) -> Job:
        return access.job(self._state.jobs, request.path_params["id"])


@dataclass(frozen=True, slots=True)
class ReindexArguments:
    """The body of a reindex request (spec 000, section 4.5)."""

    path: str | None
    paths: list[str] | None
    force: bool


def reindex_arguments(body: Mapping[str, Any]) -> ReindexArguments:
    check_fields(body, ["path", "paths", "force"], "a reindex")
    path, paths, force = body.get("path"), body.get("paths"), body.get("force", False)
    if path is not None and not isinstance(path, str):
        raise wrong_field("path", "a file or folder")
    if paths is not None and not (isinstance(paths, list) and all(isinstance(item, str) for item in paths)):
        raise wrong_field("paths", "a list of files and folders")
    if not isinstance(force, bool):
        raise wrong_field("force", "true or false")
    return ReindexArguments(path, paths, force)

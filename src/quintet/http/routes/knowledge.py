"""The routes of knowledge bases, their sources and runs; documents.py has those of their documents."""

from contextlib import suppress
from dataclasses import asdict
from functools import partial
from typing import Annotated, Any, TypedDict

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from quintet.contracts.knowledge import CONTRACT
from quintet.errors import AccessError, LimitError, NotFound, UsageError
from quintet.http import reads
from quintet.http.access import Access, hide_paths, without_paths
from quintet.http.changes import job_started
from quintet.http.jobs import Deleted, DeletedSource, Job
from quintet.http.requests import (
    check_fields,
    parameter_names,
    parse_count,
    query_parameters,
    read_json,
    take_query,
)
from quintet.http.responses import json_response, limited_response
from quintet.http.state import Routes, ServerState
from quintet.indexing.run import Progress
from quintet.knowledge import KnowledgeBase, SyncRun
from quintet.knowledge.results import ListedBase, SourceFields

BASES = "/v1/knowledge-bases"
BASE = f"{BASES}/{{kb}}"
CONTEXT = ["budget", *(name for name in parameter_names(CONTRACT) if name != "index")]
MOST_RUNS = 50


class Bases(TypedDict):
    """The knowledge bases that the caller may use."""

    knowledge_bases: list[ListedBase]


class Sources(TypedDict):
    """The sources of a knowledge base."""

    sources: list[SourceFields]


class Runs(TypedDict):
    """Runs over sources, latest first."""

    runs: list[Annotated[Any, SyncRun]]


class KnowledgeRoutes(Routes):
    for_bases = True

    def all(self) -> list[Route]:
        return [
            self.route(BASES, GET=("read", self.list_bases), POST=("write", self.create)),
            self.route(BASE, GET=("read", self.describe), DELETE=("write", self.delete)),
            self.route(f"{BASE}/archive", POST=("write", partial(self.set_archived, "archive"))),
            self.route(f"{BASE}/unarchive", POST=("write", partial(self.set_archived, "unarchive"))),
            self.route(f"{BASE}/context", POST=("read", self.context)),
            self.route(f"{BASE}/sources", GET=("read", self.sources), POST=("write", self.add_source)),
            self.route(f"{BASE}/sources/{{source}}", DELETE=("write", self.remove_source)),
            self.route(f"{BASE}/sources/{{source}}/sync", POST=("write", self.sync)),
            self.route(f"{BASE}/runs", GET=("read", self.runs)),
        ]

    async def list_bases(self, request: Request, access: Access) -> Response:
        bases = await self._state.workers.run(access.list_bases)
        for base in bases:
            if "error" in base:
                base["error"] = without_paths(self._state.shared, str(base["error"]))
        return limited_response({"knowledge_bases": bases}, self._state.limits.result_bytes)

    async def create(self, request: Request, access: Access) -> Response:
        access.check_everywhere("create knowledge bases")
        body = await read_json(request, self._state.limits)
        check_fields(body, ["slug", "title", "properties"], "a knowledge base")
        if "slug" not in body:
            raise UsageError("the knowledge base has no slug; name it", details={"parameter": "slug"})
        base = await self._state.workers.run(lambda: access.bases.create(**body).describe())
        return json_response(base, 201, {"Location": f"{BASES}/{base['id']}"})

    async def describe(self, request: Request, access: Access) -> Response:
        return json_response(await self._state.workers.run(lambda: base_of(request, access).describe()))

    async def delete(self, request: Request, access: Access) -> Response:
        base = await self._state.workers.run(lambda: base_of(request, access))

        def work(progress: Progress) -> Deleted:
            access.bases.delete(base.slug)
            return {"id": base.slug, "outcome": "deleted"}

        return await self._state.changes.make(request, base.slug, work)

    async def set_archived(self, how: str, request: Request, access: Access) -> Response:
        """`how` is archive or unarchive."""

        def work() -> dict[str, Any]:
            base = base_of(request, access)
            getattr(access.bases, how)(base.slug)
            return {**base.describe()}

        return json_response(await self._state.workers.run(work))

    async def context(self, request: Request, access: Access) -> Response:
        body = await read_json(request, self._state.limits)
        check_fields(body, ["query", *CONTEXT], "a context")
        query = take_query(body)
        return await self._state.workers.run(partial(self._context, request, access, query, body))

    def _context(self, request: Request, access: Access, query: Any, body: dict[str, Any]) -> Response:
        index = base_of(request, access).index_name
        max_bytes = self._state.limits.result_bytes
        reply = self._state.shared.read(
            reads.context, query=query, index=index, params=body, max_bytes=max_bytes
        )
        return Response(reply.content, media_type="application/json")

    async def sources(self, request: Request, access: Access) -> Response:
        sources = await self._state.workers.run(lambda: base_of(request, access).sources())
        return json_response({"sources": sources})

    async def add_source(self, request: Request, access: Access) -> Response:
        access.check_everywhere("add folders of this machine")
        body = await read_json(request, self._state.limits)
        check_fields(body, ["directory", "name"], "a source")
        if not isinstance(body.get("directory"), str) or not body["directory"]:
            raise UsageError(
                "directory must name a folder of the server's machine", details={"parameter": "directory"}
            )
        return json_response(
            await self._state.workers.run(partial(self._add_source, request, access, **body)), 201
        )

    def _add_source(
        self, request: Request, access: Access, directory: str, name: str | None = None
    ) -> dict[str, Any]:
        base, shared = base_of(request, access), self._state.shared
        try:
            location = shared.resolve(directory)
        except AccessError:
            raise AccessError(
                f"{directory[:200]!r} lies outside the folders this server may read; start it with --allow"
            ) from None
        if location.is_relative_to(shared.folder.resolve()):
            raise AccessError(f"{directory[:200]!r} lies in the index itself; choose a folder of documents")
        return {**base.add_source(str(location), name, allowed=shared.allowed)}

    async def remove_source(self, request: Request, access: Access) -> Response:
        source = request.path_params["source"]
        base = await self._state.workers.run(lambda: base_of(request, access))

        def work(progress: Progress) -> DeletedSource:
            return {"id": source, "outcome": "deleted", "documents": base.remove_source(source)}

        return await self._state.changes.make(request, base.slug, work)

    async def sync(self, request: Request, access: Access) -> Response:
        """As a job. An unknown source is an error before the job starts."""
        base = await self._state.workers.run(partial(self._base_with_source, request, access))
        return job_started(start_sync(self._state, base, request.path_params["source"]))

    def _base_with_source(self, request: Request, access: Access) -> KnowledgeBase:
        base, source = base_of(request, access), request.path_params["source"]
        if source not in {folder["id"] for folder in base.sources()}:
            raise NotFound(
                f"knowledge base {base.slug!r} has no source {source[:80]!r}", code="unknown_source"
            )
        return base

    async def runs(self, request: Request, access: Access) -> Response:
        given = query_parameters(request, ["source", "limit"])
        limit = parse_count(given.get("limit", "20"), "limit", MOST_RUNS)
        work = partial(self._runs, request, access, given.get("source"), limit)
        return json_response({"runs": await self._state.workers.run(work)})

    def _runs(self, request: Request, access: Access, source: str | None, limit: int) -> list[dict[str, Any]]:
        return [run_fields(self._state, run) for run in base_of(request, access).runs(source, limit)]


def start_sync(state: ServerState, base: KnowledgeBase, source: str) -> Job:
    def work(progress: Progress) -> dict[str, Any]:
        def report(run: SyncRun) -> None:
            progress(run.step, run.changed, run.scanned)

        with hide_paths(state.shared):
            return run_fields(state, base.sync_source(source, progress=report))

    return state.jobs.start(work, "sync", base.slug)


def resume_syncs(state: ServerState) -> None:
    """Start again what the end of another process interrupted. Clients see it as jobs."""
    with suppress(LimitError):  # the rest is resumed at the next start
        for base, source in state.shared.index.knowledge.interrupted():
            start_sync(state, base, source)


def run_fields(state: ServerState, run: SyncRun) -> dict[str, Any]:
    error = None if run.error is None else without_paths(state.shared, run.error)
    return {**asdict(run), "error": error}


def base_of(request: Request, access: Access) -> KnowledgeBase:
    return access.base(request.path_params["kb"])

"""The routes of knowledge bases, their sources and runs. Documents have a module of their own."""

import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from quintet.contracts.knowledge import CONTRACT
from quintet.errors import AccessError, NotFound, QuintetError, StoreError, UsageError
from quintet.http.citations import file_url
from quintet.http.knowledge_access import Reach
from quintet.http.limits import json_object
from quintet.http.schema.requests import known_fields, parameter_names
from quintet.http.wire import answered, bounded
from quintet.indexing.run import Progress
from quintet.knowledge import KnowledgeBase, SyncRun
from quintet.knowledge.results import ListedBase, SourceFields
from quintet.model.schema import Count
from quintet.serving.keys import Scope
from quintet.serving.shared_index import SharedIndex

if TYPE_CHECKING:
    from quintet.http.routes.index import Site

Handler = Callable[[Request, Reach], Awaitable[Response]]

BASES = "/v1/knowledge-bases"
BASE = f"{BASES}/{{kb}}"
CONTEXT = ["budget", *(one for one in parameter_names(CONTRACT) if one != "index")]
HIDDEN = "…"
MOST_RUNS = 50


class Bases(TypedDict):
    knowledge_bases: list[ListedBase]


class Sources(TypedDict):
    sources: list[SourceFields]


class Runs(TypedDict):
    runs: list[Annotated[Any, SyncRun]]


class Deleted(TypedDict):
    id: str
    outcome: Literal["deleted"]


class DeletedSource(Deleted):
    documents: Count


def guarded(site: "Site", path: str, **handlers: tuple[Scope, Handler]) -> Route:
    """A route whose methods each need a key of some scope, and are told how far it reaches."""

    async def endpoint(request: Request) -> Response:
        scope, handler = handlers["GET" if request.method == "HEAD" else request.method]
        with placeless_errors(site.shared):
            key = await site.guard.admit(request.headers, scope, in_base=True)
            return await handler(request, Reach(site.shared, key))

    return Route(path, endpoint, methods=list(handlers))


@contextmanager
def placeless_errors(shared: SharedIndex) -> Iterator[None]:
    try:
        yield
    except QuintetError as error:
        error.message = placeless(shared, error.message)
        raise


def placeless(shared: SharedIndex, text: str) -> str:
    """Without the places on this machine's disk that nobody outside needs to know."""
    if os.sep not in text:
        return text
    named = {str(place) for place in (shared.folder, shared.folder.resolve(), *_allowed(shared))}
    places = named | {repr(place)[1:-1] for place in named}  # as errors quote them: backslashes are doubled
    for place in sorted((one for one in places if one in text), key=len, reverse=True):
        text = text.replace(place, HIDDEN)
    return text


def _allowed(shared: SharedIndex) -> tuple[Path, ...]:
    try:
        return tuple(shared.allowed)
    except StoreError:  # some of them are in the index, which may be what is broken
        return ()


class KnowledgeRoutes:
    def __init__(self, site: "Site") -> None:
        self._site = site

    def all(self) -> list[Route]:
        at = partial(guarded, self._site)
        return [
            at(BASES, GET=("read", self.listed), POST=("write", self.create)),
            at(BASE, GET=("read", self.described), DELETE=("write", self.delete)),
            at(f"{BASE}/archive", POST=("write", partial(self.shelve, "archive"))),
            at(f"{BASE}/unarchive", POST=("write", partial(self.shelve, "unarchive"))),
            at(f"{BASE}/context", POST=("read", self.context)),
            at(f"{BASE}/sources", GET=("read", self.sources), POST=("write", self.add_source)),
            at(f"{BASE}/sources/{{source}}", DELETE=("write", self.remove_source)),
            at(f"{BASE}/sources/{{source}}/sync", POST=("write", self.sync)),
            at(f"{BASE}/runs", GET=("read", self.runs)),
        ]

    async def listed(self, request: Request, reach: Reach) -> Response:
        bases = await self._site.workers.run(reach.all)
        for one in bases:
            if "error" in one:
                one["error"] = placeless(self._site.shared, str(one["error"]))
        return bounded({"knowledge_bases": bases}, self._site.limits.result_bytes)

    async def create(self, request: Request, reach: Reach) -> Response:
        reach.check_everywhere("create knowledge bases")
        asked = await json_object(request, self._site.limits)
        known_fields(asked, ["slug", "title", "properties"], "a knowledge base")
        if "slug" not in asked:
            raise UsageError("the knowledge base has no slug; name it", details={"parameter": "slug"})
        made = await self._site.workers.run(lambda: reach.bases.create(**asked).describe())
        return answered(made, 201, {"Location": f"{BASES}/{made['id']}"})

    async def described(self, request: Request, reach: Reach) -> Response:
        return answered(await self._site.workers.run(lambda: named(request, reach).describe()))

    async def delete(self, request: Request, reach: Reach) -> Response:
        def work() -> str:
            base = named(request, reach)
            reach.bases.delete(base.slug)
            return base.slug

        return answered({"id": await self._site.writers.run(work), "outcome": "deleted"})

    async def shelve(self, how: str, request: Request, reach: Reach) -> Response:
        """Archive, or take out of the archive."""

        def work() -> dict[str, Any]:
            base = named(request, reach)
            getattr(reach.bases, how)(base.slug)
            return {**base.describe()}

        return answered(await self._site.workers.run(work))

    async def context(self, request: Request, reach: Reach) -> Response:
        asked = await json_object(request, self._site.limits)
        known_fields(asked, ["query", *CONTEXT], "a context")
        if "query" not in asked:
            raise UsageError("the request has no query; say what to look for", code="bad_query")
        return await self._site.workers.run(partial(self._packed, request, reach, asked))

    def _packed(self, request: Request, reach: Reach, asked: dict[str, Any]) -> Response:
        index = named(request, reach).index_name
        found = self._site.shared.index.context(**asked, index=index, file_url=file_url)
        return bounded(found.wire(), self._site.limits.result_bytes)

    async def sources(self, request: Request, reach: Reach) -> Response:
        found = await self._site.workers.run(lambda: named(request, reach).sources())
        return answered({"sources": found})

    async def add_source(self, request: Request, reach: Reach) -> Response:
        reach.check_everywhere("add folders of this machine")
        asked = await json_object(request, self._site.limits)
        known_fields(asked, ["directory", "name"], "a source")
        if not isinstance(asked.get("directory"), str) or not asked["directory"]:
            raise UsageError(
                "directory must name a folder of the server's machine", details={"parameter": "directory"}
            )
        return answered(await self._site.workers.run(partial(self._added, request, reach, **asked)), 201)

    def _added(
        self, request: Request, reach: Reach, directory: str, name: str | None = None
    ) -> dict[str, Any]:
        base, shared = named(request, reach), self._site.shared
        try:
            location = shared.resolve(directory)
        except AccessError:
            raise AccessError(
                f"{directory[:200]!r} lies outside the folders this server may read; start it with --allow"
            ) from None
        if location.is_relative_to(shared.folder.resolve()):
            raise AccessError(f"{directory[:200]!r} lies in the index itself; choose a folder of documents")
        return {**base.add_source(str(location), name, allowed=shared.allowed)}

    async def remove_source(self, request: Request, reach: Reach) -> Response:
        source = request.path_params["source"]
        gone = await self._site.writers.run(lambda: named(request, reach).remove_source(source))
        return answered({"id": source, "outcome": "deleted", "documents": gone})

    async def sync(self, request: Request, reach: Reach) -> Response:
        """A job. That there is such a source is checked before it is begun."""
        base = await self._site.workers.run(partial(self._with_source, request, reach))

        def work(progress: Progress) -> dict[str, Any]:
            def told(run: SyncRun) -> None:
                progress(run.step, run.changed, run.scanned)

            with placeless_errors(self._site.shared):
                return self._shown(base.sync_source(request.path_params["source"], progress=told))

        job = self._site.jobs.start(work, "sync", base.slug)
        return answered(job.view(), 202, {"Location": f"/v1/jobs/{job.id}"})

    def _with_source(self, request: Request, reach: Reach) -> KnowledgeBase:
        base, source = named(request, reach), request.path_params["source"]
        if source not in {one["id"] for one in base.sources()}:
            raise NotFound(
                f"knowledge base {base.slug!r} has no source {source[:80]!r}", code="unknown_source"
            )
        return base

    async def runs(self, request: Request, reach: Reach) -> Response:
        asked = query_of(request, ["source", "limit"])
        limit = whole_number(asked.get("limit", "20"), "limit", MOST_RUNS)
        work = partial(self._runs, request, reach, asked.get("source"), limit)
        return answered({"runs": await self._site.workers.run(work)})

    def _runs(self, request: Request, reach: Reach, source: str | None, limit: int) -> list[dict[str, Any]]:
        return [self._shown(run) for run in named(request, reach).runs(source, limit)]

    def _shown(self, run: SyncRun) -> dict[str, Any]:
        error = None if run.error is None else placeless(self._site.shared, run.error)
        return {**asdict(run), "error": error}


def named(request: Request, reach: Reach) -> KnowledgeBase:
    return reach.named(request.path_params["kb"])


def query_of(request: Request, known: list[str]) -> dict[str, str]:
    """What stands behind the question mark, each name once."""
    asked = request.query_params.multi_items()
    known_fields(dict(asked), known, "the address")
    if len(asked) > len(dict(asked)):
        raise UsageError("a name behind the question mark is there twice; give each once")
    return dict(asked)


def whole_number(text: str, name: str, most: int) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and 1 <= int(text) <= most):
        raise UsageError(
            f"{name} is {text[:40]!r}; it must be a whole number from 1 to {most}",
            details={"parameter": name},
        )
    return int(text)

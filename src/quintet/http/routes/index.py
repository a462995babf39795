"""The routes. Each reads its request, makes one call to the shared and sends the answer on."""

import re
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal, TypedDict

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from quintet.contracts import CONTRACTS, HOUSE, Contract, contract_named
from quintet.contracts.knowledge import DEFAULT_INDEX
from quintet.errors import NotFound, UsageError
from quintet.http.authentication import Guard
from quintet.http.citations import cited, wants_references
from quintet.http.config import Limits
from quintet.http.events import Streams
from quintet.http.gauges import Gauges
from quintet.http.jobs import Job, Jobs
from quintet.http.knowledge_access import Reach
from quintet.http.limits import Workers, json_object
from quintet.http.metrics import MEDIA_TYPE, Metrics
from quintet.http.routes import receipts as receipt_routes
from quintet.http.routes.documents import DocumentRoutes
from quintet.http.routes.knowledge import KnowledgeRoutes, placeless_errors
from quintet.http.schema.requests import HALVES, half, known_fields, parameter_names, reindex_arguments
from quintet.http.uploads import Uploads
from quintet.http.wire import answered, bounded
from quintet.indexing.run import Progress
from quintet.serving.keys import Scope
from quintet.serving.results import passage_fields
from quintet.serving.shared_index import SharedIndex

Handler = Callable[[Request], Awaitable[Response]]

RETRIEVAL = CONTRACTS["knowledge"]  # its canonical request has a route of its own
CHUNK_ID = re.compile(r"[0-9a-f]{32}")
MEMORY_SCOPE: Scope = "write"  # as for `recall` at /mcp: a key that only reads never saw what is remembered
# What a key for knowledge bases may ask too: the handlers see to it that it is about one of them.
IN_BASES = (
    "/v1/search",
    "/v1/contracts/{name}/search",
    "/v1/retrieval",
    "/v1/jobs/{id}",
    "/v1/jobs/{id}/events",
)


class Health(TypedDict):
    status: Literal["ok", "ready"]


@dataclass(frozen=True, slots=True)
class Site:
    """What the routes share."""

    shared: SharedIndex
    guard: Guard
    limits: Limits
    workers: Workers
    writers: Workers  # for what changes knowledge bases, which takes longer than a search
    probes: Workers  # for those who look after the server, however busy it is
    uploads: Uploads
    jobs: Jobs
    streams: Streams
    metrics: Metrics
    gauges: Gauges


class Routes:
    def __init__(self, site: Site) -> None:
        self._site = site

    def all(self) -> list[Route]:
        return [
            self._at("/v1/search", POST=("read", self.search)),
            self._at("/v1/contracts/{name}/search", POST=("read", self.search_by)),
            self._at("/v1/search/all", POST=(MEMORY_SCOPE, self.search_all)),
            self._at("/v1/retrieval", POST=("read", self.retrieval)),
            self._at("/v1/verify", POST=("read", partial(receipt_routes.verify, self._site))),
            self._at("/v1/why", POST=("read", partial(receipt_routes.why, self._site))),
            self._at("/v1/reindex", POST=("write", self.reindex)),
            self._at("/v1/jobs/{id}", GET=("read", self.job), DELETE=("write", self.cancel)),
            self._at("/v1/jobs/{id}/events", GET=("read", self.events)),
            self._at("/v1/chunks/{id}", GET=("read", self.chunk)),
            self._at("/v1/status", GET=("read", self.status)),
            self._at("/metrics", GET=("read", self.counted)),
            Route("/healthz", self.healthy),
            Route("/readyz", self.ready),
            *KnowledgeRoutes(self._site).all(),
            *DocumentRoutes(self._site).all(),
        ]

    def _at(self, path: str, **handlers: tuple[Scope, Handler]) -> Route:
        """A route whose methods each need a key of some scope, where keys are needed.

        Only whoever has the whole server is told where on its disk something is wrong.
        """
        shared, in_base = self._site.shared, path in IN_BASES

        async def endpoint(request: Request) -> Response:
            scope, handler = handlers["GET" if request.method == "HEAD" else request.method]
            with placeless_errors(shared):
                key = await self._site.guard.admit(request.headers, scope, in_base=in_base)
            request.state.reach = Reach(shared, key)
            with placeless_errors(shared) if in_base else nullcontext():
                return await handler(request)

        return Route(path, endpoint, methods=list(handlers))

    async def search(self, request: Request) -> Response:
        body = await json_object(request, self._site.limits)
        receipt = receipt_routes.wanted(body)
        contract = contract_named(body.pop("contract", HOUSE))
        known = ["contract", *parameter_names(contract)]
        return await self._searched(request, contract, body, known, receipt)

    async def search_by(self, request: Request) -> Response:
        contract = contract_named(request.path_params["name"])
        body = await json_object(request, self._site.limits)
        receipt = receipt_routes.wanted(body)
        return await self._searched(request, contract, body, parameter_names(contract), receipt)

    async def search_all(self, request: Request) -> Response:
        asked = await json_object(request, self._site.limits)
        known_fields(asked, ["query", *HALVES], "a search of code and memory")
        query, halves = _query(asked), {name: half(asked, name) for name in HALVES}
        found = await self._site.workers.run(partial(self._site.shared.search_all, query, **halves))
        return bounded(found.wire(), self._site.limits.result_bytes)

    async def retrieval(self, request: Request) -> Response:
        """Spec 003: the canonical request to the canonical result."""
        body = await json_object(request, self._site.limits)
        receipt = receipt_routes.wanted(body)
        references = wants_references(body)
        known_fields(body, ["retrieval"], "the request")
        asked = body.get("retrieval")
        if not isinstance(asked, dict):
            raise UsageError(
                'the body must be {"retrieval": {"query": ...}}', details={"parameter": "retrieval"}
            )
        known = parameter_names(RETRIEVAL)
        return await self._searched(request, RETRIEVAL, asked, known, receipt, references)

    async def _searched(
        self,
        request: Request,
        contract: Contract,
        asked: dict[str, Any],
        known: list[str],
        receipt: bool,
        references: bool = False,
    ) -> Response:
        reach: Reach = request.state.reach
        reach.check_search(contract.name, asked.get("index", DEFAULT_INDEX))
        known_fields(asked, ["query", *known], f"a search by contract {contract.name}")
        query = _query(asked)
        work = partial(self._search, contract.name, query, asked, receipt, references)
        return await self._site.workers.run(work)

    def _search(
        self, contract: str, query: Any, params: Mapping[str, object], receipt: bool, references: bool
    ) -> Response:
        start = time.perf_counter()
        found = self._site.shared.search(query, contract, params, receipt=receipt)
        self._site.metrics.search(contract, time.perf_counter() - start, found.seconds)
        shown = cited(found) if references else found
        return bounded(shown.wire(), self._site.limits.result_bytes)

    async def reindex(self, request: Request) -> Response:
        asked = reindex_arguments(await json_object(request, self._site.limits, required=False))
        shared = self._site.shared
        await self._site.workers.run(lambda: [shared.resolve(path) for path in asked.chosen])

        def work(progress: Progress) -> Mapping[str, Any]:
            return shared.reindex(asked.path, asked.paths, force=asked.force, progress=progress).wire()

        job = self._site.jobs.start(work)
        return answered(job.view(), 202, {"Location": f"/v1/jobs/{job.id}"})

    async def job(self, request: Request) -> Response:
        return answered(self._job(request).view())

    def _job(self, request: Request) -> Job:
        reach: Reach = request.state.reach
        return reach.job(self._site.jobs, request.path_params["id"])

    async def cancel(self, request: Request) -> Response:
        """What is committed stays. 202 while the batch at hand is written, 200 when it is over."""
        job = self._job(request)
        job.cancel()
        return answered(job.view(), 200 if job.ended else 202)

    async def events(self, request: Request) -> Response:
        return self._site.streams.follow(self._job(request))

    async def chunk(self, request: Request) -> Response:
        chunk_id: str = request.path_params["id"]
        if not CHUNK_ID.fullmatch(chunk_id):
            raise NotFound(
                "a chunk id is 32 hexadecimal digits, as a search shows it", code="document_not_found"
            )
        (passage,) = await self._site.workers.run(partial(self._site.shared.index.get, chunk_id))
        return bounded(passage_fields(passage), self._site.limits.result_bytes)

    async def status(self, request: Request) -> Response:
        status = await self._site.workers.run(self._site.shared.index.status)
        return answered({**asdict(status), "index": str(self._site.shared.index.folder)})

    async def counted(self, request: Request) -> Response:
        gauges = await self._site.probes.run(self._site.gauges.now)
        return Response(self._site.metrics.text(gauges), headers={"Content-Type": MEDIA_TYPE})

    async def healthy(self, request: Request) -> Response:
        """The process answers."""
        return answered({"status": "ok"})

    async def ready(self, request: Request) -> Response:
        """The index can be read."""
        with placeless_errors(self._site.shared):
            await self._site.probes.run(self._site.shared.index.roots)
        return answered({"status": "ready"})


def _query(asked: dict[str, Any]) -> Any:
    """Take the query out of a request; whether it is one, the engine says."""
    if "query" not in asked:
        raise UsageError("the request has no query; say what to look for", code="bad_query")
    return asked.pop("query")
